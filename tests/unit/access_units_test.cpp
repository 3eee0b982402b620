// Pictures out of packets: handed on at once where a sender puts one into each, parsed where not, and never a
// byte lost or out of order.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/media/live/mpegts/low_delay_parser.hpp"

namespace lensd {
namespace {

struct Stream {
  AVCodecID codec;
  const char* encoder;
};

class AccessUnitsTest : public testing::TestWithParam<Stream> {
 protected:
  /// Packets of moving pictures with a key frame every tenth; none where FFmpeg has no such encoder.
  static std::vector<std::string> encode(int frames) {
    std::vector<std::string> packets;
    const AVCodec* codec = avcodec_find_encoder_by_name(GetParam().encoder);
    if (!codec) return packets;
    const ff::CodecPtr encoder(avcodec_alloc_context3(codec));
    encoder->width = 96, encoder->height = 64, encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->time_base = {1, 25}, encoder->gop_size = 10, encoder->max_b_frames = 0;
    AVDictionary* options = nullptr;
    av_dict_set(&options, "tune", "zerolatency", 0);
    av_dict_set(&options, "x265-params", "log-level=none", 0);
    const int opened = avcodec_open2(encoder.get(), codec, &options);
    av_dict_free(&options);
    if (opened < 0) return packets;
    const ff::PacketPtr packet = ff::make_packet();
    for (int i = 0; i <= frames; ++i) {
      const ff::FramePtr frame = ff::make_frame();
      frame->width = 96, frame->height = 64, frame->format = AV_PIX_FMT_YUV420P, frame->pts = i;
      EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
      for (int y = 0; y < 64; ++y)
        for (int x = 0; x < 96; ++x)
          frame->data[0][y * frame->linesize[0] + x] = static_cast<uint8_t>(x * 2 + y + i * 5);
      for (const int p : {1, 2})
        std::memset(frame->data[p], 128, static_cast<size_t>(frame->linesize[p]) * 32);
      EXPECT_EQ(avcodec_send_frame(encoder.get(), i < frames ? frame.get() : nullptr), 0);
      while (avcodec_receive_packet(encoder.get(), packet.get()) == 0)
        packets.emplace_back(reinterpret_cast<const char*>(packet->data), static_cast<size_t>(packet->size));
    }
    return packets;
  }

  void SetUp() override {
    av_log_set_level(AV_LOG_ERROR);
    packets = encode(60);
    if (packets.empty()) GTEST_SKIP() << "FFmpeg has no " << GetParam().encoder << " here";
    ASSERT_EQ(packets.size(), 60u);
    AVCodecParameters* parameters = avcodec_parameters_alloc();
    parameters->codec_type = AVMEDIA_TYPE_VIDEO, parameters->codec_id = GetParam().codec;
    units = std::make_unique<LowDelayParser>(*parameters);
    avcodec_parameters_free(&parameters);
  }

  /// Puts one packet in and takes out all that is there.
  std::vector<std::string> through(const std::string& bytes, int64_t pts = AV_NOPTS_VALUE) {
    const ff::PacketPtr packet = ff::make_packet();
    EXPECT_EQ(av_new_packet(packet.get(), static_cast<int>(bytes.size())), 0);
    std::memcpy(packet->data, bytes.data(), bytes.size());
    packet->pts = packet->dts = pts;
    units->put(*packet);
    std::vector<std::string> out;
    while (units->next(*packet)) {
      out.emplace_back(reinterpret_cast<const char*>(packet->data), static_cast<size_t>(packet->size));
      times.push_back(packet->pts);
    }
    all.insert(all.end(), out.begin(), out.end());
    return out;
  }

  /// Every byte came out, in order, and as many pictures. Parsers count the first zero of a start code to the
  /// picture before.
  void expect_all(const std::vector<std::string>& wanted) const {
    EXPECT_EQ(all.size(), wanted.size());
    const auto joined = [](const std::vector<std::string>& parts) {
      std::string text;
      for (const std::string& part : parts) text += part;
      return text.erase(text.find_last_not_of('\0') + 1);
    };
    EXPECT_TRUE(joined(all) == joined(wanted));
  }

