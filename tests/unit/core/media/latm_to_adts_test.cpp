// LatmToAdts: the frames that FFmpeg's muxer wraps into LATM come out unchanged, with an ADTS header.
#include "core/media/output/latm_to_adts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lensd {
namespace {

constexpr size_t kHeader = 7;
constexpr int kFrames = 50;  // FFmpeg repeats the configuration after 20 frames

class LatmToAdtsTest : public testing::TestWithParam<int> {
 protected:
  /// Encodes a sawtooth to frames_, and wraps them to latm_.
  void SetUp() override {
    av_log_set_level(AV_LOG_ERROR);
    const AVCodec* codec = avcodec_find_encoder(AV_CODEC_ID_AAC);
    const AVOutputFormat* format = av_guess_format("latm", nullptr, nullptr);
    if (!codec || !format) GTEST_SKIP() << "this FFmpeg cannot make LATM";
    encoder_.reset(avcodec_alloc_context3(codec));
    encoder_->sample_rate = 48000, encoder_->sample_fmt = AV_SAMPLE_FMT_FLTP, encoder_->bit_rate = 96000;
    encoder_->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    av_channel_layout_default(&encoder_->ch_layout, GetParam());
    ASSERT_EQ(avcodec_open2(encoder_.get(), codec, nullptr), 0);
    AVFormatContext* muxer = nullptr;
    ASSERT_GE(avformat_alloc_output_context2(&muxer, format, nullptr, nullptr), 0);
    AVStream* stream = avformat_new_stream(muxer, nullptr);
    ASSERT_EQ(avcodec_parameters_from_context(stream->codecpar, encoder_.get()), 0);
    ASSERT_EQ(avio_open_dyn_buf(&muxer->pb), 0);
    ASSERT_GE(avformat_write_header(muxer, nullptr), 0);
    for (int i = 0; i < kFrames; ++i) encode(i, *muxer);
    av_write_trailer(muxer);
    discard_buffer(*muxer);
    avformat_free_context(muxer);
    codec_.reset(avcodec_parameters_alloc());
    codec_->codec_type = AVMEDIA_TYPE_AUDIO, codec_->codec_id = AV_CODEC_ID_AAC_LATM;
  }

  void encode(int number, AVFormatContext& muxer) {
    const ff::FramePtr frame = ff::make_frame();
    frame->nb_samples = encoder_->frame_size, frame->format = AV_SAMPLE_FMT_FLTP, frame->sample_rate = 48000;
    ASSERT_EQ(av_channel_layout_copy(&frame->ch_layout, &encoder_->ch_layout), 0);
    ASSERT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
    for (int c = 0; c < GetParam(); ++c)
      for (int i = 0; i < frame->nb_samples; ++i)
        reinterpret_cast<float*>(frame->extended_data[c])[i] =
            static_cast<float>((i * (number + 1) + c * 50) % 200) / 400;
    frame->pts = int64_t{number} * 1024;
    ASSERT_EQ(avcodec_send_frame(encoder_.get(), frame.get()), 0);
    const ff::PacketPtr packet = ff::make_packet();
    while (avcodec_receive_packet(encoder_.get(), packet.get()) == 0) {
      frames_.emplace_back(reinterpret_cast<const char*>(packet->data), static_cast<size_t>(packet->size));
      ASSERT_EQ(av_write_frame(&muxer, packet.get()), 0);
      latm_.push_back(discard_buffer(muxer));
      ASSERT_EQ(avio_open_dyn_buf(&muxer.pb), 0);
    }
  }

  /// Returns what the muxer has written.
  static std::string discard_buffer(AVFormatContext& muxer) {
    uint8_t* data = nullptr;
    const int size = avio_close_dyn_buf(muxer.pb, &data);
    std::string bytes(reinterpret_cast<const char*>(data), static_cast<size_t>(size));
    av_free(data);
    return bytes;
  }

  static ff::PacketPtr packet_of(const std::string& bytes) {
    ff::PacketPtr packet = ff::make_packet();
    EXPECT_EQ(av_new_packet(packet.get(), static_cast<int>(bytes.size())), 0);
    std::ranges::copy(bytes, packet->data);
    packet->pts = 1234;
    return packet;
  }
  /// Returns the frame without its header; "-" if the packet is not converted.
  static std::string converted(LatmToAdts& converter, const std::string& bytes) {
    const ff::PacketPtr packet = packet_of(bytes);
    if (!converter.convert(*packet)) return "-";
    EXPECT_EQ(packet->pts, 1234);
    return {reinterpret_cast<const char*>(packet->data) + kHeader,
            static_cast<size_t>(packet->size) - kHeader};
  }

