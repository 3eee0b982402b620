// Opening sources in the background: only the newest request counts, cancelled ones are dropped, failures
// change nothing. Also PipelineShutdown, live_options_for(), folder_of() and SourceFinder.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "app/viewer/sources/pipeline_shutdown.hpp"
#include "app/viewer/sources/source_finder.hpp"
#include "app/viewer/sources/viewer_source.hpp"
#include "core/base/error.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/app/pipeline/playing_source.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/no_threads.hpp"
#include "tests/unit/common/synthetic_source.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

using namespace std::chrono_literals;

OpenedPipeline make_pipeline(std::unique_ptr<Source> source) {
  PipelineOptions options;
  options.executor = {.threads = 1, .frames = 6}, options.paced = true;
  OpenedPipeline made;
  made.recorder = std::make_shared<RecorderSink>(RecordSettings{}, source->info());
  options.sinks = {made.recorder};
  made.pipeline = std::make_shared<Pipeline>(std::move(source), options, registry());
  return made;
}

OpenedPipeline make_synthetic() {
  return make_pipeline(std::make_unique<SyntheticSource>(Extent{64, 48}, 1'000'000));
}

/// A source that hangs until `go` is true, whatever interrupts it.
class HangingSource final : public PlayingSource {
 public:
  explicit HangingSource(const std::atomic<bool>& go)
      : PlayingSource(SyntheticSource(Extent{64, 48}, 1).info()), go_(go) {}
  FrameOutcome next(Picture&) override {
    while (!go_) std::this_thread::sleep_for(1ms);
    return FrameOutcome::end_of_stream;
  }

 private:
  const std::atomic<bool>& go_;
};

class Opener : public ::testing::Test {
 protected:
  /// "good" opens. "slow" blocks until it is cancelled, and then for another 50 ms. "same" fails while a
  /// "slow" is being opened, as if both used one device. Others fail.
  std::unique_ptr<SourceOpener> opener = std::make_unique<SourceOpener>(
      [this](const OpenRequest& request, std::shared_ptr<const std::atomic<bool>> cancel) {
        if (request.url == "good") return make_synthetic();
        if (request.url == "same" && waiting == stopped) return make_synthetic();
        if (request.url != "slow") throw Error(ExitCode::bad_source, request.url, "is not there");
        ++waiting;
        while (!*cancel) std::this_thread::sleep_for(1ms);
        std::this_thread::sleep_for(50ms);
        ++stopped;
        return make_synthetic();
      },
      [this] { ++wakes; });

  OpenRequest request(const std::string& url) {
    OpenRequest r;
    r.url = url;
    r.done = [this, url](OpenResult end, const std::string& problem) {
      EXPECT_EQ(end, OpenResult::cancelled) << "who takes what was made tells the rest";
      problems.push_back(url + ": " + problem);
    };
    return r;
  }
  SourceOpener::Finished finished() {
    std::optional<SourceOpener::Finished> result;
    EXPECT_TRUE(eventually([&] { return (result = opener->take()).has_value(); }));
    return result ? std::move(*result) : SourceOpener::Finished{};
  }

  std::atomic<int> wakes{0}, waiting{0}, stopped{0};
  std::vector<std::string> problems;
};

TEST_F(Opener, GivesBackWhatWasMade) {
  EXPECT_EQ(opener->opening(), "");
  opener->open(request("good"));
  EXPECT_EQ(opener->opening(), "good");
  EXPECT_FALSE(opener->searching());
  const auto result = finished();
  EXPECT_TRUE(result.opened.pipeline);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.request.url, "good");
  EXPECT_EQ(opener->opening(), "");
  EXPECT_TRUE(eventually([&] { return wakes == 1; }));
  EXPECT_FALSE(opener->take());
}

TEST_F(Opener, TheShownNameHasNoSecrets) {
  for (const char* url : {"rtsp://ada:secret@host", "rtsp://ada:sec/ret@host", "rtsp://ada:sec?ret@host",
                          "rtsp://ada:s@cret/1@host"}) {
    opener->open(request(url));
    EXPECT_EQ(opener->opening(), "rtsp://host") << url;
    EXPECT_NE(finished().problem, "");
  }
}

TEST_F(Opener, SearchesAListUntilItIsTaken) {
  OpenRequest list = request("good");
  list.list = {"good", "other"};
  EXPECT_FALSE(opener->searching());
  opener->open(std::move(list));
  EXPECT_TRUE(opener->searching());
  finished();
  EXPECT_FALSE(opener->searching());
}

TEST_F(Opener, AFailureSaysWhatAndWhy) {
  opener->open(request("missing"));
  const auto result = finished();
  EXPECT_FALSE(result.opened.pipeline);
  EXPECT_EQ(result.problem, "missing: is not there");
}

