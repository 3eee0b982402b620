// Recordings of live sources copy the audio of the connection, at the times of its pictures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "core/media/input/input.hpp"
#include "core/media/live/live_audio.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"

namespace lensd {
namespace {

using namespace test;

constexpr int64_t kMs = 1'000'000, kFrameNs = 40 * kMs, kPacketNs = 20 * kMs;
constexpr int kSamples = 160;  // of a packet, at 8 kHz
/// Timestamp of the first picture in the stream.
constexpr int64_t kStampNs = 5'000'000'000;

class LiveRecordingTest : public RecordingTest {
 protected:
  LiveRecordingTest() { source_.live = audio_; }

  void connect(int rate = 8000) {
    ff::ParametersPtr codec(avcodec_parameters_alloc());
    codec->codec_type = AVMEDIA_TYPE_AUDIO, codec->codec_id = AV_CODEC_ID_PCM_S16LE;
    codec->sample_rate = rate, codec->format = AV_SAMPLE_FMT_S16;
    codec->bits_per_coded_sample = 16, codec->block_align = 2;
    av_channel_layout_default(&codec->ch_layout, 1);
    audio_->connected(codec.get(), ff::kNanoseconds, false);
  }
  /// Returns the packet with stream time `at_ns`. All samples are the packet's number.
  static ff::PacketPtr sound_at(int64_t at_ns) {
    ff::PacketPtr packet = ff::make_packet();
    EXPECT_EQ(av_new_packet(packet.get(), kSamples * 2), 0);
    const auto value = static_cast<int16_t>(at_ns / kPacketNs);
    for (int i = 0; i < kSamples; ++i) std::memcpy(packet->data + i * 2, &value, 2);
    packet->pts = packet->dts = at_ns, packet->duration = kPacketNs;
    return packet;
  }
  /// Sends the packets with stream times from `from_ns` up to `to_ns`.
  void send(int64_t from_ns, int64_t to_ns) {
    for (int64_t at = from_ns; at < to_ns; at += kPacketNs) audio_->put(*sound_at(at));
  }
  /// Records pictures; the first one's timestamp in the stream is `stamp_ns`. `connection`: 0 for the newest
  /// one.
  void record(Recording& recording, int64_t first, int64_t count, int64_t stamp_ns, uint32_t connection = 0) {
    for (int64_t i = 0; i < count; ++i) {
      FrameInfo info = at(first + i);
      info.pts_ns = (first + i) * kFrameNs, info.stamp_ns = stamp_ns + i * kFrameNs, info.serial = serial_;
      info.connection = connection ? connection : audio_->number();
      recording.write(picture(kFormat, static_cast<int>(first + i)).ref(), info);
    }
  }
  /// Returns the time in the file in ms by packet number; empty if the file has no audio.
  static std::map<int, int64_t> packets_in(const std::string& path) {
    std::map<int, int64_t> found;
    try {
      const StopFlags stop;
      Input input(path, StreamKind::audio, stop);
      for (const ff::PacketPtr packet = ff::make_packet(); input.read(*packet) >= 0;) {
        int16_t value = 0;
        std::memcpy(&value, packet->data, 2);
        const auto at = ff::to_ns(packet->pts, input.stream()->time_base);
        EXPECT_TRUE(found.emplace(value, (at + kMs / 2) / kMs).second) << value << " is twice in " << path;
      }
    } catch (const Error&) {
      // no audio
    }
    return found;
  }
  /// Returns the times of the pictures in ms, in their order.
  static std::vector<int64_t> pictures_in(const std::string& path) {
    const StopFlags stop;
    Input input(path, StreamKind::video, stop);
    std::vector<int64_t> times;
    for (const ff::PacketPtr packet = ff::make_packet(); input.read(*packet) >= 0;)
      times.push_back((ff::to_ns(packet->pts, input.stream()->time_base) + kMs / 2) / kMs);
    std::ranges::sort(times);
    return times;
  }
  static std::map<int, int64_t> expected(int64_t from_ns, int64_t to_ns, int64_t first_ms) {
    std::map<int, int64_t> packets;
    for (int64_t at = from_ns; at < to_ns; at += kPacketNs)
      packets[static_cast<int>(at / kPacketNs)] = first_ms + (at - from_ns) / kMs;
    return packets;
  }

