// core/media/sound: decoding, exact seeks, tempo.
#include <gtest/gtest.h>

#include "core/media/sound/sound_codec.hpp"
#include "core/media/sound/sound_decoder.hpp"
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

TEST(TempoChain, StaysInTheRangeOfTheFilter) {
  EXPECT_EQ(tempo_chain(1.5), "atempo=1.500000");
  EXPECT_EQ(tempo_chain(3), "atempo=2,atempo=1.500000");
  EXPECT_EQ(tempo_chain(4), "atempo=2,atempo=2.000000");
  EXPECT_EQ(tempo_chain(0.25), "atempo=0.5,atempo=0.500000");
}

}  // namespace
}  // namespace lensd
