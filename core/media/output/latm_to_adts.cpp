#include "core/media/output/latm_to_adts.hpp"

#include <algorithm>
#include <iterator>
#include <span>

#include "core/media/ffmpeg/aac_rates.hpp"

namespace lensd {

/// Reads bits, the highest of each byte first. Returns zeros after the end.
class LatmBits {
 public:
  explicit LatmBits(std::span<const uint8_t> data) : data_(data) {}

  uint32_t bits(int count) {
    uint32_t value = 0;
    for (; count > 0; --count, ++at_) {
      const bool set = at_ / 8 < data_.size() && data_[at_ / 8] >> (7 - at_ % 8) & 1;
      value = value << 1 | static_cast<uint32_t>(set);
    }
    return value;
  }
  bool flag() { return bits(1) != 0; }
  size_t position() const { return at_; }
  void move_to(size_t position) { at_ = position; }
  bool ended() const { return at_ > data_.size() * 8; }
  size_t left() const { return ended() ? 0 : data_.size() * 8 - at_; }

 private:
  std::span<const uint8_t> data_;
  size_t at_ = 0;
};

namespace {

constexpr size_t kSyncBytes = 3, kAdtsBytes = 7, kMaxAdtsBytes = 8191;

/// Reads a LatmGetValue().
uint32_t long_value(LatmBits& in) {
  return in.bits(8 * (static_cast<int>(in.bits(2)) + 1));
}

uint32_t object_type(LatmBits& in) {
  const uint32_t type = in.bits(5);
  return type == 31 ? 32 + in.bits(6) : type;
}

void skip_other_data_length(LatmBits& in, bool long_lengths) {
  if (long_lengths)
    long_value(in);
  else
    for (bool more = true; more && !in.ended(); in.bits(8)) more = in.flag();
}

}  // namespace

LatmToAdts::LatmToAdts(const AVCodecParameters& latm) {
  if (latm.extradata_size <= 0) return;
  LatmBits in({latm.extradata, static_cast<size_t>(latm.extradata_size)});  // from FFmpeg's probing
  configured_ = read_audio_config(in) && !in.ended() && is_first_config();
}

bool LatmToAdts::converts(const AVCodecParameters& codec) {
  return codec.codec_id == AV_CODEC_ID_AAC_LATM &&
         (codec.extradata_size <= 0 || LatmToAdts(codec).configured_);
}

/// Returns true if the configuration that was just read is the first one or equal to it.
bool LatmToAdts::is_first_config() {
  const uint32_t config = 1u << 24 | profile_ << 16u | rate_index_ << 8u | channels_;
  if (first_ == 0) first_ = config;
  return config == first_;
}

ff::ParametersPtr LatmToAdts::codec(const AVCodecParameters& latm) {
  ff::ParametersPtr codec = ff::copy_of(&latm);
  codec->codec_id = AV_CODEC_ID_AAC;
  av_freep(&codec->extradata);
  codec->extradata_size = 0;
  if (codec->frame_size == 0) codec->frame_size = kSamples;  // the stream was not probed long enough
  return codec;
}

/// Reads an AudioSpecificConfig. Omits SBR and PS: their data is in the frames, as in ADTS.
bool LatmToAdts::read_audio_config(LatmBits& in) {
  uint32_t type = object_type(in);
  const uint32_t rate = in.bits(4), channels = in.bits(4);
  if (type == 5 || type == 29) {
    if (in.bits(4) == 15) in.bits(24);
    type = object_type(in);
  }
  const bool short_frames = in.flag(), core_coder = in.flag(), extended = in.flag();
  if (type < 1 || type > 4 || rate >= std::size(kAacRates) || channels < 1 || channels > 7) return false;
  if (short_frames || core_coder || extended) return false;
  profile_ = static_cast<uint8_t>(type - 1), rate_index_ = static_cast<uint8_t>(rate);
  channels_ = static_cast<uint8_t>(channels), rate_ = kAacRates[rate];
  return true;
}

/// Reads a StreamMuxConfig.
bool LatmToAdts::read_mux_config(LatmBits& in) {
  long_lengths_ = in.flag();
  if (long_lengths_) {
    if (in.flag()) return false;  // audioMuxVersionA
    long_value(in);
  }
  const bool same_framing = in.flag();
  const uint32_t more_frames = in.bits(6), more_programs = in.bits(4), more_layers = in.bits(3);
  if (!same_framing || more_frames || more_programs || more_layers) return false;
  const size_t bits = long_lengths_ ? long_value(in) : 0, begin = in.position();
  if (!read_audio_config(in)) return false;
  if (long_lengths_) in.move_to(begin + bits);
  const bool variable = in.bits(3) == 0;
  in.bits(8);  // latmBufferFullness
  if (in.flag()) skip_other_data_length(in, long_lengths_);
  if (in.flag()) in.bits(8);  // crcCheckSum
  return variable && !in.ended();
}

bool LatmToAdts::convert(AVPacket& packet) {
  const std::span<const uint8_t> data(packet.data, packet.data ? static_cast<size_t>(packet.size) : 0);
  if (data.size() < kSyncBytes || data[0] != 0x56 || (data[1] & 0xE0) != 0xE0) return false;
  const size_t length = (data[1] & 0x1Fu) << 8 | data[2];
  if (length > data.size() - kSyncBytes) return false;
  LatmBits in(data.subspan(kSyncBytes, length));
  if (!in.flag()) configured_ = read_mux_config(in) && is_first_config();  // else useSameStreamMux
  if (!configured_) return false;
  size_t bytes = 0;
  for (uint32_t part = 255; part == 255; bytes += part) part = in.bits(8);
  const size_t size = bytes + kAdtsBytes;
  if (bytes == 0 || bytes * 8 > in.left() || size > kMaxAdtsBytes) return false;

  const ff::PacketPtr out = ff::make_packet();
  ff::check_memory(av_new_packet(out.get(), static_cast<int>(size)));
  ff::check_memory(av_packet_copy_props(out.get(), &packet));
  const uint8_t header[kAdtsBytes] = {0xFF,
                                      0xF1,  // no checksum
                                      static_cast<uint8_t>(profile_ << 6 | rate_index_ << 2 | channels_ >> 2),
                                      static_cast<uint8_t>((channels_ & 3u) << 6 | size >> 11),
                                      static_cast<uint8_t>(size >> 3 & 0xFF),
                                      static_cast<uint8_t>((size & 7u) << 5 | 0x1F),
                                      0xFC};
  std::ranges::copy(header, out->data);
  std::generate_n(out->data + kAdtsBytes, bytes, [&] { return static_cast<uint8_t>(in.bits(8)); });
  av_packet_unref(&packet);
  av_packet_move_ref(&packet, out.get());
  return true;
}

}  // namespace lensd