  ff::CodecPtr encoder_;
  ff::ParametersPtr codec_;
  std::vector<std::string> frames_, latm_;
};

TEST_P(LatmToAdtsTest, FramesAreUnchanged) {
  LatmToAdts converter(*codec_);
  EXPECT_EQ(converter.duration().num, 0);
  ASSERT_GT(frames_.size(), 40u);
  for (size_t i = 0; i < frames_.size(); ++i) EXPECT_TRUE(converted(converter, latm_[i]) == frames_[i]) << i;
  EXPECT_EQ(av_cmp_q(converter.duration(), {1024, 48000}), 0);
}

TEST_P(LatmToAdtsTest, FFmpegReadsTheHeaders) {
  LatmToAdts converter(*codec_);
  const ff::ParametersPtr adts = LatmToAdts::codec(*codec_);
  EXPECT_EQ(adts->codec_id, AV_CODEC_ID_AAC);
  AVBSFContext* context = nullptr;
  ASSERT_EQ(av_bsf_alloc(av_bsf_get_by_name("aac_adtstoasc"), &context), 0);
  const ff::FilterPtr filter(context);
  ASSERT_EQ(avcodec_parameters_copy(context->par_in, adts.get()), 0);
  ASSERT_EQ(av_bsf_init(context), 0);
  for (size_t i = 0; i < frames_.size(); ++i) {
    const ff::PacketPtr packet = packet_of(latm_[i]);
    ASSERT_TRUE(converter.convert(*packet));
    ASSERT_EQ(av_bsf_send_packet(context, packet.get()), 0);
    ASSERT_EQ(av_bsf_receive_packet(context, packet.get()), 0);
    EXPECT_EQ(static_cast<size_t>(packet->size), frames_[i].size());
    size_t bytes = 0;
    const uint8_t* config = av_packet_get_side_data(packet.get(), AV_PKT_DATA_NEW_EXTRADATA, &bytes);
    if (i > 0) continue;
    ASSERT_TRUE(config);
    EXPECT_TRUE(std::equal(config, config + 2, encoder_->extradata));
  }
}

TEST_P(LatmToAdtsTest, FramesBeforeTheConfigurationAreLeftOut) {
  LatmToAdts unknown(*codec_);
  size_t first = 1;
  while (first < latm_.size() && converted(unknown, latm_[first]) == "-") ++first;
  EXPECT_GT(first, 1u) << "all frames have the configuration";
  ASSERT_LT(first, latm_.size());
  EXPECT_TRUE(converted(unknown, latm_[first]) == frames_[first]);
  // FFmpeg has found the configuration.
  codec_->extradata = static_cast<uint8_t*>(av_mallocz(2 + AV_INPUT_BUFFER_PADDING_SIZE));
  codec_->extradata_size = 2;
  std::copy_n(encoder_->extradata, 2, codec_->extradata);
  LatmToAdts known(*codec_);
  EXPECT_TRUE(converted(known, latm_[1]) == frames_[1]);
}

TEST_P(LatmToAdtsTest, DamagedPacketsAreLeftOut) {
  LatmToAdts converter(*codec_);
  for (size_t size = 0; size < latm_[0].size(); ++size)
    EXPECT_EQ(converted(converter, latm_[0].substr(0, size)), "-") << size;
  std::string other = latm_[0];
  other[0] = 'x';
  EXPECT_EQ(converted(converter, other), "-");
  for (size_t bit = 0; bit < 200 * 8 && bit < other.size() * 8; ++bit) {  // must not read outside
    std::string changed = latm_[0];
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    converted(converter, changed);
  }
  LatmToAdts again(*codec_);
  EXPECT_TRUE(converted(again, latm_[0]) == frames_[0]);
}

/// Returns a LATM frame with the bits of `text`, in which spaces are ignored.
ff::PacketPtr latm_of(const std::string& text) {
  std::vector<uint8_t> bytes;
  int count = 0;
  for (const char c : text) {
    if (c == ' ') continue;
    if (count++ % 8 == 0) bytes.push_back(0);
    if (c == '1') bytes.back() |= static_cast<uint8_t>(0x80 >> (count - 1) % 8);
  }
  ff::PacketPtr packet = ff::make_packet();
  EXPECT_EQ(av_new_packet(packet.get(), static_cast<int>(bytes.size()) + 3), 0);
  packet->data[0] = 0x56, packet->data[1] = 0xE0, packet->data[2] = static_cast<uint8_t>(bytes.size());
  std::ranges::copy(bytes, packet->data + 3);
  return packet;
}

/// Version 1 of the configuration, with an AudioSpecificConfig of 25 bits, and a frame of two bytes.
ff::PacketPtr version1(const std::string& audio_config) {
  return latm_of("0 1 0 00 11111111 1 000000 0000 000  00 00011001 " + audio_config +
                 " 000 11111111 1 00 00000000 0  00000010 11001010 11111110");
}

TEST(LatmConfigurationTest, HighEfficiencyAacHasTheRateOfItsCore) {
  ff::ParametersPtr codec(avcodec_parameters_alloc());
  codec->codec_id = AV_CODEC_ID_AAC_LATM;
  LatmToAdts converter(*codec);
  const ff::PacketPtr packet = version1("00101 0110 0010 0011 00010 000");  // SBR 48 kHz, LC 24 kHz, stereo
  ASSERT_TRUE(converter.convert(*packet));
  EXPECT_EQ(av_cmp_q(converter.duration(), {1024, 24000}), 0);
  const std::vector<uint8_t> wanted = {0xFF, 0xF1, 0x58, 0x80, 0x01, 0x3F, 0xFC, 0xCA, 0xFE};
  EXPECT_EQ(std::vector<uint8_t>(packet->data, packet->data + packet->size), wanted);
}

TEST(LatmConfigurationTest, WhatAdtsCannotDescribeIsLeftOut) {
  ff::ParametersPtr codec(avcodec_parameters_alloc());
  codec->codec_id = AV_CODEC_ID_AAC_LATM;
  for (const char* config : {"00101 0110 0010 0011 00010 100",     // 960 samples
                             "00101 0110 0000 0011 00010 000",     // channels in a program config
                             "00101 1111 0010 0011 00010 000",     // a rate in Hz
                             "10111 0110 0010 0000 00000 000"}) {  // AAC-LD
    LatmToAdts converter(*codec);
    EXPECT_FALSE(converter.convert(*version1(config))) << config;
  }
}

INSTANTIATE_TEST_SUITE_P(Channels, LatmToAdtsTest, testing::Values(1, 2, 6));

/// Bits of a LATM packet, the highest of each byte first.
struct BitWriter {
  std::vector<uint8_t> bytes;
  int used = 0;

