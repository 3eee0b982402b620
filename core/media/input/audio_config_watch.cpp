#include "core/media/input/audio_config_watch.hpp"

#include <algorithm>

namespace lensd {
namespace {

/// A damaged packet may have another header.
constexpr int kCertainAfter = 4;

/// Returns the object type, rate and channels of a packet that begins with an ADTS frame; 0 for other
/// packets.
uint32_t adts_header(const AVPacket& packet) noexcept {
  const uint8_t* p = packet.data;
  if (packet.size < 4 || p[0] != 0xFF || (p[1] & 0xF6) != 0xF0) return 0;
  return 0x10000u | (p[2] & 0xFDu) << 8 | (p[3] & 0xC0u);
}

}  // namespace

void AudioConfigWatch::connected(const AVCodecParameters& codec) {
  adts_ = codec.codec_id == AV_CODEC_ID_AAC;
  config_.assign(codec.extradata, codec.extradata + std::max(codec.extradata_size, 0));
  header_ = 0, others_ = 0, changed_ = false;
}

bool AudioConfigWatch::put(const AVPacket& packet) noexcept {
  size_t bytes = 0;
  const uint8_t* config = av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &bytes);
  if (config && !config_.empty() && !std::equal(config, config + bytes, config_.begin(), config_.end()))
    changed_ = true;
  return (!adts_ || check_adts(packet)) && !changed_;
}

/// Returns false if the packet has another header than the first one.
bool AudioConfigWatch::check_adts(const AVPacket& packet) noexcept {
  const uint32_t header = adts_header(packet);
  if (header == 0) return true;
  if (header_ == 0) header_ = header;
  others_ = header == header_ ? 0 : others_ + 1;
  changed_ = changed_ || others_ >= kCertainAfter;
  return others_ == 0;
}

}  // namespace lensd
