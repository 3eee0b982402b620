// core/media/sound: decoding, exact seeks, tempo, files on servers, sound under a cover picture.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "core/media/sound/sound_codec.hpp"
#include "core/media/sound/sound_decoder.hpp"
#include "core/media/still.hpp"
#include "tests/unit/common/local_server.hpp"
#include "tests/unit/core/media/media_fixture.hpp"
#include "tests/unit/core/media/sound/sound_clip.hpp"

namespace lensd {
namespace {

constexpr int64_t kS = 1'000'000'000;

class SoundDecoderTest : public test::MediaTest {
 protected:
  struct Decoded {
    int64_t first_ns = -1, end_ns = -1;
    std::vector<float> left;
  };
  /// Decodes all blocks and checks that they follow each other without a gap.
  static Decoded read_all(SoundDecoder& decoder, double speed = 1) {
    Decoded all;
    SoundBlock block;
    while (decoder.read(block)) {
      if (all.first_ns < 0)
        all.first_ns = block.media_ns;
      else
        EXPECT_NEAR(static_cast<double>(block.media_ns), static_cast<double>(all.end_ns), 1000);
      all.end_ns = block.media_ns + sound_ns(static_cast<double>(block.frames()) * speed);
      for (size_t i = 0; i < block.samples.size(); i += kSoundChannels) all.left.push_back(block.samples[i]);
    }
    return all;
  }
  /// Returns the start of each beep in seconds: the centre of its energy, less half a beep.
  static std::vector<double> beep_times(const Decoded& decoded, double speed = 1) {
    std::vector<double> times;
    double sum = 0, moment = 0;
    int64_t loud = 0;
    const auto count = static_cast<int64_t>(decoded.left.size());
    for (int64_t i = 0; i <= count; ++i) {
      const double value = i < count ? decoded.left[static_cast<size_t>(i)] : 0;
      if (sum > 0 && (i == count || i - loud > kSoundRate / 5)) {
        const double media_ns =
            static_cast<double>(decoded.first_ns) + 1e9 / kSoundRate * speed * moment / sum;
        times.push_back(media_ns * 1e-9 - 0.025);
        sum = moment = 0;
      }
      if (std::abs(value) < 0.05) continue;
      loud = i;
      sum += value * value, moment += value * value * static_cast<double>(i);
    }
    return times;
  }
  std::string clip(int rate = 48000, int channels = 2, int seconds = 5) const {
    put("clip.wav", test::wav(rate, channels, int64_t{rate} * seconds,
                              [rate](int64_t i) { return test::beeps(i, rate); }));
    return file("clip.wav");
  }

