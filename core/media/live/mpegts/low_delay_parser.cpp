#include "core/media/live/mpegts/low_delay_parser.hpp"

#include <cstring>

namespace lensd {
namespace {

constexpr int kRequiredAtFirst = 5, kRequiredAfterMistake = 25;
/// A packet of at least this size may be incomplete: FFmpeg's demuxer splits PES packets into parts of 200
/// KiB.
constexpr int kMayBeSplit = 200 * 1024 - 188;
/// The parser is reset after about this many bytes without a picture.
constexpr int64_t kMaxHeld = 32 << 20;

/// Unit after a start code: inside a picture, a header before a picture, or the first slice of a picture.
enum class Unit : uint8_t { inside, header, picture };

/// Returns the kind of an H.264 unit. `next` is the byte after the unit's header.
Unit unit_h264(uint8_t header, uint8_t next) noexcept {
  const int type = header & 0x1F;
  if (type >= 6 && type <= 9) return Unit::header;  // SEI, SPS, PPS, delimiter
  if (type == 1 || type == 2 || type == 5) return next & 0x80 ? Unit::picture : Unit::inside;  // first_mb = 0
  return Unit::inside;
}

Unit unit_hevc(uint8_t header, uint8_t next) noexcept {
  const int type = header >> 1 & 0x3F;
  if (type < 32) return next & 0x80 ? Unit::picture : Unit::inside;  // first_slice_segment_in_pic_flag
  return (type >= 32 && type <= 35) || type == 39 ? Unit::header : Unit::inside;
}

Unit unit_mpeg2(uint8_t code) noexcept {
  if (code == 0) return Unit::picture;
  return code == 0xB3 || code == 0xB8 ? Unit::header : Unit::inside;  // sequence, group of pictures
}

Unit unit_at(AVCodecID codec, const uint8_t* p) noexcept {
  if (codec == AV_CODEC_ID_H264) return unit_h264(p[0], p[1]);
  if (codec == AV_CODEC_ID_HEVC) return unit_hevc(p[0], p[2]);
  return unit_mpeg2(p[0]);
}

bool known(AVCodecID codec) noexcept {
  return codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC || codec == AV_CODEC_ID_MPEG2VIDEO ||
         codec == AV_CODEC_ID_MPEG1VIDEO;
}

}  // namespace

StartCodes scan_start_codes(AVCodecID codec, std::span<const uint8_t> data) noexcept {
  StartCodes found;
  if (!known(codec) || data.size() < 6) return found;
  const uint8_t* const begin = data.data();
  const uint8_t* const end = begin + data.size();
  bool first = true;
  // Search for the byte 1 of a start code, which is rarer than its zeros. unit_at() reads three bytes after
  // it.
  for (const uint8_t* p = begin + 2; p < end - 3; ++p) {
    p = static_cast<const uint8_t*>(std::memchr(p, 1, static_cast<size_t>(end - 3 - p)));
    if (!p) break;
    if (p[-1] || p[-2]) continue;
    const Unit unit = unit_at(codec, p + 1);
    if (first) found.starts_picture = unit != Unit::inside && p - begin <= 3;
    first = false;
    found.pictures += unit == Unit::picture;
  }
  return found;
}

LowDelayParser::LowDelayParser(const AVCodecParameters& codec)
    : codec_id_(codec.codec_id),
      codec_(ff::allocated(avcodec_alloc_context3(nullptr))),
      parser_(av_parser_init(codec.codec_id)),
      packet_(ff::make_packet()),
      required_good_(kRequiredAtFirst) {
  ff::check_memory(avcodec_parameters_to_context(codec_.get(), &codec));
}

bool LowDelayParser::one_picture(const AVPacket& packet) const noexcept {
  if (packet.flags & AV_PKT_FLAG_CORRUPT) return true;  // corruption alone must not restart the parser
  if (packet.size >= kMayBeSplit) return false;
  const StartCodes found = scan_start_codes(codec_id_, {packet.data, static_cast<size_t>(packet.size)});
  return found.starts_picture && found.pictures == 1;
}

void LowDelayParser::put(AVPacket& packet) noexcept {
  av_packet_unref(packet_.get());
  av_packet_move_ref(packet_.get(), &packet);
  parsed_ = 0, pending_ = true;
  if (!parser_) {
    mode_ = Mode::pass_through;
  } else if (!one_picture(*packet_)) {
    if (mode_ == Mode::pass_through) {
      required_good_ = kRequiredAfterMistake;
      parser_.reset(av_parser_init(codec_id_));  // a flushed parser cannot be used again
    }
    mode_ = parser_ ? Mode::parse : Mode::pass_through;
    good_ = 0;
  } else if (mode_ == Mode::parse && ++good_ > required_good_) {
    mode_ = Mode::flush_parser;
  }
}

bool LowDelayParser::next(AVPacket& out) noexcept {
  duration_ = {0, 1};
  if (!pending_) return false;
  if (mode_ == Mode::flush_parser) {
    mode_ = Mode::pass_through;
    if (parse(out, true)) return true;  // the previous picture
  }
  if (mode_ == Mode::parse) return parse(out, false);
  pending_ = false;
  av_packet_unref(&out);
  av_packet_move_ref(&out, packet_.get());
  return true;
}

/// Feeds the packet to the parser until it returns a picture in `out`. If `flush` is true, gets the picture
/// that the parser still holds instead. Returns false if there is none.
bool LowDelayParser::parse(AVPacket& out, bool flush) noexcept {
  while (flush || parsed_ < static_cast<size_t>(packet_->size)) {
    const uint8_t* in = flush ? nullptr : packet_->data + parsed_;
    const int left = flush ? 0 : packet_->size - static_cast<int>(parsed_);
    uint8_t* data = nullptr;
    int size = 0;
    const bool begin = parsed_ == 0 && !flush;
    const int used =
        av_parser_parse2(parser_.get(), codec_.get(), &data, &size, in, left,
                         begin ? packet_->pts : AV_NOPTS_VALUE, begin ? packet_->dts : AV_NOPTS_VALUE, 0);
    if (!flush) parsed_ += static_cast<size_t>(used > 0 ? used : 0);
    held_ += used > 0 ? used : 0;
    if (size > 0) {
      held_ = 0;
      av_packet_unref(&out);
      if (av_new_packet(&out, size) < 0) return false;
      std::memcpy(out.data, data, static_cast<size_t>(size));
      out.pts = parser_->pts, out.dts = parser_->dts, out.stream_index = packet_->stream_index;
      if (parser_->key_frame == 1) out.flags |= AV_PKT_FLAG_KEY;
      if (parser_->duration > 0 && codec_->sample_rate > 0)
        duration_ = {parser_->duration, codec_->sample_rate};
      return true;
    }
    if (flush) return false;
    if (used <= 0) break;
  }
  if (held_ > kMaxHeld) {  // no pictures begin in this stream
    held_ = 0;
    parser_.reset(av_parser_init(codec_id_));
  }
  pending_ = false;
  return false;
}

}  // namespace lensd