  std::vector<std::string> packets, all;
  std::vector<int64_t> times;
  std::unique_ptr<LowDelayParser> units;
};

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST_P(AccessUnitsTest, OnePictureIsToldFromLessAndMore) {
  for (size_t i = 0; i + 1 < packets.size(); ++i) {
    const PictureStarts one = picture_starts(GetParam().codec, bytes_of(packets[i]));
    EXPECT_TRUE(one.at_begin) << i;
    EXPECT_EQ(one.pictures, 1) << i;
    const std::string both = packets[i] + packets[i + 1];
    EXPECT_EQ(picture_starts(GetParam().codec, bytes_of(both)).pictures, 2) << i;
    EXPECT_FALSE(picture_starts(GetParam().codec, bytes_of(both.substr(5))).at_begin) << i;
  }
}

TEST_P(AccessUnitsTest, WholePicturesAreHandedOnAtOnce) {
  for (size_t i = 0; i < packets.size(); ++i) {
    const auto out = through(packets[i], static_cast<int64_t>(i));
    if (i > 5) {
      EXPECT_TRUE(out == std::vector{packets[i]}) << i;
    }
  }
  expect_all(packets);
  for (size_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i], static_cast<int64_t>(i));
}

TEST_P(AccessUnitsTest, PicturesInPiecesArePutTogether) {
  for (const std::string& packet : packets) {
    through(packet.substr(0, packet.size() / 2));
    through(packet.substr(packet.size() / 2));
  }
  // The last one is held back: nothing says that it is complete.
  expect_all({packets.begin(), packets.end() - 1});
}

TEST_P(AccessUnitsTest, SeveralPicturesInOnePacketAreParted) {
  for (size_t i = 0; i < packets.size(); i += 3) through(packets[i] + packets[i + 1] + packets[i + 2]);
  expect_all({packets.begin(), packets.end() - 1});
}

TEST_P(AccessUnitsTest, WhoChangesHisWaysIsFollowed) {
  size_t i = 0;
  for (; i < 10; ++i) through(packets[i]);
  through(packets[i] + packets[i + 1]), i += 2;  // two at once, as after a network's pause
  for (; i < packets.size(); ++i) {
    const auto out = through(packets[i]);
    if (i > 12 + 25) {
      EXPECT_TRUE(out == std::vector{packets[i]}) << i;
    }
  }
  expect_all(packets);
}

INSTANTIATE_TEST_SUITE_P(Codecs, AccessUnitsTest,
                         testing::Values(Stream{AV_CODEC_ID_H264, "libx264"},
                                         Stream{AV_CODEC_ID_HEVC, "libx265"},
                                         Stream{AV_CODEC_ID_MPEG2VIDEO, "mpeg2video"}),
                         [](const auto& name) { return std::string(name.param.encoder); });

TEST(PictureStartsTest, BytesThatAreNoVideoBeginNothing) {
  for (size_t n = 0; n < 8; ++n) {
    const std::string zeros(n, '\0');
    EXPECT_FALSE(picture_starts(AV_CODEC_ID_H264, bytes_of(zeros)).at_begin);
    EXPECT_EQ(picture_starts(AV_CODEC_ID_H264, bytes_of(std::string(n, '\1'))).pictures, 0);
  }
  EXPECT_EQ(picture_starts(AV_CODEC_ID_AV1, bytes_of(std::string("\0\0\1\x65\x88\x80\0\0", 8))).pictures, 0);
  EXPECT_EQ(picture_starts(AV_CODEC_ID_H264, bytes_of(std::string("\0\0\1\x65\x88\x80\0\0", 8))).pictures, 1);
}

}  // namespace
}  // namespace lensd