  /// Records a second of a sender, and after a placeholder a second from the start of its clock.
  void restart_sender(bool reconnects) {
    connect();
    Recording recording({}, 25, source_);
    recording.start(target("r.mkv"));
    send(kStampNs, kStampNs + 1500 * kMs);  // half a second more than pictures
    record(recording, 0, 25, kStampNs);
    if (reconnects) connect();
    const int64_t restarted = 900'000'000;
    send(restarted - 100 * kMs, restarted + 1000 * kMs);
    serial_ = 2;
    record(recording, 100, 25, restarted);  // after three seconds, which the recording leaves out
    recording.stop();
    auto packets = expected(kStampNs, kStampNs + 1000 * kMs, 0);
    packets.merge(expected(restarted, restarted + 1000 * kMs, 1000));
    EXPECT_EQ(packets_in(file("r.mkv")), packets);
    std::vector<int64_t> pictures(50);
    for (size_t i = 0; i < pictures.size(); ++i) pictures[i] = static_cast<int64_t>(i) * kFrameNs / kMs;
    EXPECT_EQ(pictures_in(file("r.mkv")), pictures) << "the time between the senders is left out";
  }

  std::shared_ptr<LiveAudio> audio_ = std::make_shared<LiveAudio>(0);
  AudioSource source_;
  uint32_t serial_ = 1;
};

TEST_F(LiveRecordingTest, TheSoundHasTheTimesOfItsPictures) {
  connect();
  send(kStampNs - 300 * kMs, kStampNs + 2000 * kMs);  // before the pictures, which wait for the graph
  Recording recording({}, 25, source_);
  recording.start(target("r.mkv"));
  record(recording, 0, 50, kStampNs);
  recording.stop();
  EXPECT_EQ(packets_in(file("r.mkv")), expected(kStampNs, kStampNs + 2000 * kMs, 0));
}

TEST_F(LiveRecordingTest, FramesWithoutTimesFollowTheFrameBeforeThem) {
  connect();
  // FFmpeg splits a packet of a transport stream into frames of which only the first one has a time.
  for (int64_t at = kStampNs; at < kStampNs + 1000 * kMs; at += kPacketNs) {
    const ff::PacketPtr packet = sound_at(at);
    packet->duration = 0;
    if ((at - kStampNs) / kPacketNs % 5 != 0) packet->pts = packet->dts = AV_NOPTS_VALUE;
    audio_->put(*packet);
  }
  Recording recording({}, 25, source_);
  recording.start(target("r.mkv"));
  record(recording, 0, 25, kStampNs);
  recording.stop();
  EXPECT_EQ(packets_in(file("r.mkv")), expected(kStampNs, kStampNs + 1000 * kMs, 0));
}

TEST_F(LiveRecordingTest, FilesOfASplitRecordingHaveTheSoundThatArrivesLater) {
  connect();
  RecordSettings settings;
  settings.split_seconds = 1, settings.own_writer = true;
  Recording recording(settings, 25, source_);
  recording.start(target("r.mkv"));
  // Sound follows 200 ms after its picture, in real time.
  for (int64_t i = 0; i < 75; ++i) {
    record(recording, i, 1, kStampNs + i * kFrameNs);
    if (i >= 5) send(kStampNs + (i - 5) * kFrameNs, kStampNs + (i - 4) * kFrameNs);
    std::this_thread::sleep_for(std::chrono::nanoseconds(kFrameNs));
  }
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    send(kStampNs + 70 * kFrameNs, kStampNs + 80 * kFrameNs);
  });
  recording.stop();
  late.join();
  ASSERT_EQ(files().size(), 3u);
  for (int64_t n = 0; n < 3; ++n) {
    const int64_t begin = kStampNs + n * 1000 * kMs;
    EXPECT_EQ(packets_in(files()[static_cast<size_t>(n)]), expected(begin, begin + 1000 * kMs, 0)) << n;
  }
}

