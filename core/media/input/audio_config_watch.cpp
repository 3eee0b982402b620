#include "core/media/input/audio_config_watch.hpp"

#include <algorithm>
#include <iterator>

#include "core/media/ffmpeg/aac_rates.hpp"

namespace lensd {
namespace {

/// Returns the object type, rate and channels of a packet that begins with an ADTS frame; 0 for other
/// packets.
uint32_t adts_header(const AVPacket& packet) noexcept {
  const uint8_t* p = packet.data;
  if (packet.size < 4 || p[0] != 0xFF || (p[1] & 0xF6) != 0xF0) return 0;
  return 0x10000u | (p[2] & 0xFDu) << 8 | (p[3] & 0xC0u);
}
int rate_of(uint32_t header) {
  const uint32_t index = header >> 10 & 15;
  return index < std::size(kAacRates) ? kAacRates[index] : 0;
}
int channels_of(uint32_t header) {
  return aac_channels(static_cast<int>(header >> 6 & 7));
}

}  // namespace

void AudioConfigWatch::connected(const AVCodecParameters& codec) {
  adts_ = codec.codec_id == AV_CODEC_ID_AAC;
  config_.assign(codec.extradata, codec.extradata + std::max(codec.extradata_size, 0));
  header_ = other_ = 0, others_ = 0, changed_ = false;
}

bool AudioConfigWatch::put(const AVPacket& packet) noexcept {
  size_t bytes = 0;
  const uint8_t* config = av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &bytes);
  if (config && !config_.empty() && !std::equal(config, config + bytes, config_.begin(), config_.end()))
    changed_ = true;
  return (!adts_ || check_adts(packet)) && !changed_;
}

/// Returns false if the header of the packet differs from the first header.
bool AudioConfigWatch::check_adts(const AVPacket& packet) noexcept {
  const uint32_t header = adts_header(packet);
  if (header == 0) return true;
  if (header_ == 0) header_ = header;
  if (header == header_) return others_ = 0, true;
  others_ = header == other_ ? others_ + 1 : 1;
  other_ = header;
  return false;
}

void AudioConfigWatch::set_new_format(AVCodecParameters& codec) const {
  // With SBR the codec's rate is twice that of the header.
  if (rate_of(header_) > 0 && rate_of(other_) > 0)
    codec.sample_rate = static_cast<int>(int64_t{codec.sample_rate} * rate_of(other_) / rate_of(header_));
  if (channels_of(other_) > 0) av_channel_layout_default(&codec.ch_layout, channels_of(other_));
}

}  // namespace lensd
