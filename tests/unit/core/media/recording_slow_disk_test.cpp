// Recordings to disks whose sync or write takes long: nothing is lost, and the caller does not wait.

#include <chrono>
#include <fstream>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/owned_thread.hpp"
#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/files/file_ring.hpp"
#include "core/media/output/files/segments.hpp"
#include "tests/unit/core/media/recording_fixture.hpp"
#include "tests/unit/core/media/system_calls.hpp"

namespace lensd::test {
namespace {

using std::chrono::milliseconds;

class SlowDiskTest : public RecordingTest {
 protected:
  ~SlowDiskTest() override { join_stragglers(std::chrono::seconds(20)); }

  static RecordSettings split(bool live) {
    RecordSettings settings;
    settings.split_seconds = 1;
    settings.own_writer = live;
    return settings;
  }
  /// Returns the milliseconds that `step` takes.
  template <class Step>
  static int64_t time_of(Step&& step) {
    const int64_t begin = now_ns();
    step();
    return (now_ns() - begin) / 1'000'000;
  }
  /// Writes frames. Returns the milliseconds of the longest write().
  static int64_t longest_write(Recording& recording, int64_t first, int64_t count) {
    int64_t longest = 0;
    for (int64_t i = first; i < first + count; ++i)
      longest = std::max(longest, time_of([&] { write(recording, i, 1); }));
    return longest;
  }
};

TEST_F(SlowDiskTest, ASlowSyncDoesNotStopALiveRecording) {
  Recording recording(split(true), 25, "");
  const SlowDisk disk(folder_.path(), milliseconds(1500));
  recording.start(target("r.mkv"));
  EXPECT_LT(longest_write(recording, 0, 200), 1000) << "waits for the sync of a file";
  recording.stop();
  EXPECT_EQ(recording.report().frames, 200);
  ASSERT_EQ(files().size(), 8u);
  for (const std::string& f : files()) EXPECT_EQ(frames_in(f), 25u) << f;
}

TEST_F(SlowDiskTest, ABlockedWriteDoesNotStopALiveRecording) {
  Recording recording(split(true), 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 20);
  const SlowDisk disk(folder_.path(), {}, milliseconds(1500));
  EXPECT_LT(longest_write(recording, 20, 100), 1000) << "waits for the write of a packet";
  recording.stop();
  EXPECT_EQ(frames_in_all(), 120u);
}

TEST_F(SlowDiskTest, TheNextFileOfAnotherSourceDoesNotWaitForTheSync) {
  Recording recording(split(false), 25, "");
  const SlowDisk disk(folder_.path(), milliseconds(1500));
  recording.start(target("r.mkv"));
  EXPECT_LT(longest_write(recording, 0, 60), 1000);
  recording.stop();
  EXPECT_EQ(frames_in_all(), 60u);
}

TEST_F(SlowDiskTest, StopDoesNotWaitForASlowSyncAndTheFileIsComplete) {
  for (const bool live : {false, true}) {
    const std::string name = live ? "live.mkv" : "file.mkv";
    Recording recording({.own_writer = live}, 25, "");
    const SlowDisk disk(folder_.path(), milliseconds(3000));
    recording.start(target(name));
    write(recording, 0, 40);
    EXPECT_LT(time_of([&] { recording.stop(); }), 1500);
    EXPECT_EQ(frames_in(file(name)), 40u);
  }
}

TEST_F(SlowDiskTest, TheStopFlagEndsTheWaitForABlockedWrite) {
  std::atomic<bool> stop{false};
  RecordSettings settings;
  settings.own_writer = true;
  Recording recording(settings, 25, "", &stop);
  recording.start(target("r.mkv"));
  write(recording, 0, 40);
  std::this_thread::sleep_for(milliseconds(200));  // so that the packets so far are written
  const SlowDisk disk(folder_.path(), {}, milliseconds(3000));
  write(recording, 40, 10);
  stop = true;
  EXPECT_LT(time_of([&] { EXPECT_THROW(recording.stop(), Error); }), 1500);
}

TEST_F(SlowDiskTest, AFullDiskStopsALiveRecordingWithAnError) {
  Recording recording(split(true), 25, "");
  recording.start(target("r.mkv"));
  write(recording, 0, 60);
  std::this_thread::sleep_for(milliseconds(100));
  const SmallDisk disk(folder_.path(), 1);
  EXPECT_THROW(
      {
        write(recording, 60, 60);
        recording.stop();
      },
      Error);
  EXPECT_FALSE(recording.active());
  EXPECT_GE(frames_in_all(), 25u);
}

TEST_F(SlowDiskTest, AFailedSyncDoesNotMakeALiveRecordingWaitForTheNextFile) {
  Recording recording(split(true), 25, "");
  const SlowDisk disk(folder_.path(), milliseconds(3000));
  const FailingSync failure(milliseconds(100));
  recording.start(target("r.mkv"));
  const auto record_two_files = [&] {
    write(recording, 0, 45);
    std::this_thread::sleep_for(milliseconds(300));  // the sync of the first file fails
    write(recording, 45, 10);
    recording.stop();
  };
  EXPECT_LT(time_of([&] { EXPECT_THROW(record_two_files(), Error); }), 2000);
  EXPECT_EQ(frames_in(file("r-001.mkv")), 25u);
  EXPECT_GE(frames_in(file("r-002.mkv")), 1u);
}

TEST_F(SlowDiskTest, AFailedEncoderDoesNotMakeTheRecorderWaitForASlowSync) {
  ff::initialize();
  VideoEncoder encoder(output_format_of("matroska", "r.mkv"), pixels_format(kFormat), 25, {}, "test");
  const auto stream = std::make_shared<const EncodedStream>(EncodedStream{EncodedFormat(encoder), nullptr});
  Segments segments({}, target("r.mkv"));
  for (int i = 0; i < 100; ++i) {
    encoder.send(pixels(picture(kFormat, i).ref()), encoder.next_time(at(i)).ticks);
    while (const AVPacket* packet = encoder.receive()) segments.write(*packet, stream, 0);
  }
  const SlowDisk disk(folder_.path(), milliseconds(3000));
  EXPECT_LT(time_of([&] { segments.finish(); }), 1500);
  ASSERT_GT(segments.frames(), 0);
  EXPECT_EQ(frames_in(file("r.mkv")), static_cast<size_t>(segments.frames()));
}

TEST_F(SlowDiskTest, ARingContinuesWithAFileWhoseSyncWasNotAwaited) {
  {
    const SlowDisk disk(folder_.path(), milliseconds(2000));
    recorded(ring_of(2), "r.mkv", 25);
  }
  recorded(ring_of(2), "r.mkv", 50);
  EXPECT_EQ(files(), (std::vector{file("r-002.mkv"), file("r-003.mkv")}));
}

TEST_F(SlowDiskTest, AFileThatIsChangedDuringItsSyncStays) {
  const auto edit = [&](const char* name) { std::ofstream(file(name), std::ios::app) << "edited"; };
  {
    const SlowDisk disk(folder_.path(), milliseconds(2000));
    recorded(ring_of(1), "r.mkv", 25);  // returns before the sync
    edit("r-001.mkv");
    Recording recording(ring_of(1), 25, "");
    recording.start(target("s.mkv"));
    write(recording, 0, 60);
    edit("s-001.mkv");
    write(recording, 60, 70);
    recording.stop();
  }
  recorded(ring_of(1), "r.mkv", 75);
  recorded(ring_of(1), "s.mkv", 75);
  EXPECT_TRUE(get("r-001.mkv").ends_with("edited")) << "in the next run";
  EXPECT_TRUE(get("s-001.mkv").ends_with("edited")) << "in the same run";
}

TEST_F(SlowDiskTest, AFullRingOfManyFilesChecksFewOfThem) {
  constexpr int kFiles = 2000;
  FileRing ring(file("r.mkv"), "", {.duration_ns = kFiles * 1'000'000'000LL});
  int64_t calls = 0;
  for (int i = 0; i < kFiles + 20; ++i) {
    const std::string path = file("r-" + std::to_string(i) + ".mkv");
    std::ofstream(path) << "footage";
    ring.opened(path, file_state(path)->identity);
    ring.ended(1'000'000'000);
    const int64_t before = statx_calls();
    ring.closed(path);
    calls = std::max(calls, statx_calls() - before);
  }
  EXPECT_EQ(files().size(), static_cast<size_t>(kFiles));
  EXPECT_LT(calls, 50);
}

}  // namespace
}  // namespace lensd::test
