// Session: recordings, and commands while a source is being replaced.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/pipeline/recorder_sink.hpp"
#include "app/serve/session.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

/// Calls a function when its pipeline is shut down.
class ShutdownSink final : public QueueSink {
 public:
  explicit ShutdownSink(std::function<void()> at_end) : QueueSink(25), at_end_(std::move(at_end)) {
    run(false);
  }
  ~ShutdownSink() override { finish(); }

  void take(const Frame&, const Picture&, const PixelAspects&) override {}
  SinkStatus status() const override {
    SinkStatus s;
    s.kind = SinkKind::virtual_camera;
    return s;
  }

 private:
  void handle(Job&) override {}
  void complete() override { at_end_(); }

  const std::function<void()> at_end_;
};

/// A recorder that records nothing and keeps the last command.
class CommandSink final : public FrameSink {
 public:
  void take(const Frame&, const Picture&, const PixelAspects&) override {
    while (blocks) {
      blocked = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void start(const StartRecord& command) override {
    const std::lock_guard lock(mutex_);
    command_ = command;
  }
  void stop_soon() noexcept override {}
  SinkStatus status() const override { return {}; }
  std::vector<Notice> take_notices() override { return {}; }

  std::optional<StartRecord> command() const {
    const std::lock_guard lock(mutex_);
    return command_;
  }

  std::atomic<bool> blocks{false}, blocked{false};  ///< of the pipeline's process thread

 private:
  mutable std::mutex mutex_;
  std::optional<StartRecord> command_;
};

/// A recorder that completes its file when the test allows it.
class SlowRecorder final : public FrameSink {
 public:
  void take(const Frame&, const Picture&, const PixelAspects&) override {}
  void stop_soon() noexcept override {}
  SinkStatus status() const override {
    SinkStatus s;
    s.wanted = !complete;
    return s;
  }
  std::vector<Notice> take_notices() override { return {}; }

  std::atomic<bool> complete{false};
};

template <class F>
Response response_of(F request) {
  const auto promise = std::make_shared<std::promise<Response>>();
  std::future<Response> future = promise->get_future();
  request([promise](Response response) { promise->set_value(std::move(response)); });
  if (future.wait_for(std::chrono::seconds(30)) != std::future_status::ready)
    return {Status::failed, "no reply"};
  return future.get();
}

TEST(SessionLoad, ARecordingContinuesAlthoughClientsFillTheQueueMeanwhile) {
  const TemporaryFolder folder;
  Session* running = nullptr;
  SessionOptions options;
  options.captures = folder / "captures";
  options.open = [&running](const std::string& name, const GraphDesc& graph, const std::atomic<bool>&) {
    PipelineOptions o;
    o.executor = {.threads = 1, .frames = 6};
    o.graph = graph, o.paced = true;
    auto source = std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000);
    o.sinks = {std::make_shared<RecorderSink>(RecordSettings{}, source->info())};
    if (name == "first")
      o.sinks.push_back(std::make_shared<ShutdownSink>([&running] {
        while (running->post(EditMark{1})) continue;
      }));
    return std::make_unique<Pipeline>(std::move(source), o, registry());
  };
  Session session(std::move(options), registry());
  running = &session;
  session.start("first", parse_chain("mosaic", registry()));
  const Response begun =
      response_of([&](Reply reply) { session.record(true, {.path = "a.mkv"}, std::move(reply)); });
  ASSERT_EQ(begun.error, "");
  ASSERT_EQ(response_of([&](Reply reply) { session.load("second", std::move(reply)); }).error, "");
  EXPECT_TRUE(eventually([&] { return session.state().record.path == folder / "captures/a-2.mkv"; }));
  EXPECT_TRUE(session.state().record.active);
  session.stop();
}

TEST(SessionLoad, ARecordingOfAClientCreatesFoldersWithADate) {
  const TemporaryFolder folder;
  SessionOptions options;
  options.captures = folder / "captures";
  options.open = [](const std::string&, const GraphDesc& graph, const std::atomic<bool>&) {
    PipelineOptions o;
    o.executor = {.threads = 1, .frames = 6};
    o.graph = graph, o.paced = true;
    auto source = std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000);
    o.sinks = {std::make_shared<RecorderSink>(RecordSettings{}, source->info())};
    return std::make_unique<Pipeline>(std::move(source), o, registry());
  };
  Session session(std::move(options), registry());
  session.start("good", parse_chain("mosaic", registry()));
  const auto record = [&](const std::string& path) {
    StartRecord command;
    command.path = path;
    return response_of([&](Reply reply) { session.record(true, command, std::move(reply)); });
  };
  EXPECT_EQ(record("in-%Y/%m/a.mkv").error, "");
  EXPECT_TRUE(eventually([&] { return session.state().record.path.ends_with("/a.mkv"); }));
  EXPECT_TRUE(session.state().record.path.starts_with(folder / "captures/in-2")) << "the year";
  for (const char* bad : {"missing/a.mkv", "missing/%Y/a.mkv", "../%Y/a.mkv", "/tmp/%Y/a.mkv", ".%Y/a.mkv",
                          "%Y/../a.mkv", "%Y/.a.mkv"})
    EXPECT_NE(record(bad).error, "") << bad;
  EXPECT_TRUE(session.state().record.active) << "a refused name ends no recording";
  EXPECT_FALSE(std::filesystem::exists(folder / "captures/missing"));
  session.stop();
}

