// Reads the timestamps of one stream of an MPEG transport or program stream, without demuxing.
//
//   file ── seek(), next() ──▶ position, PTS and DTS of each PES packet with a time
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Timestamps of MPEG streams have 33 bits and 90,000 ticks per second.
inline constexpr int64_t kMpegWrap = int64_t{1} << 33, kMpegRate = 90'000;

/// Returns `a` - `b` for timestamps of 33 bits or more, as the number between `low` and `low` + 2^33.
constexpr int64_t mpeg_difference(int64_t a, int64_t b, int64_t low = -kMpegWrap / 2) noexcept {
  const auto difference = static_cast<uint64_t>(a) - static_cast<uint64_t>(b) - static_cast<uint64_t>(low);
  return static_cast<int64_t>(difference & (uint64_t{kMpegWrap} - 1)) + low;
}

struct PesTime {
  int64_t position = 0;      ///< position of its first byte, as AVPacket::pos
  int64_t pts = 0, dts = 0;  ///< 33 bits; `dts` is `pts` if the packet has no DTS
};

class PesTimes {
 public:
  /// `io` must outlive this object; seek() and next() change its position. `stream`: a stream of FFmpeg's
  /// demuxer "mpegts" if `transport` is true, else of "mpeg".
  PesTimes(AVIOContext& io, const AVStream& stream, bool transport);

  /// Makes next() continue with the first packet that begins at or after `position`.
  void seek(int64_t position);
  /// Returns false if no packet begins before `end`, or before the end of the file.
  bool next(PesTime& out, int64_t end = INT64_MAX);

 private:
  bool fill();
  bool next_transport(PesTime& out, int64_t end);
  bool next_program(PesTime& out, int64_t end);
  bool find_packets();
  std::span<const uint8_t> rest() const noexcept { return std::span(buffer_).subspan(at_); }
  /// Returns the position of the next byte in the file.
  int64_t position() const noexcept { return begin_ + static_cast<int64_t>(at_); }

  AVIOContext& io_;
  const bool transport_;
  const int id_;  ///< PID or stream id
  std::vector<uint8_t> buffer_;
  size_t at_ = 0;         ///< next byte of buffer_
  int64_t begin_ = 0;     ///< position of buffer_ in the file
  size_t packet_ = 0;     ///< bytes between transport packets; 0: not known
  bool in_step_ = false;  ///< the next byte begins a transport packet
};

}  // namespace lensd
