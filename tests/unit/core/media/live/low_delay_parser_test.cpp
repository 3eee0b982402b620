// LowDelayParser: packets of one picture pass through, others are parsed, and no byte is lost or reordered.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/media/live/mpegts/low_delay_parser.hpp"

namespace lensd {
namespace {

struct Codec {
  AVCodecID codec;
  const char* encoder;
};

class LowDelayParserTest : public testing::TestWithParam<Codec> {
 protected:
  /// Encodes moving pictures, every tenth as a key frame. Returns no packets if FFmpeg has no such encoder.
  static std::vector<std::string> encode(int frames) {
    std::vector<std::string> packets;
    const AVCodec* codec = avcodec_find_encoder_by_name(GetParam().encoder);
    if (!codec) return packets;
    const ff::CodecPtr encoder(avcodec_alloc_context3(codec));
    encoder->width = 96, encoder->height = 64, encoder->pix_fmt = AV_PIX_FMT_YUV420P;
    encoder->time_base = {1, 25}, encoder->gop_size = 10, encoder->max_b_frames = 0;
    ff::Options options;
    options.set("tune", "zerolatency");
    options.set("x265-params", "log-level=none");
    if (avcodec_open2(encoder.get(), codec, options.get()) < 0) return packets;
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
    const ff::ParametersPtr parameters(avcodec_parameters_alloc());
    parameters->codec_type = AVMEDIA_TYPE_VIDEO, parameters->codec_id = GetParam().codec;
    parser = std::make_unique<LowDelayParser>(*parameters);
  }

  /// Passes one packet to the parser. Returns all pictures that are complete.
  std::vector<std::string> parse(const std::string& bytes, int64_t pts = AV_NOPTS_VALUE) {
    const ff::PacketPtr packet = ff::make_packet();
    EXPECT_EQ(av_new_packet(packet.get(), static_cast<int>(bytes.size())), 0);
    std::memcpy(packet->data, bytes.data(), bytes.size());
    packet->pts = packet->dts = pts;
    parser->put(*packet);
    std::vector<std::string> out;
    while (parser->next(*packet)) {
      out.emplace_back(reinterpret_cast<const char*>(packet->data), static_cast<size_t>(packet->size));
      times.push_back(packet->pts);
    }
    all.insert(all.end(), out.begin(), out.end());
    return out;
  }