TEST_F(LiveRecordingTest, ThePrerollHasSound) {
  connect();
  RecordSettings settings;
  settings.preroll_seconds = 1;
  Recording recording(settings, 25, source_);
  send(kStampNs, kStampNs + 4000 * kMs);
  record(recording, 0, 75, kStampNs);
  recording.start(target("r.mkv"));
  record(recording, 75, 25, kStampNs + 75 * kFrameNs);
  recording.stop();
  const auto packets = packets_in(file("r.mkv"));
  ASSERT_FALSE(packets.empty());
  const auto frames = static_cast<int64_t>(frames_in(file("r.mkv")));
  EXPECT_GE(frames, 50);
  const int64_t begin = kStampNs + (100 - frames) * kFrameNs;
  EXPECT_EQ(packets, expected(begin, kStampNs + 4000 * kMs, 0));
}

TEST_F(LiveRecordingTest, AfterAReconnectionTheSoundFollowsItsPictures) {
  restart_sender(true);
}

TEST_F(LiveRecordingTest, AfterAJumpOfTheSendersClockTheSoundFollowsItsPictures) {
  restart_sender(false);
}

TEST_F(LiveRecordingTest, IfTheTimesOfPicturesMoveTheSoundMovesToo) {
  connect();
  Recording recording({}, 25, source_);
  recording.start(target("r.mkv"));
  send(kStampNs, kStampNs + 2500 * kMs);
  record(recording, 0, 25, kStampNs);
  record(recording, 27, 13, kStampNs + 1000 * kMs);  // two frames later than the stream says
  record(recording, 70, 20, kStampNs + 1520 * kMs);  // a clock that is corrected
  recording.stop();
  const auto packets = packets_in(file("r.mkv"));
  const auto last = packets.find(static_cast<int>((kStampNs + 1500 * kMs) / kPacketNs));
  ASSERT_NE(last, packets.end());
  EXPECT_EQ(last->second, 1580);
  const auto corrected = packets.find(static_cast<int>((kStampNs + 2000 * kMs) / kPacketNs));
  ASSERT_NE(corrected, packets.end());
  EXPECT_EQ(corrected->second, 70 * 40 + 480);
}

TEST_F(LiveRecordingTest, OtherAudioBeginsAnotherFile) {
  connect(8000);
  Recording recording({}, 25, source_);
  recording.start(target("r.mkv"));
  send(kStampNs, kStampNs + 1000 * kMs);
  record(recording, 0, 25, kStampNs);
  connect(16000);
  send(kStampNs + 1000 * kMs, kStampNs + 2000 * kMs);
  serial_ = 2;
  record(recording, 25, 25, kStampNs + 1000 * kMs);
  recording.stop();
  ASSERT_EQ(files().size(), 2u);
  EXPECT_EQ(packets_in(file("r.mkv")), expected(kStampNs, kStampNs + 1000 * kMs, 0));
  const std::string second = files()[0] == file("r.mkv") ? files()[1] : files()[0];
  EXPECT_EQ(packets_in(second), expected(kStampNs + 1000 * kMs, kStampNs + 2000 * kMs, 0));
}

TEST_F(LiveRecordingTest, PicturesOfAnOlderConnectionDoNotSplitTheRecording) {
  connect(8000);
  send(kStampNs, kStampNs + 1000 * kMs);
  const uint32_t older = audio_->number();
  connect(16000);  // the recording starts with pictures that are still in flight
  Recording recording({}, 25, source_);
  recording.start(target("r.mkv"));
  record(recording, 0, 25, kStampNs, older);
  recording.stop();
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(packets_in(file("r.mkv")), expected(kStampNs, kStampNs + 1000 * kMs, 0));
}

TEST_F(LiveRecordingTest, AudioThatIsAddedLaterIsRecorded) {
  connect();
  connect();  // the same codec; pictures of the first connection are still in flight
  send(kStampNs, kStampNs + 2000 * kMs);
  Recording recording({}, 25, source_);
  recording.start(target("r.mkv"));
  record(recording, 0, 10, kStampNs, audio_->number() - 1);
  record(recording, 10, 40, kStampNs + 400 * kMs);
  recording.stop();
  EXPECT_EQ(packets_in(file("r.mkv")), expected(kStampNs + 400 * kMs, kStampNs + 2000 * kMs, 400));
}

