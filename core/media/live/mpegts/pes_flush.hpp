// Ends PES packets in an MPEG transport stream early, so that FFmpeg's demuxer delivers pictures without
// delay.
//
//   protocol's AVIOContext ── TransportStreamIo ── bytes, with packets inserted ──▶ demuxer
//
// Most senders do not set the length of video PES packets. The demuxer then delivers a packet only when the
// next one starts, one frame time late. A transport packet with stuffing is nearly always the last one of its
// PES packet. After it, PesFlush inserts a transport packet that starts a new PES packet on the same PID, so
// that the demuxer delivers the previous PES packet. It starts to insert after 20 PES packets with stuffing
// only at their ends. Stuffing elsewhere resets this count and raises the required count to 200. Not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/live/mpegts/program_watch.hpp"

namespace lensd {

class PesFlush {
 public:
  static constexpr size_t kPacket = 188;

  /// `programs`: gets every packet; may be null. If `inserts` is false, pass() changes nothing.
  explicit PesFlush(ProgramWatch* programs = nullptr, bool inserts = true)
      : programs_(programs), inserts_(inserts) {}

  /// Appends `in` to `out`. Once stuffing is reliable (see above), inserts a packet after each end of a PES
  /// packet.
  void pass(std::span<const uint8_t> in, std::vector<uint8_t>& out);

 private:
  enum class Pes : uint8_t { none, open, ended };  ///< state of a PID's video PES packet without a length

  bool find_packets(std::span<const uint8_t> in) noexcept;
  bool ends_pes() noexcept;
  void insert_end(std::vector<uint8_t>& out) const;

  ProgramWatch* const programs_;
  const bool inserts_;
  std::array<uint8_t, kPacket> packet_{};  ///< current packet, until it is complete
  size_t filled_ = 0;
  size_t skip_ = 0;  ///< number of bytes before the first packet
  bool synced_ = false;
  std::array<Pes, 8192> pes_{};
  int good_ = 0, required_good_ = 20;  ///< counted and required PES packets, see above
};

/// An AVIOContext that reads from another one through PesFlush and ProgramWatch.
class TransportStreamIo {
 public:
  /// Takes ownership of `inner` and continues at its position. `flushes`: see PesFlush. Throws MemoryError if
  /// out of memory.
  TransportStreamIo(AVIOContext* inner, bool flushes);
  TransportStreamIo(const TransportStreamIo&) = delete;
  TransportStreamIo& operator=(const TransportStreamIo&) = delete;

  AVIOContext* context() const noexcept { return outer_.get(); }
  ProgramWatch& programs() noexcept { return programs_; }

 private:
  static int read(void* self, uint8_t* buffer, int size) noexcept;

  std::unique_ptr<AVIOContext, ff::Release<avio_close>> inner_;
  ff::IoPtr outer_;
  ProgramWatch programs_;
  PesFlush flush_;
  std::vector<uint8_t> raw_, ready_;
  size_t consumed_ = 0;  ///< number of bytes of ready_ that were read
};

}  // namespace lensd