TEST(SessionLoad, ARecordingThatHasJustBegunContinuesInAnotherFile) {
  const TemporaryFolder folder;
  const auto first = std::make_shared<CommandSink>(), second = std::make_shared<CommandSink>();
  SessionOptions options;
  options.captures = folder / "captures";
  options.open = [&](const std::string& name, const GraphDesc& graph, const std::atomic<bool>&) {
    PipelineOptions o;
    o.executor = {.threads = 1, .frames = 6};
    o.graph = graph, o.paced = true;
    o.sinks = {name == "first" ? first : second};
    return std::make_unique<Pipeline>(std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000), o,
                                      registry());
  };
  Session session(std::move(options), registry());
  session.start("first", parse_chain("mosaic", registry()));
  session.record(true, {.path = "a.mkv"}, [](const Response&) {});  // waits for a picture of the file
  ASSERT_TRUE(eventually([&] { return first->command().has_value(); }));
  EXPECT_FALSE(first->command()->resumed);
  ASSERT_EQ(response_of([&](Reply reply) { session.load("second", std::move(reply)); }).error, "");
  ASSERT_TRUE(eventually([&] { return second->command().has_value(); }));
  EXPECT_TRUE(second->command()->resumed) << "the name is taken";
  session.stop();
}

TEST(SessionLoad, RecordOffReportsThatTheFileCannotBeCompleted) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.mkv";
  SessionOptions options;
  options.captures = folder / "captures";
  options.record = StartRecord{.path = path, .keep_trying = true, .beneath = {}};
  options.open = [](const std::string&, const GraphDesc& graph, const std::atomic<bool>&) {
    PipelineOptions o;
    o.executor = {.threads = 1, .frames = 6};
    o.graph = graph, o.paced = true;
    auto source = std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000);
    RecordSettings settings;
    settings.encoder.codec = "ffv1";  // without delay
    o.sinks = {std::make_shared<RecorderSink>(settings, source->info())};
    return std::make_unique<Pipeline>(std::move(source), o, registry());
  };
  std::signal(SIGXFSZ, SIG_IGN);
  Session session(std::move(options), registry());
  session.start("good", parse_chain("mosaic", registry()));
  ASSERT_TRUE(eventually([&] { return session.state().record.frames > 40; }));
  ASSERT_TRUE(session.post(Pause{true}));
  ASSERT_TRUE(eventually([&] {
    const RunState state = session.state();
    return state.paused && state.record.frames == static_cast<int64_t>(state.processed);
  }));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit full = before;
  full.rlim_cur = std::filesystem::file_size(path);
  setrlimit(RLIMIT_FSIZE, &full);  // the disk is full
  const Response ended = response_of([&](Reply reply) { session.record(false, {}, std::move(reply)); });
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(ended.status, Status::failed);
  EXPECT_NE(ended.error.find("cannot be written"), std::string::npos) << ended.error;
  session.stop();
}