TEST_F(LiveRecordingTest, AnnouncedAudioThatNeverComesDoesNotKeepAnMp4InMemory) {
  connect();
  Recording recording({}, 25, source_);
  recording.start(target("r.mov"));
  record(recording, 0, 100, kStampNs);
  EXPECT_GT(recording.report().bytes, 5000);
  recording.stop();
  EXPECT_EQ(frames_in(file("r.mov")), 100u);
}

TEST_F(LiveRecordingTest, AudioThatBeginsLateKeepsItsTime) {
  for (const char* name : {"r.mov", "r.mkv"}) {
    audio_ = std::make_shared<LiveAudio>(0), source_.live = audio_;
    connect();
    Recording recording({}, 25, source_);
    recording.start(target(name));
    record(recording, 0, 75, kStampNs);
    send(kStampNs + 3000 * kMs, kStampNs + 4000 * kMs);
    record(recording, 75, 25, kStampNs + 3000 * kMs);
    recording.stop();
    EXPECT_EQ(packets_in(file(name)), expected(kStampNs + 3000 * kMs, kStampNs + 4000 * kMs, 3000)) << name;
    EXPECT_EQ(frames_in(file(name)), 100u);
  }
}

TEST_F(LiveRecordingTest, ANewConfigurationInThePacketsLeavesTheHeaderIntact) {
  for (const char* name : {"r.mkv", "r.mp4"}) {
    audio_ = std::make_shared<LiveAudio>(0), source_.live = audio_;
    ff::ParametersPtr codec(avcodec_parameters_alloc());
    codec->codec_type = AVMEDIA_TYPE_AUDIO, codec->codec_id = AV_CODEC_ID_AAC;
    codec->sample_rate = 48000, codec->frame_size = 1024;
    av_channel_layout_default(&codec->ch_layout, 1);
    constexpr uint8_t kConfig[] = {0x11, 0x88, 0x56, 0xE5, 0x00};  // LC, 48 kHz, mono, no SBR
    codec->extradata = static_cast<uint8_t*>(av_mallocz(sizeof kConfig + AV_INPUT_BUFFER_PADDING_SIZE));
    codec->extradata_size = sizeof kConfig;
    std::memcpy(codec->extradata, kConfig, sizeof kConfig);
    audio_->connected(codec.get(), ff::kNanoseconds, false);
    for (int64_t at = kStampNs; at < kStampNs + 1000 * kMs; at += kPacketNs) {
      const ff::PacketPtr packet = sound_at(at);
      if (at == kStampNs + 500 * kMs)
        std::memcpy(av_packet_new_side_data(packet.get(), AV_PKT_DATA_NEW_EXTRADATA, 2), kConfig, 2);
      audio_->put(*packet);
    }
    Recording recording({}, 25, source_);
    recording.start(target(name));
    record(recording, 0, 25, kStampNs);
    recording.stop();
    EXPECT_EQ(frames_in(file(name)), 25u) << name;
    const StopFlags stop;
    const Input input(file(name), StreamKind::audio, stop);
    const AVCodecParameters& written = *input.stream()->codecpar;
    ASSERT_EQ(written.extradata_size, static_cast<int>(sizeof kConfig)) << name;
    EXPECT_EQ(std::memcmp(written.extradata, kConfig, sizeof kConfig), 0) << name;
  }
}

TEST_F(LiveRecordingTest, AConnectionWithoutAudioIsRecordedWithoutASoundTrack) {
  audio_->connected(nullptr, {1, 1}, false);
  Recording recording({}, 25, source_);
  recording.start(target("r.mkv"));
  record(recording, 0, 25, kStampNs);
  recording.stop();
  EXPECT_EQ(frames_in(file("r.mkv")), 25u);
  EXPECT_TRUE(packets_in(file("r.mkv")).empty());
}

}  // namespace
}  // namespace lensd