TEST_F(Opener, WhatWasGivenUpLetsGoBeforeTheNextOneBegins) {
  opener->open(request("slow"));
  ASSERT_TRUE(eventually([&] { return waiting == 1; }));
  opener->cancel();
  opener->open(request("same"));
  EXPECT_EQ(finished().problem, "");
}

TEST_F(Opener, TheNewestWishCounts) {
  opener->open(request("slow"));
  ASSERT_TRUE(eventually([&] { return waiting == 1; }));
  opener->open(request("good"));
  EXPECT_EQ(problems, std::vector<std::string>{"slow: another source was requested in the meantime"});
  EXPECT_EQ(finished().request.url, "good");
  EXPECT_TRUE(eventually([&] { return stopped == 1; }));
  EXPECT_FALSE(opener->take());
}

TEST_F(Opener, GivenUpIsForgotten) {
  opener->open(request("slow"));
  ASSERT_TRUE(eventually([&] { return waiting == 1; }));
  opener->cancel();
  EXPECT_EQ(opener->opening(), "");
  EXPECT_EQ(problems, std::vector<std::string>{"slow: cancelled"});
  EXPECT_TRUE(eventually([&] { return stopped == 1; }));
  EXPECT_FALSE(opener->take());
  EXPECT_EQ(wakes, 0);
}

TEST_F(Opener, WithoutThreadsItFails) {
  {
    const test::NoThreads no_threads;
    opener->open(request("good"));
  }
  EXPECT_TRUE(finished().problem.starts_with("good: cannot start a thread: "));
  EXPECT_EQ(wakes, 1);
  opener->open(request("good"));
  EXPECT_EQ(finished().problem, "");
}

TEST_F(Opener, TheEndStopsWhatIsBeingOpened) {
  opener->open(request("slow"));
  ASSERT_TRUE(eventually([&] { return waiting == 1; }));
  opener.reset();
  EXPECT_EQ(stopped, 1);
  EXPECT_EQ(problems, std::vector<std::string>{"slow: lensd is shutting down"});
}

TEST(RetirementTest, TheNextSourceStartsWhenTheOldOneHasEnded) {
  PipelineShutdown retirement;
  OpenedPipeline first = make_synthetic(), second = make_synthetic();
  const std::shared_ptr<Pipeline> old = first.pipeline, next = second.pipeline;
  retirement.replace({}, first.pipeline);
  ASSERT_TRUE(eventually([&] { return old->status().processed > 0; }));
  retirement.replace(std::move(first), next);
  ASSERT_TRUE(eventually([&] { return next->status().processed > 0; }));
  const uint64_t processed = old->status().processed;
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(old->status().processed, processed) << "its threads have ended";
  retirement.finish();
  next->stop();
}

