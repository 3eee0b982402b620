// Splits a live MPEG transport stream into pictures without waiting for the next one.
//
//   PES packets from the demuxer ── put ──▶ LowDelayParser ── next ──▶ packets of one picture each
//
// FFmpeg's parsers return a picture only when the next one starts. Nearly all senders put one picture into
// one PES packet. After five such packets in a row, packets pass through unchanged. A packet that does not
// contain exactly one picture, or may be incomplete, restarts the parser. Packets pass through again after 25
// packets in a row with one picture. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Result of scan_start_codes().
struct StartCodes {
  bool starts_picture = false;  ///< the data begins with a picture
  int pictures = 0;             ///< number of pictures that start in the data
};
/// Searches `data` for start codes (Annex B) of H.264, HEVC and MPEG-1/2. Finds no pictures for other codecs.
StartCodes scan_start_codes(AVCodecID codec, std::span<const uint8_t> data) noexcept;

class LowDelayParser {
 public:
  /// Throws MemoryError if out of memory.
  explicit LowDelayParser(const AVCodecParameters& codec);

  /// Takes the packet's content. Call only after next() returned false.
  void put(AVPacket& packet) noexcept;
  /// Moves the next picture to `out` and returns true. Returns false if more packets are needed.
  bool next(AVPacket& out) noexcept;
  /// Returns the duration in seconds of the audio frame that next() returned last; 0 if FFmpeg's parser does
  /// not know it.
  AVRational duration() const noexcept { return duration_; }

 private:
  enum class Mode : uint8_t { parse, flush_parser, pass_through };

  bool one_picture(const AVPacket& packet) const noexcept;
  bool parse(AVPacket& out, bool flush) noexcept;

  const AVCodecID codec_id_;
  ff::CodecPtr codec_;
  /// Null if FFmpeg has no parser for the codec.
  std::unique_ptr<AVCodecParserContext, ff::Release<av_parser_close>> parser_;
  ff::PacketPtr packet_;
  int64_t held_ = 0;      ///< bytes that the parser has consumed since its last picture
  size_t parsed_ = 0;     ///< bytes of packet_ that the parser has consumed
  bool pending_ = false;  ///< packet_ has unused data
  int good_ = 0;          ///< number of consecutive packets with one picture
  int required_good_;
  AVRational duration_{0, 1};
  Mode mode_ = Mode::parse;
};

}  // namespace lensd
