// RecorderSink: which frames are recorded, and the totals of a recording with several files.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "app/pipeline/pipeline.hpp"
#include "app/pipeline/recorder_sink.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

constexpr ImageFormat kFormat{PixelFormat::gray8, {64, 48}};
constexpr int64_t kFrameNs = 40'000'000;

class RecorderSinkTest : public testing::Test {
 protected:
  RecorderSinkTest() { info_.fps = 25, info_.live = false; }

  void open(const RecordSettings& settings = {}) { sink_ = std::make_unique<RecorderSink>(settings, info_); }
  /// Records to a file, as the daemon does.
  void start(const std::string& name) { sink_->start({.path = folder_ / name, .keep_trying = true}); }
  void frame(int64_t index, bool placeholder = false) {
    Frame frame = pool_->acquire();
    const ImageRef image = frame.image();
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) image.row(y)[x] = static_cast<uint8_t>(x * y + index * 7);
    frame.info.index = index, frame.info.pts_ns = index * kFrameNs, frame.info.duration_ns = kFrameNs;
    frame.info.placeholder = placeholder;
    sink_->take(frame, Picture(), {});
  }
  /// Ends the recording. Returns all notices.
  std::vector<Notice> notices_at_end() {
    sink_->stop();
    sink_->finish();
    return sink_->take_notices();
  }
  void frames(int64_t first, int64_t count) {
    for (int64_t i = first; i < first + count; ++i) frame(i);
  }
  /// Returns the options of a viewer's pipeline whose frames the sinks receive.
  static PipelineOptions played_into(std::vector<std::shared_ptr<FrameSink>> sinks) {
    PipelineOptions options;
    options.executor = {.threads = 1, .frames = 16};
    options.graph = parse_chain("invert", registry());
    options.paced = true, options.sinks = std::move(sinks);
    return options;
  }
  /// Returns the number of frames in a file.
  int64_t frames_in(const std::string& path) const {
    const auto source = open_source(path, {});
    int64_t count = 0;
    for (Picture picture; source->next(picture) == FrameOutcome::ok;) ++count;
    return count;
  }

  TemporaryFolder folder_;
  SourceInfo info_;
  std::shared_ptr<FramePool> pool_ = FramePool::make(kFormat, MemoryKind::host, 8);
  std::unique_ptr<RecorderSink> sink_;
};

TEST_F(RecorderSinkTest, AFileHasTheRateOfTheNewestConnection) {
  info_.fps = 0;  // the source was not there yet
  open();
  sink_->rate_changed(50);
  start("rate.mkv");
  frames(0, 20);
  sink_->stop();
  sink_->finish();
  EXPECT_NEAR(open_source(folder_ / "rate.mkv", {})->info().fps, 50, 0.1);
}

TEST_F(RecorderSinkTest, PlaceholdersAreNeverRecorded) {
  for (const double preroll : {0.0, 2.0}) {
    RecordSettings settings;
    settings.preroll_seconds = preroll;
    open(settings);
    const std::string name = preroll > 0 ? "preroll.mkv" : "plain.mkv";
    for (int64_t i = 0; i < 5; ++i) frame(i, true);  // would be in the pre-roll
    start(name);
    for (int64_t i = 5; i < 35; ++i) frame(i, i % 3 == 0);
    sink_->stop();
    sink_->finish();
    EXPECT_EQ(sink_->failure(), "");
    EXPECT_EQ(sink_->status().frames, 20) << name;
    EXPECT_EQ(frames_in(folder_ / name), 20) << name;
  }
}

TEST_F(RecorderSinkTest, ARequestEndsWithStopOrAFinalFailure) {
  open();
  EXPECT_FALSE(sink_->requested());
  start("a.mkv");
  ASSERT_TRUE(sink_->requested());
  EXPECT_EQ(sink_->requested()->path, folder_ / "a.mkv");
  sink_->stop();
  EXPECT_FALSE(sink_->requested());
  std::ofstream(folder_ / "file") << "x";
  int64_t next = 0;
  for (const bool keep_trying : {true, false}) {
    sink_->start({.path = folder_ / "file/b.mkv", .keep_trying = keep_trying});
    ASSERT_TRUE(eventually([&] { return frame(next++), !sink_->status().problem.empty(); }));
    EXPECT_EQ(sink_->requested().has_value(), keep_trying);
    sink_->start({.path = folder_ / "c.mkv"});
    ASSERT_TRUE(eventually([&] { return sink_->status().problem.empty(); }));
    EXPECT_TRUE(sink_->requested());
  }
}

