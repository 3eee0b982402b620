// AudioConfigWatch: another configuration in the packets of a connection is a change, damage is none.
#include "core/media/input/audio_config_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace lensd {
namespace {

using Config = std::vector<uint8_t>;
constexpr uint8_t kLc48Mono = 0x4C, kLc44Mono = 0x50;  // byte 2 of an ADTS header

class AudioConfigWatchTest : public testing::Test {
 protected:
  void connect(AVCodecID id, const Config& config = {}) {
    const ff::ParametersPtr codec(avcodec_parameters_alloc());
    codec->codec_id = id;
    if (!config.empty()) {
      codec->extradata = static_cast<uint8_t*>(av_mallocz(config.size() + AV_INPUT_BUFFER_PADDING_SIZE));
      codec->extradata_size = static_cast<int>(config.size());
      std::memcpy(codec->extradata, config.data(), config.size());
    }
    watch_.connected(*codec);
  }
  bool put(const Config& bytes, const Config& new_config = {}) {
    const ff::PacketPtr packet = ff::make_packet();
    EXPECT_EQ(av_new_packet(packet.get(), static_cast<int>(bytes.size())), 0);
    std::ranges::copy(bytes, packet->data);
    if (!new_config.empty())
      std::memcpy(av_packet_new_side_data(packet.get(), AV_PKT_DATA_NEW_EXTRADATA, new_config.size()),
                  new_config.data(), new_config.size());
    return watch_.put(*packet);
  }
  bool adts(uint8_t settings, uint8_t channels = 1) {
    return put({0xFF, 0xF1, settings, static_cast<uint8_t>(channels << 6 | 2), 0x1F, 0xFC, 0x21});
  }

  AudioConfigWatch watch_;
};

TEST_F(AudioConfigWatchTest, AnotherPublisherOfAnFlvStream) {
  connect(AV_CODEC_ID_AAC, {0x11, 0x88});
  EXPECT_TRUE(put({1, 2, 3}));
  EXPECT_TRUE(put({1, 2, 3}, {0x11, 0x88})) << "the same configuration";
  EXPECT_FALSE(watch_.changed());
  EXPECT_FALSE(put({1, 2, 3}, {0x12, 0x10}));
  EXPECT_TRUE(watch_.changed());
  EXPECT_FALSE(put({1, 2, 3}));
  connect(AV_CODEC_ID_AAC, {0x12, 0x10});
  EXPECT_FALSE(watch_.changed());
  connect(AV_CODEC_ID_AAC);
  EXPECT_TRUE(put({1, 2, 3}, {0x12, 0x10})) << "the first configuration";
}

TEST_F(AudioConfigWatchTest, AnotherRateOrNumberOfChannelsInAdts) {
  for (const bool rate : {true, false}) {
    connect(AV_CODEC_ID_AAC);
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(adts(kLc48Mono));
    for (int i = 0; i < 4; ++i) {
      EXPECT_FALSE(watch_.adts_changed());
      EXPECT_FALSE(rate ? adts(kLc44Mono) : adts(kLc48Mono, 2));
    }
    EXPECT_TRUE(watch_.adts_changed());
    EXPECT_FALSE(watch_.changed());
    const ff::ParametersPtr codec(avcodec_parameters_alloc());
    codec->sample_rate = 96000;  // SBR
    av_channel_layout_default(&codec->ch_layout, 1);
    watch_.set_new_format(*codec);
    EXPECT_EQ(codec->sample_rate, rate ? 88200 : 96000);
    EXPECT_EQ(codec->ch_layout.nb_channels, rate ? 1 : 2);
    watch_.connected(*codec);
    EXPECT_FALSE(watch_.adts_changed());
  }
}

TEST_F(AudioConfigWatchTest, DamagedPacketsAreNoChange) {
  connect(AV_CODEC_ID_AAC);
  for (int i = 0; i < 30; ++i) {
    EXPECT_TRUE(adts(kLc48Mono));
    adts(kLc44Mono), put({0xFF, 0xF1}), put({}), put({0x47, 0x40, 0, 0x10, 0});
  }
  EXPECT_FALSE(watch_.adts_changed());
  connect(AV_CODEC_ID_MP2);  // is no ADTS
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(adts(i < 5 ? kLc48Mono : kLc44Mono));
  EXPECT_FALSE(watch_.adts_changed());
}

}  // namespace
}  // namespace lensd