  /// Checks the number of pictures and every byte in order. Ignores zeros at the end, because parsers assign
  /// the first zero of a start code to the previous picture.
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
  std::unique_ptr<LowDelayParser> parser;
};

std::span<const uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

TEST_P(LowDelayParserTest, ScanFindsExactlyOnePicture) {
  for (size_t i = 0; i + 1 < packets.size(); ++i) {
    const StartCodes one = scan_start_codes(GetParam().codec, bytes_of(packets[i]));
    EXPECT_TRUE(one.starts_picture) << i;
    EXPECT_EQ(one.pictures, 1) << i;
    const std::string both = packets[i] + packets[i + 1];
    EXPECT_EQ(scan_start_codes(GetParam().codec, bytes_of(both)).pictures, 2) << i;
    EXPECT_FALSE(scan_start_codes(GetParam().codec, bytes_of(both.substr(5))).starts_picture) << i;
  }
}

TEST_P(LowDelayParserTest, WholePicturesPassThroughAtOnce) {
  for (size_t i = 0; i < packets.size(); ++i) {
    const auto out = parse(packets[i], static_cast<int64_t>(i));
    if (i > 5) {
      EXPECT_TRUE(out == std::vector{packets[i]}) << i;
    }
  }
  expect_all(packets);
  for (size_t i = 0; i < times.size(); ++i) EXPECT_EQ(times[i], static_cast<int64_t>(i));
}

TEST_P(LowDelayParserTest, SplitPicturesAreJoined) {
  for (const std::string& packet : packets) {
    parse(packet.substr(0, packet.size() / 2));
    parse(packet.substr(packet.size() / 2));
  }
  // The parser holds the last picture back, because it may be incomplete.
  expect_all({packets.begin(), packets.end() - 1});
}

TEST_P(LowDelayParserTest, SeveralPicturesInOnePacketAreSplit) {
  for (size_t i = 0; i < packets.size(); i += 3) parse(packets[i] + packets[i + 1] + packets[i + 2]);
  expect_all({packets.begin(), packets.end() - 1});
}

TEST_P(LowDelayParserTest, AdaptsWhenTheSenderChanges) {
  size_t i = 0;
  for (; i < 10; ++i) parse(packets[i]);
  parse(packets[i] + packets[i + 1]), i += 2;  // two at once, as after a network stall
  for (; i < packets.size(); ++i) {
    const auto out = parse(packets[i]);
    if (i > 12 + 25) {
      EXPECT_TRUE(out == std::vector{packets[i]}) << i;
    }
  }
  expect_all(packets);
}

INSTANTIATE_TEST_SUITE_P(Codecs, LowDelayParserTest,
                         testing::Values(Codec{AV_CODEC_ID_H264, "libx264"},
                                         Codec{AV_CODEC_ID_HEVC, "libx265"},
                                         Codec{AV_CODEC_ID_MPEG2VIDEO, "mpeg2video"}),
                         [](const auto& name) { return std::string(name.param.encoder); });

/// Encodes frames of silence.
std::vector<std::string> encoded_silence(AVCodecID codec, int frames) {
  std::vector<std::string> packets;
  const ff::CodecPtr encoder(avcodec_alloc_context3(avcodec_find_encoder(codec)));
  encoder->sample_rate = 48000, encoder->sample_fmt = AV_SAMPLE_FMT_FLTP, encoder->bit_rate = 96000;
  av_channel_layout_default(&encoder->ch_layout, 2);
  if (avcodec_open2(encoder.get(), nullptr, nullptr) < 0) return packets;
  const ff::PacketPtr packet = ff::make_packet();
  for (int i = 0; i < frames; ++i) {
    const ff::FramePtr frame = ff::make_frame();
    frame->nb_samples = encoder->frame_size, frame->format = AV_SAMPLE_FMT_FLTP, frame->sample_rate = 48000;
    EXPECT_EQ(av_channel_layout_copy(&frame->ch_layout, &encoder->ch_layout), 0);
    EXPECT_EQ(av_frame_get_buffer(frame.get(), 0), 0);
    av_samples_set_silence(frame->extended_data, 0, frame->nb_samples, 2, AV_SAMPLE_FMT_FLTP);
    EXPECT_EQ(avcodec_send_frame(encoder.get(), frame.get()), 0);
    while (avcodec_receive_packet(encoder.get(), packet.get()) == 0)
      packets.emplace_back(reinterpret_cast<const char*>(packet->data), static_cast<size_t>(packet->size));
  }
  return packets;
}

TEST(LowDelayParserAudioTest, FramesHaveTheirDuration) {
  for (const AVCodecID codec : {AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3}) {
    const std::vector<std::string> frames = encoded_silence(codec, 12);
    ASSERT_EQ(frames.size(), 12u);
    const ff::ParametersPtr parameters(avcodec_parameters_alloc());  // of a stream that was not probed
    parameters->codec_type = AVMEDIA_TYPE_AUDIO, parameters->codec_id = codec;
    LowDelayParser parser(*parameters);
    const ff::PacketPtr packet = ff::make_packet();
    int found = 0;
    for (size_t i = 0; i < frames.size(); i += 4) {
      const std::string bytes = frames[i] + frames[i + 1] + frames[i + 2] + frames[i + 3];
      ASSERT_EQ(av_new_packet(packet.get(), static_cast<int>(bytes.size())), 0);
      std::memcpy(packet->data, bytes.data(), bytes.size());
      parser.put(*packet);
      for (; parser.next(*packet); ++found) {
        EXPECT_EQ(av_cmp_q(parser.duration(), {1536, 48000}), 0) << avcodec_get_name(codec) << found;
        av_packet_unref(packet.get());
      }
    }
    EXPECT_GE(found, 10);
  }
}

TEST(StartCodesTest, NoPicturesInOtherBytes) {
  for (size_t n = 0; n < 8; ++n) {
    const std::string zeros(n, '\0');
    EXPECT_FALSE(scan_start_codes(AV_CODEC_ID_H264, bytes_of(zeros)).starts_picture);
    EXPECT_EQ(scan_start_codes(AV_CODEC_ID_H264, bytes_of(std::string(n, '\1'))).pictures, 0);
  }
  EXPECT_EQ(scan_start_codes(AV_CODEC_ID_AV1, bytes_of(std::string("\0\0\1\x65\x88\x80\0\0", 8))).pictures,
            0);
  EXPECT_EQ(scan_start_codes(AV_CODEC_ID_H264, bytes_of(std::string("\0\0\1\x65\x88\x80\0\0", 8))).pictures,
            1);
}

}  // namespace
}  // namespace lensd