TEST(SessionLoad, ARecordingThatCannotBeStoppedYetContinuesWithTheNextSource) {
  const TemporaryFolder folder;
  const auto first = std::make_shared<CommandSink>(), second = std::make_shared<CommandSink>();
  SessionOptions options;
  options.captures = folder / "captures";
  options.record = StartRecord{};
  options.open = [&](const std::string& name, const GraphDesc& graph, const std::atomic<bool>&) {
    PipelineOptions o;
    o.executor = {.threads = 1, .frames = 6};
    o.graph = graph, o.paced = true, o.sinks = {name == "first" ? first : second};
    return std::make_unique<Pipeline>(std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000), o,
                                      registry());
  };
  Session session(std::move(options), registry());
  session.start("first", parse_chain("mosaic", registry()));
  first->blocks = true;
  ASSERT_TRUE(eventually([&] { return first->blocked.load(); }));
  while (session.post(EditMark{1})) continue;
  EXPECT_EQ(response_of([&](Reply reply) { session.record(false, {}, std::move(reply)); }).status,
            Status::busy);
  first->blocks = false;
  ASSERT_EQ(response_of([&](Reply reply) { session.load("second", std::move(reply)); }).error, "");
  EXPECT_TRUE(eventually([&] { return second->command().has_value(); }));
  session.stop();
}

TEST(SessionLoad, RecordOffDoesNotReportAnIncompleteFile) {
  const auto recorder = std::make_shared<SlowRecorder>();
  SessionOptions options;
  options.record_timeout = std::chrono::milliseconds(50);
  options.open = [&](const std::string&, const GraphDesc& graph, const std::atomic<bool>&) {
    PipelineOptions o;
    o.executor = {.threads = 1, .frames = 6};
    o.graph = graph, o.paced = true, o.sinks = {recorder};
    return std::make_unique<Pipeline>(std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000), o,
                                      registry());
  };
  Session session(std::move(options), registry());
  session.start("good", parse_chain("mosaic", registry()));
  const auto record_off = [&] {
    return response_of([&](Reply reply) { session.record(false, {}, std::move(reply)); });
  };
  EXPECT_EQ(record_off().status, Status::busy);
  recorder->complete = true;
  EXPECT_EQ(record_off().error, "");
  session.stop();
}

TEST(SessionLoad, TheCompletionOfTheOldOutputsIsReported) {
  Session* running = nullptr;
  std::atomic<int64_t> reported{0};
  SessionOptions options;
  options.open = [&](const std::string&, const GraphDesc& graph, const std::atomic<bool>&) {
    PipelineOptions o;
    o.executor = {.threads = 1, .frames = 6};
    o.graph = graph, o.paced = true;
    o.sinks = {std::make_shared<ShutdownSink>([&] { reported = running->completing_since_ns(); })};
    return std::make_unique<Pipeline>(std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000), o,
                                      registry());
  };
  Session session(std::move(options), registry());
  running = &session;
  session.start("first", parse_chain("mosaic", registry()));
  EXPECT_EQ(session.completing_since_ns(), 0);
  ASSERT_EQ(response_of([&](Reply reply) { session.load("second", std::move(reply)); }).error, "");
  EXPECT_NE(reported, 0);
  EXPECT_EQ(session.completing_since_ns(), 0);
  session.stop();
}

}  // namespace
}  // namespace lensd