TEST_F(RecorderSinkTest, TotalsGoOnAfterAFailureAndStartAgainWithTheNextRecording) {
  open();
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = 60'000;
  start("a.mkv");
  frame(0);
  setrlimit(RLIMIT_FSIZE, &full);  // the disk is full
  int64_t next = 1;
  const bool failed = eventually([&] { return frame(next++), sink_->status().failures == 1; });
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(failed);
  const SinkStatus stopped = sink_->status();
  EXPECT_FALSE(stopped.active);
  EXPECT_TRUE(stopped.wanted);
  EXPECT_NE(stopped.problem, "");
  EXPECT_EQ(stopped.frames, frames_in(folder_ / "a.mkv"));
  EXPECT_GT(stopped.frames, 0);
  EXPECT_EQ(stopped.files, 1);

  // The recording restarts automatically. The totals include the first file.
  ASSERT_TRUE(eventually([&] { return frame(next++), sink_->status().active; }));
  const SinkStatus resumed = sink_->status();
  EXPECT_GE(resumed.frames, stopped.frames);
  frames(next, 100);  // long enough to count as a success
  next += 100;
  sink_->stop();
  ASSERT_TRUE(eventually([&] { return !sink_->status().wanted; }));
  const SinkStatus complete = sink_->status();
  EXPECT_EQ(complete.files, 2);
  EXPECT_EQ(complete.failures, 1u);
  EXPECT_EQ(complete.problem, "") << "it works again";
  int64_t frames_of_files = 0, bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
    frames_of_files += frames_in(file.path());
    bytes += static_cast<int64_t>(file.file_size());
  }
  EXPECT_EQ(complete.frames, frames_of_files);
  EXPECT_NEAR(static_cast<double>(complete.bytes), static_cast<double>(bytes), 4096);

  start("b.mkv");
  frames(next, 10);
  sink_->stop();
  sink_->finish();
  EXPECT_EQ(sink_->status().frames, 10) << "another recording counts from 0";
  EXPECT_EQ(sink_->status().files, 1);
}

TEST_F(RecorderSinkTest, AFailureAtTheEndAnnouncesNoRetry) {
  RecordSettings settings;
  settings.encoder.codec = "ffv1";  // without delay
  open(settings);
  std::signal(SIGXFSZ, SIG_IGN);
  start("a.mkv");
  frames(0, 100);
  ASSERT_TRUE(eventually([&] { return sink_->status().frames == 100; }));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = std::filesystem::file_size(folder_ / "a.mkv");
  setrlimit(RLIMIT_FSIZE, &full);
  const std::vector<Notice> notices = notices_at_end();
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(notices.empty());
  EXPECT_TRUE(notices.back().text.starts_with("recording stopped: ")) << notices.back().text;
  EXPECT_EQ(notices.back().text.find("retrying"), std::string::npos) << notices.back().text;
  EXPECT_GT(sink_->status().frames, 0);
}

TEST_F(RecorderSinkTest, AStillImageThatIsShownAlreadyIsRecorded) {
  for (const bool paused : {false, true}) {
    auto image = std::make_unique<SyntheticSource>(Extent{64, 48}, 1);
    image->make_still();
    const auto sink = std::make_shared<RecorderSink>(RecordSettings{}, image->info());
    PipelineOptions options = played_into({sink});
    options.paused = paused;
    Pipeline pipeline(std::move(image), options, registry());
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.status().processed == 1; }));
    ASSERT_TRUE(eventually([&] { return paused || pipeline.status().ended; }));
    for (const char* name : {"a.mkv", "b.mkv"}) {
      const std::string path = folder_ / fmt::format("{}-{}", paused, name);
      pipeline.post(StartRecord{.path = path, .beneath = {}});
      EXPECT_TRUE(eventually([&] { return sink->status().wanted; }));
      pipeline.post(StopRecord{});
      EXPECT_TRUE(eventually([&] { return !sink->status().wanted; }));
      EXPECT_EQ(sink->status().frames, 1);
      EXPECT_EQ(frames_in(path), 1);
    }
    pipeline.stop();
    sink->finish();
    EXPECT_EQ(sink->failure(), "");
  }
}

/// Calls `then` on the process thread when it receives the first frame.
class FirstFrameSink final : public FrameSink {
 public:
  void take(const Frame&, const Picture&, const PixelAspects&) override {
    if (then) std::exchange(then, nullptr)();
  }
  void stop_soon() noexcept override {}
  SinkStatus status() const override { return {}; }
  std::vector<Notice> take_notices() override { return {}; }

  std::function<void()> then;
};

TEST_F(RecorderSinkTest, AStillImageIsRecordedBetweenItsFrameAndItsEnd) {
  auto image = std::make_unique<SyntheticSource>(Extent{64, 48}, 1);
  image->make_still();
  const auto sink = std::make_shared<RecorderSink>(RecordSettings{}, image->info());
  const auto first = std::make_shared<FirstFrameSink>();
  Pipeline pipeline(std::move(image), played_into({first, sink}), registry());
  const std::string path = folder_ / "still.mkv";
  first->then = [&] { pipeline.post(StartRecord{.path = path, .beneath = {}}); };
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
  pipeline.post(StopRecord{});
  EXPECT_TRUE(eventually([&] { return sink->status().begun == 1 && !sink->status().wanted; }));
  EXPECT_EQ(sink->status().frames, 1);
  pipeline.stop();
  sink->finish();
  EXPECT_EQ(sink->failure(), "");
}