  void put(uint32_t value, int count) {
    for (int i = count; i-- > 0; ++used) {
      if (used % 8 == 0) bytes.push_back(0);
      bytes.back() |= static_cast<uint8_t>((value >> i & 1) << (7 - used % 8));
    }
  }
};

TEST(LatmOtherData, ItsLengthIsSkipped) {
  const std::vector<uint8_t> frame = {0xDE, 0xAD, 0xBE, 0xEF, 0x5A};
  BitWriter mux;
  mux.put(0, 1);  // another configuration
  mux.put(0, 1), mux.put(1, 1), mux.put(0, 6),
      mux.put(0, 7);  // version, framing, frames, programs and layers
  mux.put(2, 5), mux.put(3, 4), mux.put(1, 4), mux.put(0, 3);                    // AAC-LC, 48 kHz, mono
  mux.put(0, 3), mux.put(0xFF, 8);                                               // variable length
  mux.put(1, 1), mux.put(1, 1), mux.put(1, 8), mux.put(0, 1), mux.put(0x10, 8);  // other data of 272 bits
  mux.put(0, 1);                                                                 // no checksum
  mux.put(static_cast<uint32_t>(frame.size()), 8);
  for (const uint8_t byte : frame) mux.put(byte, 8);
  const ff::PacketPtr packet = ff::make_packet();
  ASSERT_EQ(av_new_packet(packet.get(), static_cast<int>(3 + mux.bytes.size())), 0);
  packet->data[0] = 0x56, packet->data[1] = 0xE0, packet->data[2] = static_cast<uint8_t>(mux.bytes.size());
  std::ranges::copy(mux.bytes, packet->data + 3);
  const ff::ParametersPtr codec(avcodec_parameters_alloc());
  codec->codec_type = AVMEDIA_TYPE_AUDIO, codec->codec_id = AV_CODEC_ID_AAC_LATM;
  LatmToAdts converter(*codec);
  ASSERT_TRUE(converter.convert(*packet));
  ASSERT_EQ(packet->size, static_cast<int>(kHeader + frame.size()));
  EXPECT_TRUE(std::equal(frame.begin(), frame.end(), packet->data + kHeader));
}

}  // namespace
}  // namespace lensd