  StopFlags stop_;
};

TEST_F(SoundDecoderTest, DecodesAllSamplesOfAnyRateAndChannelCount) {
  for (const auto& [rate, channels] : {std::pair{48000, 2}, {44100, 1}, {8000, 2}, {96000, 6}}) {
    SoundDecoder decoder({clip(rate, channels), 0, 0, {}}, stop_);
    decoder.seek(0, 1);
    const Decoded all = read_all(decoder);
    EXPECT_EQ(all.first_ns, 0);
    EXPECT_NEAR(static_cast<double>(all.left.size()), 5.0 * kSoundRate, 50) << rate;
    const auto times = beep_times(all);
    ASSERT_EQ(times.size(), 5u) << rate;
    for (size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], static_cast<double>(i), 0.001) << rate;
  }
}

TEST_F(SoundDecoderTest, AnotherLayoutOfAsManyChannelsIsAnotherFormat) {
  const ff::FramePtr frame = ff::make_frame();
  frame->format = AV_SAMPLE_FMT_FLTP, frame->sample_rate = kSoundRate;
  ASSERT_EQ(av_channel_layout_from_mask(&frame->ch_layout, AV_CH_LAYOUT_QUAD), 0);
  SoundResampler resampler;
  resampler.configure(*frame, "test");
  EXPECT_TRUE(resampler.fits(*frame));
  av_channel_layout_uninit(&frame->ch_layout);
  ASSERT_EQ(av_channel_layout_from_mask(&frame->ch_layout, AV_CH_LAYOUT_4POINT0), 0);
  EXPECT_FALSE(resampler.fits(*frame));
  resampler.configure(*frame, "test");
  EXPECT_TRUE(resampler.fits(*frame));
}

TEST_F(SoundDecoderTest, SeeksToTheSample) {
  SoundDecoder decoder({clip(), 0, 0, {}}, stop_);
  decoder.seek(0, 1);
  const Decoded whole = read_all(decoder);
  for (const int64_t at : {int64_t{0}, kS, kS + 1'234'000'000 / 2, 3 * kS + 7'000'000}) {
    decoder.seek(at, 1);
    const Decoded rest = read_all(decoder);
    const auto from = static_cast<size_t>(sound_frames(at));
    EXPECT_NEAR(static_cast<double>(rest.first_ns), static_cast<double>(at), 11'000);
    ASSERT_EQ(rest.left.size(), whole.left.size() - from) << at;
    for (size_t i = 0; i < rest.left.size(); i += 97)
      ASSERT_EQ(rest.left[i], whole.left[from + i]) << at << " " << i;
  }
}

TEST_F(SoundDecoderTest, TimesAreRelativeToTheFirstPicture) {
  SoundDecoder decoder({clip(), 2 * kS, 0, {}}, stop_);
  decoder.seek(0, 1);
  const Decoded late = read_all(decoder);
  EXPECT_NEAR(static_cast<double>(late.first_ns), 0, 11'000)
      << "the first two seconds are before the picture";
  EXPECT_NEAR(static_cast<double>(late.left.size()), 3.0 * kSoundRate, 2);

  SoundDecoder early({file("clip.wav"), -kS, 0, {}}, stop_);
  early.seek(0, 1);
  EXPECT_EQ(read_all(early).first_ns, kS) << "the audio starts a second after the picture";
}

/// Writes a Matroska file with a cover picture and `length_ms` of sound that begins at `start_ms`.
void write_covered_sound(const std::string& path, int64_t start_ms, int64_t length_ms) {
  StillEncoder encoder(StillEncoder::Type::jpeg);
  const Image image = test::picture({PixelFormat::rgba8, {64, 48}}, 0);
  const auto jpeg = encoder.encode(image.ref());
  AVFormatContext* raw = nullptr;
  ff::check_memory(avformat_alloc_output_context2(&raw, nullptr, "matroska", nullptr));
  const std::unique_ptr<AVFormatContext, ff::Release<avformat_free_context>> muxer(raw);
  AVCodecParameters& sound = *ff::allocated(avformat_new_stream(raw, nullptr))->codecpar;
  sound.codec_type = AVMEDIA_TYPE_AUDIO, sound.codec_id = AV_CODEC_ID_PCM_S16LE;
  sound.sample_rate = kSoundRate, sound.bits_per_coded_sample = 16, sound.block_align = 2;
  av_channel_layout_default(&sound.ch_layout, 1);
  AVStream& cover = *ff::allocated(avformat_new_stream(raw, nullptr));
  cover.codecpar->codec_type = AVMEDIA_TYPE_ATTACHMENT, cover.codecpar->codec_id = AV_CODEC_ID_MJPEG;
  cover.codecpar->extradata =
      static_cast<uint8_t*>(ff::allocated(av_mallocz(jpeg.size() + AV_INPUT_BUFFER_PADDING_SIZE)));
  cover.codecpar->extradata_size = static_cast<int>(jpeg.size());
  std::copy(jpeg.begin(), jpeg.end(), cover.codecpar->extradata);
  av_dict_set(&cover.metadata, "filename", "cover.jpg", 0);
  av_dict_set(&cover.metadata, "mimetype", "image/jpeg", 0);
  ASSERT_GE(avio_open(&raw->pb, path.c_str(), AVIO_FLAG_WRITE), 0);
  ASSERT_GE(avformat_write_header(raw, nullptr), 0);
  constexpr int kStepMs = 20, kBytes = kSoundRate / 1000 * kStepMs * 2;
  for (int ms = 0; ms < length_ms; ms += kStepMs) {
    const ff::PacketPtr packet = ff::make_packet();
    ff::check_memory(av_new_packet(packet.get(), kBytes));
    std::fill_n(packet->data, kBytes, uint8_t{1});
    packet->pts = packet->dts = av_rescale_q(start_ms + ms, {1, 1000}, raw->streams[0]->time_base);
    packet->duration = av_rescale_q(kStepMs, {1, 1000}, raw->streams[0]->time_base);
    EXPECT_GE(av_write_frame(raw, packet.get()), 0);
  }
  EXPECT_GE(av_write_trailer(raw), 0);
  avio_closep(&raw->pb);
}

TEST_F(SoundDecoderTest, LateSoundBeginsWithItsCover) {
  write_covered_sound(file("late.mka"), 3000, 500);
  const auto source = open_source(file("late.mka"), {});
  ASSERT_EQ(source->info().picture.extent, (Extent{64, 48})) << "the cover";
  EXPECT_EQ(source->info().start_ns, 3 * kS);
  SoundDecoder decoder({file("late.mka"), source->info().start_ns, 0, {}}, stop_);
  decoder.seek(0, 1);
  const Decoded all = read_all(decoder);
  EXPECT_EQ(all.first_ns, 0);
  EXPECT_EQ(all.left.size(), size_t{kSoundRate / 2});
}

/// Returns the offset that an HTTP request asks for.
size_t asked_offset(const std::string& request) {
  const size_t range = request.find("Range: bytes=");
  return range == std::string::npos ? 0 : std::strtoul(&request[range + 13], nullptr, 10);
}

void put_rest(int client, const std::string& content, size_t begin) {
  LocalHttpServer::put(
      client, fmt::format("HTTP/1.1 206 Partial Content\r\nConnection: close\r\nAccept-Ranges: bytes\r\n"
                          "Content-Range: bytes {}-{}/{}\r\nContent-Length: {}\r\n\r\n{}",
                          begin, content.size() - 1, content.size(), content.size() - begin,
                          content.substr(std::min(begin, content.size()))));
}

void refuse_as_busy(int client) {
  LocalHttpServer::put(client, "HTTP/1.1 429 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
}

TEST_F(SoundDecoderTest, OpeningIsRepeatedWhileTheServerIsBusy) {
  write_covered_sound(file("a.mka"), 0, 1000);
  const std::string content = get("a.mka");
  std::atomic<int> refused{0};
  LocalHttpServer server([&](int client, const std::string& request) {
    if (request.empty()) return;
    if (refused < 2)
      ++refused, refuse_as_busy(client);
    else
      put_rest(client, content, asked_offset(request));
  });
  SoundDecoder decoder({fmt::format("http://127.0.0.1:{}/a.mka", server.port()), 0, 0, {}}, stop_);
  EXPECT_EQ(refused, 2);
  decoder.seek(0, 1);
  EXPECT_EQ(read_all(decoder).left.size(), size_t{kSoundRate});
}

TEST_F(SoundDecoderTest, ARequestThatABusyServerRefusesIsRepeated) {
  write_covered_sound(file("a.mka"), 0, 5000);
  const std::string content = get("a.mka");
  std::atomic<bool> busy{false};
  std::atomic<int> refused{0};
  std::atomic<size_t> refused_at{0}, answered_at{0};
  LocalHttpServer server([&](int client, const std::string& request) {
    if (request.empty()) return;
    const size_t begin = asked_offset(request);
    if (busy && refused < 2) {
      if (refused++ == 0) refused_at = begin;
      return refuse_as_busy(client);
    }
    if (busy.exchange(false)) answered_at = begin;
    put_rest(client, content, begin);
  });
  SoundDecoder decoder({fmt::format("http://127.0.0.1:{}/a.mka", server.port()), 0, 0, {}}, stop_);
  decoder.seek(0, 1);
  EXPECT_GT(read_all(decoder).left.size(), size_t{4 * kSoundRate});
  busy = true;
  decoder.seek(4 * kS, 1);
  SoundBlock block;
  EXPECT_TRUE(decoder.read(block));
  EXPECT_EQ(refused, 2);
  EXPECT_GT(refused_at.load(), 0u);
  EXPECT_EQ(answered_at.load(), refused_at.load()) << "a further attempt begins earlier";
}

/// Writes a minute of silent MP3 frames. A seek in this container reads packets at several places.
void write_transport_stream(const std::string& path) {
  AVFormatContext* raw = nullptr;
  ff::check_memory(avformat_alloc_output_context2(&raw, nullptr, "mpegts", nullptr));
  const std::unique_ptr<AVFormatContext, ff::Release<avformat_free_context>> muxer(raw);
  AVCodecParameters& sound = *ff::allocated(avformat_new_stream(raw, nullptr))->codecpar;
  sound.codec_type = AVMEDIA_TYPE_AUDIO, sound.codec_id = AV_CODEC_ID_MP3, sound.sample_rate = 44100;
  av_channel_layout_default(&sound.ch_layout, 2);
  ASSERT_GE(avio_open(&raw->pb, path.c_str(), AVIO_FLAG_WRITE), 0);
  ASSERT_GE(avformat_write_header(raw, nullptr), 0);
  const std::string frame = "\xFF\xFB\x90" + std::string(414, '\0');
  for (int i = 0; i < 2300; ++i) {
    const ff::PacketPtr packet = ff::make_packet();
    ff::check_memory(av_new_packet(packet.get(), static_cast<int>(frame.size())));
    std::ranges::copy(frame, packet->data);
    packet->pts = packet->dts = av_rescale_q(int64_t{1152} * i, {1, 44100}, raw->streams[0]->time_base);
    EXPECT_GE(av_write_frame(raw, packet.get()), 0);
  }
  EXPECT_GE(av_write_trailer(raw), 0);
  avio_closep(&raw->pb);
}

TEST_F(SoundDecoderTest, ASeekWaitsOnceForAServerThatDoesNotAnswer) {
  write_transport_stream(file("a.ts"));
  const std::string content = get("a.ts");
  std::atomic<bool> down{false};
  std::atomic<int> requests{0};  // while `down`
  LocalHttpServer server([&](int client, const std::string& request) {
    if (request.empty()) return;
    if (down && requests++ == 0) {
      char none = 0;
      recv(client, &none, 1, 0);  // until the client closes the connection
      return;
    }
    if (down) {
      LocalHttpServer::put(client, "HTTP/1.1 404 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    put_rest(client, content, asked_offset(request));
  });
  LiveOptions live;
  live.silence_ns = kS, live.silence_given = true;
  SoundDecoder decoder({fmt::format("http://127.0.0.1:{}/a.ts", server.port()), 0, 0, live}, stop_);
  decoder.seek(0, 1);
  EXPECT_GT(read_all(decoder).left.size(), size_t{4 * kSoundRate});
  down = true;
  EXPECT_THROW(decoder.seek(kS, 1), Error);
  EXPECT_LE(requests, 2) << "the seek, and the file opened again";
}

TEST_F(SoundDecoderTest, ASeekBehindTheEndGivesNothing) {
  SoundDecoder decoder({clip(), 0, 0, {}}, stop_);
  decoder.seek(60 * kS, 1);
  SoundBlock block;
  EXPECT_FALSE(decoder.read(block));
  decoder.seek(4 * kS, 1);
  EXPECT_TRUE(decoder.read(block)) << "and it can go back";
}

TEST_F(SoundDecoderTest, OtherSpeedsKeepTheTimesAndThePitch) {
  SoundDecoder decoder({clip(), 0, 0, {}}, stop_);
  for (const double speed : {0.25, 0.5, 0.8, 1.25, 2.0, 3.0, 4.0}) {
    decoder.seek(0, speed);
    const Decoded all = read_all(decoder, speed);
    EXPECT_NEAR(static_cast<double>(all.left.size()), 5.0 * kSoundRate / speed, 0.2 * kSoundRate) << speed;
    for (const double time : beep_times(all, speed)) {
      const double offset = time - std::round(time);
      EXPECT_LT(std::abs(offset / speed), speed < 0.5 ? 0.05 : 0.02)
          << "at speed " << speed << " a beep is heard at " << time;
    }
  }
}

TEST_F(SoundDecoderTest, DamagedAudioIsSkipped) {
  std::string bytes = test::wav(48000, 2, 48000 * 3, [](int64_t i) { return test::beeps(i, 48000); });
  put("cut.wav", bytes.substr(0, bytes.size() / 2));
  SoundDecoder decoder({file("cut.wav"), 0, 0, {}}, stop_);
  decoder.seek(0, 1);
  EXPECT_NEAR(static_cast<double>(read_all(decoder).left.size()), 1.5 * kSoundRate, 100);
}

TEST_F(SoundDecoderTest, RefusesWhatHasNoAudio) {
  put("noise.bin", std::string(5000, 'x'));
  EXPECT_THROW(SoundDecoder({file("noise.bin"), 0, 0, {}}, stop_), Error);
  clip();
  try {
    SoundDecoder({file("clip.wav"), 0, 3, {}}, stop_);
    FAIL() << "track 3 was opened";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("no audio track 3, the last one is 1"), std::string::npos)
        << e.what();
  }
}

TEST_F(SoundDecoderTest, AnInterruptionEndsTheRead) {
  SoundDecoder decoder({clip(), 0, 0, {}}, stop_);
  decoder.seek(0, 1);
  stop_.interrupted = true;
  SoundBlock block;
  EXPECT_FALSE(decoder.read(block));
  stop_.interrupted = false;
  EXPECT_TRUE(decoder.read(block));
}

TEST(SoundResampler, FitsOnlyFramesOfItsFormat) {
  const auto frame_of = [](AVSampleFormat format, int rate, int channels) {
    ff::FramePtr frame = ff::make_frame();
    frame->format = format, frame->sample_rate = rate;
    av_channel_layout_default(&frame->ch_layout, channels);
    return frame;
  };
  const ff::FramePtr stereo = frame_of(AV_SAMPLE_FMT_FLTP, 44100, 2);
  SoundResampler resampler;
  EXPECT_FALSE(resampler.fits(*stereo)) << "it has no format yet";
  resampler.configure(*stereo, "test");
  EXPECT_TRUE(resampler.fits(*stereo));
  EXPECT_FALSE(resampler.fits(*frame_of(AV_SAMPLE_FMT_FLT, 44100, 2)));
  EXPECT_FALSE(resampler.fits(*frame_of(AV_SAMPLE_FMT_FLTP, 48000, 2)));
  EXPECT_FALSE(resampler.fits(*frame_of(AV_SAMPLE_FMT_FLTP, 44100, 1)));
  resampler.reset();
  EXPECT_FALSE(resampler.fits(*stereo));
}

TEST(SoundResampler, ChannelsWithoutKnownPositionsAreHeard) {
  constexpr int kSamples = 480;
  for (const auto& [order, channels, right] : {std::tuple{AV_CHANNEL_ORDER_UNSPEC, 10, 2},
                                               {AV_CHANNEL_ORDER_UNSPEC, 12, 2},
                                               {AV_CHANNEL_ORDER_AMBISONIC, 4, 1}}) {
    SCOPED_TRACE(channels);
    const ff::FramePtr frame = ff::make_frame();
    frame->format = AV_SAMPLE_FMT_S16, frame->sample_rate = kSoundRate, frame->nb_samples = kSamples;
    frame->ch_layout.order = order, frame->ch_layout.nb_channels = channels;
    ff::check_memory(av_frame_get_buffer(frame.get(), 0));
    auto* const to = reinterpret_cast<int16_t*>(frame->data[0]);
    for (int i = 0; i < kSamples * channels; ++i) to[i] = static_cast<int16_t>((i % channels + 1) * 1000);
    SoundResampler resampler;
    resampler.configure(*frame, "test");
    std::vector<float> samples;
    ASSERT_TRUE(resampler.convert(*frame, samples));
    ASSERT_EQ(samples.size(), size_t{kSamples * kSoundChannels});
    EXPECT_NEAR(static_cast<double>(samples[0]) * 32768, 1000, 1);
    EXPECT_NEAR(static_cast<double>(samples[1]) * 32768, 1000 * right, 1);
  }
}

TEST(TempoChain, StaysInTheRangeOfTheFilter) {
  EXPECT_EQ(tempo_chain(1.5), "atempo=1.500000");
  EXPECT_EQ(tempo_chain(3), "atempo=2,atempo=1.500000");
  EXPECT_EQ(tempo_chain(4), "atempo=2,atempo=2.000000");
  EXPECT_EQ(tempo_chain(0.25), "atempo=0.5,atempo=0.500000");
}

}  // namespace
}  // namespace lensd
