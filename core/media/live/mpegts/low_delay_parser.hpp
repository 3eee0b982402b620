// Splits a live MPEG transport stream into pictures without waiting for the next one.
//
//   PES packets from the demuxer ── put ──▶ LowDelayParser ── next ──▶ packets of one picture each
//
// FFmpeg's parsers end a picture where the next one starts, which delays it until then. Nearly all senders
// put one picture into one PES packet. After five such packets in a row, packets pass through unchanged. A
// packet that has no single picture, or may be continued, starts the parser again until 25 in a row have one.
// Belongs to one thread.
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
  int pictures = 0;             ///< that start in the data
};
/// Searches start codes (Annex B) of H.264, HEVC and MPEG-1/2. Finds no pictures for other codecs.
StartCodes scan_start_codes(AVCodecID codec, std::span<const uint8_t> data) noexcept;

class LowDelayParser {
 public:
  /// Throws Error(runtime_failure) if out of memory.
  explicit LowDelayParser(const AVCodecParameters& codec);

  /// Takes over the packet's content. Call only after next() returned false.
  void put(AVPacket& packet) noexcept;
  /// The next picture; false if it needs more packets.
  bool next(AVPacket& out) noexcept;

 private:
  enum class Mode : uint8_t { parse, flush_parser, pass_through };

  bool one_picture(const AVPacket& packet) const noexcept;
  bool parse(AVPacket& out, bool flush) noexcept;

  const AVCodecID codec_id_;
  ff::CodecPtr codec_;
  std::unique_ptr<AVCodecParserContext, ff::Release<av_parser_close>> parser_;  ///< null: codec has none
  ff::PacketPtr packet_;
  size_t parsed_ = 0;     ///< bytes of packet_ that the parser has consumed
  bool pending_ = false;  ///< packet_ is not used up
  int good_ = 0;          ///< packets of one picture in a row
  int required_good_;
  Mode mode_ = Mode::parse;
};

}  // namespace lensd