TEST_F(RecorderSinkTest, ARecordingThatStartsWithinALongPictureHasIt) {
  constexpr int64_t kCoverNs = 20'000'000'000, kPartNs = 500'000'000;
  for (const bool paused : {false, true}) {
    SCOPED_TRACE(paused);
    auto cover = std::make_unique<SyntheticSource>(Extent{64, 48}, 1, -1, kCoverNs);
    const auto sink = std::make_shared<RecorderSink>(RecordSettings{}, cover->info());
    Pipeline pipeline(std::move(cover), played_into({sink}), registry());
    pipeline.start();
    const auto reached = [&](int64_t ns) {
      return eventually([&] { return pipeline.status().position_ns >= ns; });
    };
    ASSERT_TRUE(reached(kPartNs));
    if (paused) pipeline.post(Pause{true});
    const std::string path = folder_ / fmt::format("{}.mkv", paused);
    const int64_t before = pipeline.status().position_ns;
    pipeline.post(StartRecord{.path = path, .beneath = {}});
    ASSERT_TRUE(eventually([&] { return sink->status().wanted; }));
    const int64_t begin = pipeline.status().position_ns;
    if (paused) pipeline.post(Pause{false});
    ASSERT_TRUE(reached(begin + kPartNs));
    pipeline.post(StopRecord{});
    ASSERT_TRUE(eventually([&] { return !sink->status().wanted; }));
    const int64_t recorded = pipeline.status().position_ns - before;
    pipeline.stop();
    sink->finish();
    EXPECT_EQ(sink->failure(), "");
    const auto file = open_source(path, {});
    std::vector<int64_t> times;
    for (Picture picture; file->next(picture) == FrameOutcome::ok;) times.push_back(picture.info.pts_ns);
    ASSERT_EQ(times.size(), 2u) << "the picture, and its end when the recording was stopped";
    EXPECT_EQ(times[0], 0);
    EXPECT_GE(times[1], kPartNs / 2);
    EXPECT_LE(times[1], recorded + kPartNs / 5);
  }
}

TEST_F(RecorderSinkTest, ABurstOfALiveSourceIsRecordedWhole) {
  info_.live = true;
  open();
  start("burst.mkv");
  frames(0, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // starts the encoder
  for (int64_t i = 2; i < 24; ++i) {
    sink_->arriving({.burst = true});
    frame(i);
  }
  sink_->stop();
  sink_->finish();
  EXPECT_EQ(sink_->status().dropped, 0u);
  EXPECT_EQ(frames_in(folder_ / "burst.mkv"), 24);
}

TEST_F(RecorderSinkTest, FramesLostBeforeTheRecorderAreReported) {
  info_.live = true;
  open();
  sink_->arriving({.dropped = 7});
  frame(0);
  start("lost.mkv");
  // Pictures that were dropped before the first frame are not missing in the recording.
  for (const auto& [index, dropped] : {std::pair(1, 8), std::pair(2, 10), std::pair(3, 13)}) {
    sink_->arriving({.dropped = static_cast<uint64_t>(dropped)});
    frame(index);
  }
  EXPECT_EQ(sink_->status().missed, 5u);
  sink_->stop();
  sink_->arriving({.dropped = 20});
  frame(4);
  sink_->finish();
  EXPECT_EQ(sink_->status().missed, 5u);
  const std::vector<Notice> notices = sink_->take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].text.find("; 5 frames lost before the recorder"), std::string::npos)
      << notices[0].text;
}

TEST_F(RecorderSinkTest, TheLossesOfAFailedRecordingAreNotReportedWithTheNextOne) {
  info_.live = true;
  open();
  std::ofstream(folder_ / "file") << "x";
  sink_->start({.path = folder_ / "file/a.mkv"});
  sink_->arriving({});
  int64_t next = 0;
  ASSERT_TRUE(eventually([&] {
    sink_->arriving({.dropped = 3});
    frame(next++);
    return !sink_->status().problem.empty();
  }));
  EXPECT_EQ(sink_->status().missed, 3u);
  start("b.mkv");
  sink_->arriving({.dropped = 3});
  frame(next);
  const std::vector<Notice> notices = notices_at_end();
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_NE(notices[1].text.find("recorded 1 frames"), std::string::npos) << notices[1].text;
  EXPECT_EQ(notices[1].text.find("lost"), std::string::npos) << notices[1].text;
}

TEST_F(RecorderSinkTest, LossesBelongToTheRecordingThatWasStartedBeforeThem) {
  info_.live = true;
  open();
  start("a.mkv");
  sink_->arriving({});
  frame(0);
  ASSERT_TRUE(eventually([&] { return sink_->status().active; }));
  // The recorder's thread may complete a.mkv later than these are counted.
  sink_->start({.path = folder_ / "b.mkv"});
  sink_->arriving({});
  frame(1);
  sink_->arriving({.dropped = 4});
  frame(2);
  const std::vector<Notice> notices = notices_at_end();
  ASSERT_EQ(notices.size(), 2u);
  EXPECT_EQ(notices[0].text.find("lost"), std::string::npos) << notices[0].text;
  EXPECT_NE(notices[1].text.find("4 frames lost"), std::string::npos) << notices[1].text;
}

}  // namespace
}  // namespace lensd
