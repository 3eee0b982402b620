// The sound of live streams, with a simulated output and packets in real time.
#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "core/base/clock.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/sound/live_sound.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/sound/fake_speaker.hpp"

namespace lensd {
namespace {

constexpr int64_t kMilli = 1'000'000, kPacketNs = 20 * kMilli;
constexpr int kRate = 48000, kPacketFrames = 960;
/// The timestamp of the first packet of every stream.
constexpr int64_t kFirstNs = 7'000'000'000;

class LiveSoundTest : public testing::Test {
 protected:
  void TearDown() override {
    end_sender();
    sound_.reset();
  }
  void open() {
    SoundOptions options;
    options.output = [this](const std::function<void()>&) {
      return std::make_unique<test::FakeOutput>(speaker_);
    };
    sound_ = make_live_sound(audio_, "test", std::move(options));
  }
  void connect(AVCodecID codec = AV_CODEC_ID_PCM_S16LE) {
    ff::ParametersPtr parameters(avcodec_parameters_alloc());
    parameters->codec_type = AVMEDIA_TYPE_AUDIO, parameters->codec_id = codec;
    parameters->sample_rate = rate_, parameters->format = AV_SAMPLE_FMT_S16;
    av_channel_layout_default(&parameters->ch_layout, 2);
    audio_->connected(parameters.get(), {1, kRate}, false);
  }
  /// Sends packets in real time: silence, and from `loud_ns` of stream time on a constant level.
  void send(int64_t loud_ns) {
    end_sender();
    sending_ = true;
    begin_ns_ = now_ns();
    sender_ = std::thread([this, loud_ns] {
      for (int64_t i = 0; sending_; ++i) {
        put(i * kPacketNs, loud_ns);
        std::this_thread::sleep_for(std::chrono::nanoseconds(begin_ns_ + (i + 1) * kPacketNs - now_ns()));
      }
    });
  }
  void end_sender() {
    sending_ = false;
    if (sender_.joinable()) sender_.join();
  }
  void put(int64_t at_ns, int64_t loud_ns) {
    const ff::PacketPtr packet = ff::make_packet();
    ASSERT_EQ(av_new_packet(packet.get(), kPacketFrames * 4), 0);
    packet->pts = ff::to_ticks(kFirstNs + at_ns, {1, kRate});
    for (int i = 0; i < kPacketFrames; ++i) {
      const int64_t time = at_ns + int64_t{i} * 1'000'000'000 / kRate;
      const int16_t value = time >= loud_ns ? 16384 : 0;
      std::memcpy(packet->data + i * 4, &value, 2);
      std::memcpy(packet->data + i * 4 + 2, &value, 2);
    }
    audio_->put(*packet);
  }
  int64_t first_loud(int64_t from_ns = 0) {
    std::vector<int64_t> times;
    EXPECT_TRUE(eventually([&] { return !(times = speaker_.loud(from_ns, 0.1f)).empty(); }));
    return times.empty() ? 0 : times.front();
  }
  int64_t due(int64_t at_ns) const { return audio_->due_ns(audio_->number(), kFirstNs + at_ns); }