/// Otherwise the window would freeze after many sources were opened while a disk hangs.
TEST(RetirementTest, ManySourcesAfterOneThatHangsDoNotWait) {
  constexpr int kSources = 70;
  std::atomic<bool> go{false};
  PipelineShutdown retirement;
  OpenedPipeline current = make_pipeline(std::make_unique<HangingSource>(go));
  current.pipeline->start();
  std::vector<OpenedPipeline> others;
  for (int i = 0; i < kSources; ++i) others.push_back(make_synthetic());
  const std::shared_ptr<Pipeline> last = others.back().pipeline;
  auto replaced = std::async(std::launch::async, [&] {
    for (OpenedPipeline& next : others) {
      const std::shared_ptr<Pipeline> pipeline = next.pipeline;
      retirement.replace(std::exchange(current, std::move(next)), pipeline);
    }
  });
  EXPECT_EQ(replaced.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(last->status().decoded, 0u) << "it does not start before the others have ended";
  go = true;
  replaced.wait();
  retirement.finish();
  EXPECT_TRUE(eventually([&] { return last->status().processed > 0; }));
  last->stop();
}

TEST(SourcesOfAViewer, OptionsOfTheCommandLineAreForItsSourceAlone) {
  CommandLine line;
  line.config.source_url = "/dev/video0";
  line.live.format = "mjpeg", line.live.size = {640, 480}, line.live.rate = 15;
  line.live.low_latency = true, line.live.rtsp_transport = "udp", line.live.tls = TlsCheck::any;
  EXPECT_EQ(live_options_for(line, "/dev/video0").format, "mjpeg");
  EXPECT_EQ(live_options_for(line, "/dev/video0").tls, TlsCheck::any);
  const LiveOptions other = live_options_for(line, "rtsp://camera/stream");
  EXPECT_EQ(other.format, "");
  EXPECT_EQ(other.size.width, 0);
  EXPECT_EQ(other.rate, 0);
  EXPECT_EQ(other.tls, TlsCheck::automatic);
  EXPECT_TRUE(other.low_latency);
  EXPECT_EQ(other.rtsp_transport, "udp");
  line.live.tls = TlsCheck::verify;
  EXPECT_EQ(live_options_for(line, "rtsp://camera/stream").tls, TlsCheck::verify);
}

/// Folders are searched with the other work of opening, not on the UI thread.
TEST(SourcesOfAViewer, AListIsExpandedInsteadOfOpened) {
  TemporaryFolder folder;
  for (const char* name : {"a.mp4", "b.mp4"}) std::ofstream(folder / name) << "x";
  ViewerSetup setup;
  const auto expand = [&](const std::string& source) {
    OpenRequest request;
    request.list = {source, folder / "other.mkv"};
    return make_viewer_source(setup, request, std::make_shared<std::atomic<bool>>(false));
  };
  const OpenedPipeline opened = expand(folder / "");
  EXPECT_EQ(opened.list,
            (std::vector<std::string>{folder / "a.mp4", folder / "b.mp4", folder / "other.mkv"}));
  EXPECT_FALSE(opened.pipeline);
  std::filesystem::create_directory(folder / "empty");
  EXPECT_THROW(expand(folder / "empty"), Error);
  setup.line.record = folder / "a.mp4", setup.line.overwrite = true;
  EXPECT_THROW(expand(folder / ""), Error) << "an output of this run";
}

TEST(SourcesOfAViewer, LookingForFilesBeginsWhereTheNewestFileIs) {
  EXPECT_EQ(folder_of("/a/b/clip.mp4", {"/c/d.mp4"}), "/a/b");
  EXPECT_EQ(folder_of("test:mandelbrot", {"rtsp://a/b", "/c/d.mp4", "/e/f.mp4"}), "/c");
  EXPECT_EQ(folder_of("screen:", {}), std::filesystem::current_path().string());
  EXPECT_EQ(folder_of("./sub/../clip.mp4", {}), std::filesystem::current_path().string());
}

/// The recent sources would list a file twice.
TEST(SourcesOfAViewer, AFileHasOneFullPath) {
  TemporaryFolder folder;
  std::filesystem::create_directories(folder / "sub/deep");
  for (const char* name : {"a.mp4", "sub/a.mp4"}) std::ofstream(folder / name) << name;
  std::filesystem::create_directory_symlink(folder / "sub/deep", folder / "link");
  EXPECT_EQ(full_path(folder / "a.mp4"), folder / "a.mp4");
  EXPECT_EQ(full_path(folder / "./a.mp4"), folder / "a.mp4");
  EXPECT_EQ(full_path(folder / "sub/../a.mp4"), folder / "a.mp4");
  EXPECT_EQ(full_path(folder / "link/../a.mp4"), std::filesystem::canonical(folder / "sub/a.mp4").string());
  EXPECT_EQ(full_path(folder / "missing.mp4"), "");
  EXPECT_EQ(full_path("rtsp://camera/1"), "");
}

TEST(Finder, ListsTheFolderAndSaysWhatIsWrongWithRecentSources) {
  TemporaryFolder folder;
  std::ofstream(folder / "clip.mp4") << "x";
  SourceFinder finder([] {});
  const std::vector<std::string> recent = {folder / "clip.mp4", folder / "lost.avi", folder / "",
                                           "rtsp://camera/stream", "/dev/video987"};
  finder.search(folder / "", "", recent);
  EXPECT_EQ(finder.choices()->recent.size(), recent.size()) << "the list is there at once";
  ASSERT_TRUE(eventually([&] { return finder.choices()->cameras_known; }));
  const auto choices = finder.choices();
  ASSERT_EQ(choices->files.entries.size(), 1u);
  EXPECT_EQ(choices->files.entries[0].name, "clip.mp4");
  EXPECT_EQ(choices->recent[0].problem, "");
  EXPECT_EQ(choices->recent[1].problem, "This file no longer exists");
  EXPECT_EQ(choices->recent[2].problem, "This is now a folder");
  EXPECT_EQ(choices->recent[3].problem, "");
  EXPECT_EQ(choices->recent[4].problem, "This camera is not connected");
  std::ofstream(folder / "new.mkv") << "x";
  EXPECT_TRUE(eventually([&] { return finder.choices()->files.entries.size() == 2; })) << "it is read again";
  finder.search(folder / "", "NEW", recent);
  EXPECT_TRUE(eventually([&] { return finder.choices()->files.part == "NEW"; }));
  ASSERT_EQ(finder.choices()->files.entries.size(), 1u);
  EXPECT_EQ(finder.choices()->files.entries[0].name, "new.mkv");
}

}  // namespace
}  // namespace lensd
