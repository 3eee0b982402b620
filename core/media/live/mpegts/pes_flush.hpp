// Tells FFmpeg's demuxer of MPEG transport streams that a picture is complete.
//
//   protocol's AVIOContext ── TransportStreamIo ── bytes, with packets added ──▶ demuxer
//
// Senders rarely say how long a video PES packet is, so that the demuxer gives it out only when the next one
// begins: a frame time too late. But its last transport packet is nearly always stuffed, since no picture is
// a whole number of them, and no other one is. After such a packet PesFlush adds one that begins a packet of
// nothing on the same PID, which ends the one before. It is sure of a sender after 20 PES packets that were
// stuffed at their ends only; one that is stuffed elsewhere starts the count anew, from 200. Belongs to the
// thread that reads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

class PesFlush {
 public:
  static constexpr size_t kPacket = 188;

  /// Appends `in` to `out`, with packets added where a PES packet has come to its end.
  void pass(std::span<const uint8_t> in, std::vector<uint8_t>& out);

 private:
  enum class Pes : uint8_t { none, open, ended };  ///< of a PID: a video packet without a length

  bool find_packets(std::span<const uint8_t> in) noexcept;
  bool ends_here() noexcept;
  void add_end(std::vector<uint8_t>& out) const;

  std::array<uint8_t, kPacket> packet_{};  ///< the one that is passing
  size_t filled_ = 0;
  size_t skip_ = 0;  ///< bytes until the first packet begins
  bool synced_ = false;
  std::array<Pes, 8192> pes_{};
  int good_ = 0, wanted_good_ = 20;
};

/// A protocol's reader with PesFlush behind it. Owns both.
class TransportStreamIo {
 public:
  /// Takes over `inner` where it stands. Throws Error(runtime_failure) without memory.
  explicit TransportStreamIo(AVIOContext* inner);
  ~TransportStreamIo();
  TransportStreamIo(const TransportStreamIo&) = delete;
  TransportStreamIo& operator=(const TransportStreamIo&) = delete;

  AVIOContext* context() const noexcept { return outer_; }

 private:
  static int read(void* self, uint8_t* buffer, int size) noexcept;

  AVIOContext* inner_;
  AVIOContext* outer_ = nullptr;
  PesFlush ends_;
  std::vector<uint8_t> raw_, ready_;
  size_t given_ = 0;  ///< bytes of ready_ that were read
};

}  // namespace lensd