  test::FakeSpeaker speaker_;
  std::shared_ptr<LiveAudio> audio_ = std::make_shared<LiveAudio>(0);
  std::unique_ptr<PlaybackSound> sound_;
  std::thread sender_;
  std::atomic<bool> sending_{false};
  int64_t begin_ns_ = 0;
  int rate_ = kRate;  ///< that the stream announces
};

TEST_F(LiveSoundTest, APictureIsDueWhenItsSoundIsHeard) {
  open();
  connect();
  send(1000 * kMilli);
  const int64_t heard = first_loud();
  EXPECT_NEAR(static_cast<double>(heard - due(1000 * kMilli)), 0, 10.0 * kMilli);
  EXPECT_LT(heard - begin_ns_, 1400 * kMilli) << "the delay is small";
  EXPECT_EQ(sound_->state(), SoundState::playing);
  // A picture of another connection has no sound.
  EXPECT_EQ(audio_->due_ns(audio_->number() + 1, kFirstNs), 0);
}

TEST_F(LiveSoundTest, PicturesThatArriveLaterThanTheirSoundDelayIt) {
  open();
  connect();
  send(1500 * kMilli);
  ASSERT_TRUE(eventually([&] { return due(0) != 0; }));
  const int64_t before = due(0);
  // Pictures arrive 500 ms after the audio of the same time.
  const int64_t at = now_ns() - begin_ns_;
  audio_->picture(kFirstNs + at - 500 * kMilli, now_ns());
  ASSERT_TRUE(eventually([&] { return due(0) - before > 300 * kMilli; }));
  const int64_t heard = first_loud();
  EXPECT_NEAR(static_cast<double>(heard - due(1500 * kMilli)), 0, 10.0 * kMilli);
  EXPECT_GT(heard - begin_ns_, 2000 * kMilli);
}

TEST_F(LiveSoundTest, APauseIsSilentAndPicturesDoNotWait) {
  open();
  connect();
  send(0);
  first_loud();
  SoundCue paused;
  paused.run = 1;
  sound_->cue(paused);
  ASSERT_TRUE(eventually([&] { return due(0) == 0; }));
  const int64_t silent = now_ns() + 200 * kMilli;
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_TRUE(speaker_.loud(silent, 0.1f).empty());
  SoundCue playing = paused;
  playing.seeking = true, playing.run = 2;
  sound_->cue(playing);
  first_loud(silent);
  EXPECT_TRUE(eventually([&] { return due(0) != 0; }));
}

TEST_F(LiveSoundTest, PicturesDoNotWaitForAudioThatHasEnded) {
  open();
  connect();
  send(0);
  first_loud();
  ASSERT_TRUE(eventually([&] { return due(0) != 0; }));
  end_sender();
  EXPECT_TRUE(eventually([&] { return due(0) == 0; }));
}

TEST_F(LiveSoundTest, PacketsThatCannotBeDecodedMakeTheSourceConnectAgain) {
  open();
  connect(AV_CODEC_ID_MP2);
  send(0);  // PCM is no MP2
  EXPECT_TRUE(eventually([&] { return sound_->state() == SoundState::broken; }));
  EXPECT_FALSE(audio_->unreadable()) << "it never was readable";
  end_sender();
  connect();
  send(0);
  first_loud();
  end_sender();
  const ff::PacketPtr packet = ff::make_packet();
  for (int i = 0; i < 60; ++i) {
    av_packet_unref(packet.get());
    ASSERT_EQ(av_new_packet(packet.get(), 1), 0);  // less than a sample
    packet->pts = ff::to_ticks(kFirstNs, {1, kRate});
    audio_->put(*packet);
  }
  EXPECT_TRUE(eventually([&] { return audio_->unreadable(); }));
  connect();
  EXPECT_FALSE(audio_->unreadable());
}

TEST_F(LiveSoundTest, AbsurdRatesAreRefused) {
  open();
  rate_ = 1;
  connect();
  send(0);
  EXPECT_TRUE(eventually([&] { return sound_->state() == SoundState::broken; }));
  end_sender();
  rate_ = kRate;
  connect();
  send(0);
  first_loud();
  EXPECT_EQ(sound_->state(), SoundState::playing);
}

TEST_F(LiveSoundTest, SoundContinuesAfterAnOutage) {
  open();
  connect();
  send(0);
  first_loud();
  end_sender();
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const int64_t again = now_ns();
  connect();
  send(0);
  first_loud(again + 100 * kMilli);
  EXPECT_TRUE(eventually([&] { return due(0) >= again; }));
}

TEST_F(LiveSoundTest, AConnectionWithoutUsableAudioSaysWhy) {
  open();
  EXPECT_TRUE(eventually([&] { return sound_->state() == SoundState::unknown; })) << "not connected";
  audio_->connected(nullptr, {1, 1}, false);
  EXPECT_TRUE(eventually([&] { return sound_->state() == SoundState::no_track; }));
  connect(AV_CODEC_ID_NONE);
  EXPECT_TRUE(eventually([&] { return sound_->state() == SoundState::broken; }));
  connect(AV_CODEC_ID_NONE);
  EXPECT_EQ(due(0), 0);
  connect();
  send(0);
  first_loud();
  EXPECT_EQ(sound_->state(), SoundState::playing);
  EXPECT_EQ(sound_->take_notices().size(), 1u) << "each reason is reported once";
}

TEST_F(LiveSoundTest, WithoutASoundServerPicturesDoNotWait) {
  speaker_.link = SoundOutput::Link::lost;
  open();
  connect();
  send(0);
  ASSERT_TRUE(eventually([&] { return sound_->state() == SoundState::no_server; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_EQ(due(0), 0);
}

TEST(LiveAudio, KeepsTheNewestPacketsAndRefusesAbsurdOnes) {
  LiveAudio audio(0);
  ff::ParametersPtr parameters(avcodec_parameters_alloc());
  audio.connected(parameters.get(), {1, 1000}, false);
  const ff::PacketPtr packet = ff::make_packet();
  const auto put = [&](int64_t pts, int size) {
    av_packet_unref(packet.get());
    ASSERT_EQ(av_new_packet(packet.get(), size), 0);
    packet->pts = pts;
    audio.put(*packet);
  };
  for (int i = 0; i < 1000; ++i) put(i, 1 << 16);
  put(5000, (1 << 20) + 1);
  put(INT64_MAX - 1, 8);
  put(INT64_MIN + 1, 8);
  int count = 0;
  int64_t newest = 0;
  while (audio.take(*packet, audio.number(), 0)) ++count, newest = packet->pts;
  EXPECT_EQ(count, 255);  // 16 MiB, with the padding of packets
  EXPECT_EQ(newest, 999);
  uint64_t place = 0;
  ASSERT_TRUE(audio.next(*packet, audio.number(), place));
  EXPECT_EQ(packet->pts, 999 - 254) << "a recording also gets packets that were heard";
  EXPECT_EQ(place, 1000 - 254u);
  put(1000, 8);
  EXPECT_FALSE(audio.take(*packet, audio.number() + 1, 0)) << "another connection";
}

}  // namespace
}  // namespace lensd
