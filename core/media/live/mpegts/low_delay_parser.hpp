// Packets of a live MPEG transport stream to pictures, without waiting for the next one.
//
//   PES packets as the demuxer finds them ── put ──▶ LowDelayParser ── next ──▶ packets of one picture each
//
// FFmpeg's parsers end a picture where the next one begins, which holds every picture back until then. Nearly
// all senders put one picture into one PES packet: where five in a row were so, packets are handed on as they
// are. A packet that is not, or may be continued, goes through a parser again, as do those after it until 25
// in a row were. Belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/media/ffmpeg/ffmpeg_check.hpp"

namespace lensd {

/// Whether `data` begins where a picture does, and how many begin in it. H.264, HEVC and MPEG-1/2 in Annex B
/// form; other codecs are never said to begin.
struct PictureStarts {
  bool at_begin = false;
  int pictures = 0;
};
PictureStarts picture_starts(AVCodecID codec, std::span<const uint8_t> data) noexcept;

class LowDelayParser {
 public:
  /// Throws Error(runtime_failure) without memory.
  explicit LowDelayParser(const AVCodecParameters& codec);

  /// Takes over the packet's content. Only when next() has nothing more to give.
  void put(AVPacket& packet) noexcept;
  /// The next picture's data; false: there is none without more packets.
  bool next(AVPacket& out) noexcept;

 private:
  struct ParserClose {
    void operator()(AVCodecParserContext* p) const noexcept { av_parser_close(p); }
  };
  enum class Way : uint8_t { parse, leave_parser, hand_on };

  bool one_picture(const AVPacket& packet) const noexcept;
  bool parse(AVPacket& out, bool flush) noexcept;

  const AVCodecID codec_id_;
  ff::CodecPtr codec_;
  std::unique_ptr<AVCodecParserContext, ParserClose> parser_;  ///< null: no parser for this codec
  ff::PacketPtr packet_;
  size_t parsed_ = 0;     ///< bytes of packet_ that the parser has taken
  bool waiting_ = false;  ///< packet_ is not used up
  int good_ = 0, wanted_good_;
  Way way_ = Way::parse;
};

}  // namespace lensd
