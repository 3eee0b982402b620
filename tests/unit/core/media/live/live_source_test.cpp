// LiveSource with scripted connections that come and go, and its placeholders.
#include "core/base/owned_thread.hpp"
#include "core/device/device_memory_error.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/live/live_source_fixture.hpp"

namespace lensd {
namespace {

TEST_F(LiveSourceTest, StartsWithoutTheSourceAndGivesTheReason) {
  open();
  EXPECT_FALSE(source->opened());
  EXPECT_TRUE(source->info().live);
  EXPECT_EQ(source->info().picture.extent, (Extent{1280, 720}));
  const Picture picture = wait_for(true);
  EXPECT_EQ(picture.planes.info, source->info().picture);
  EXPECT_EQ(source->live_status().state, LiveState::connecting);
  EXPECT_EQ(source->live_status().reason, "connection refused");
}

TEST_F(LiveSourceTest, ReconnectsWithAnotherSize) {
  open();
  const uint32_t away = wait_for(true).info.serial;
  script->set([](LiveScript& x) { x.up = true, x.pictures = 2; });
  Picture first = wait_for(false);
  EXPECT_NE(first.info.serial, away);
  EXPECT_EQ(first.info.index, 0);
  const Picture second = wait_for(false);
  EXPECT_EQ(second.info.serial, first.info.serial);
  EXPECT_EQ(second.info.index, 1);
  EXPECT_EQ(second.info.pts_ns - first.info.pts_ns, 20 * msec);  // within a connection, as in the stream

  script->set([](LiveScript& x) { x.up = false, x.end = "the stream ended"; });
  const Picture lost = wait_for(true);
  EXPECT_EQ(lost.planes.info, second.planes.info);  // the same format needs no new plan
  EXPECT_GT(lost.info.serial, second.info.serial);
  EXPECT_GT(lost.info.pts_ns, second.info.pts_ns);

  script->set([](LiveScript& x) { x.up = true, x.end = "", x.size = {32, 32}, x.pictures = 1; });
  const Picture back = wait_for(false);
  EXPECT_EQ(back.planes.info.extent, (Extent{32, 32}));
  EXPECT_GT(back.info.serial, lost.info.serial);
  EXPECT_GT(back.info.pts_ns, lost.info.pts_ns);
  EXPECT_EQ(back.info.index, 2);
  EXPECT_EQ(source->live_status().reconnects, 1u);
}

TEST_F(LiveSourceTest, NewestWinsAndDropsAreCounted) {
  expect_only_newest();
  EXPECT_EQ(wait_for(false).info.index, 0);  // dropped pictures are not numbered
  EXPECT_EQ(wait_for(false).info.pts_ns > 0, true);
}

TEST_F(LiveSourceTest, JumpsOfTheStampsAreSmoothed) {
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1; });
  open(false);
  const int64_t before = wait_for(false).info.pts_ns;
  script->set([](LiveScript& x) { x.stamp_jump_ns = 3600 * sec, x.pictures = 1; });
  const int64_t ahead = wait_for(false).info.pts_ns;
  EXPECT_GT(ahead, before);
  EXPECT_LT(ahead, before + 60 * sec);
  script->set([](LiveScript& x) { x.stamp_jump_ns = -3600 * sec, x.pictures = 1; });
  const int64_t behind = wait_for(false).info.pts_ns;
  EXPECT_GT(behind, ahead);
  EXPECT_LT(behind, ahead + 60 * sec);
}

TEST_F(LiveSourceTest, AConnectionDoesNotContinueTheTimesOfTheOneBefore) {
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1; });
  open(false);
  const Picture before = wait_for(false);
  script->set([](LiveScript& x) { x.end = "cut"; });
  while (source->live_status().state == LiveState::playing) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  script->set([](LiveScript& x) { x.end = "", x.stamp_jump_ns = 20 * msec, x.pictures = 1; });
  const Picture after = wait_for(false);
  EXPECT_GT(after.info.serial, before.info.serial);
  EXPECT_GE(after.info.pts_ns - before.info.pts_ns, 250 * msec);
}

TEST_F(LiveSourceTest, TheReasonOfAStallNamesASlowDecoder) {
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1, x.data_wait_ns = 0; });
  open(false);
  wait_for(false);
  const auto stalled = [&](const char* reason) {
    return eventually([&] {
      const LiveStatus status = source->live_status();
      return status.state == LiveState::stalled && status.reason == reason;
    });
  };
  EXPECT_TRUE(stalled("the decoder has not finished the next picture"));
  script->set([](LiveScript& x) { x.data_wait_ns = INT64_MAX; });
  EXPECT_TRUE(stalled("no new pictures"));
}

TEST_F(LiveSourceTest, InterruptionEndsTheWait) {
  open(false);
  std::atomic<bool> done{false};
  Picture picture;
  std::thread reader([&] {
    EXPECT_EQ(source->next(picture), FrameOutcome::again);
    done = true;
  });
  source->interrupt();
  reader.join();
  EXPECT_TRUE(done);
}

TEST_F(LiveSourceTest, TheDestructorDoesNotWaitForAHangingReader) {
  script->set([](LiveScript& x) { x.hang = true; });
  open();
  wait_for(true);
  source.reset();  // must return although the connection hangs
  EXPECT_EQ(script->opened, 0);
  // The reader thread must end before static objects are destroyed.
  script->set([](LiveScript& x) { x.release = true; });
  EXPECT_TRUE(eventually([&] { return script.use_count() == 1; }));
  EXPECT_EQ(join_stragglers(std::chrono::seconds(5)), 0U);
}

TEST_F(LiveSourceTest, OneConnectionAfterManyLosses) {
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1; });
  open(false);
  for (int i = 0; i < 20; ++i) {
    wait_for(false);
    script->set([](LiveScript& x) { x.end = "cut"; });
    while (source->live_status().state == LiveState::playing) std::this_thread::yield();
    script->set([](LiveScript& x) {
      EXPECT_EQ(x.alive, 0);
      x.end = "", x.pictures = 1;
    });
  }
  wait_for(false);
  EXPECT_EQ(source->live_status().reconnects, 20u);
  const std::lock_guard lock(script->mutex);
  EXPECT_EQ(script->alive, 1);
}

TEST_F(LiveSourceTest, NoErrorEndsASourceThatHasPlayed) {
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1; });
  open(false);
  for (const ExitCode code :
       {ExitCode::runtime_failure, ExitCode::unavailable, ExitCode::invalid_config, ExitCode::bad_source}) {
    wait_for(false);
    script->set([code](LiveScript& x) { x.end = "refused", x.code = code; });
    EXPECT_TRUE(eventually([&] { return source->live_status().reason == "refused"; }));
    script->set([](LiveScript& x) { x.end = "", x.pictures = 1; });
  }
  wait_for(false);
}

TEST_F(LiveSourceTest, WithoutMemoryTheFirstConnectionIsTriedAgain) {
  SourceOptions options;
  options.live.placeholders = false;
  std::atomic<int> attempts{0};
  const auto connect = [&](const std::atomic<bool>& cancel) -> std::unique_ptr<Source> {
    switch (attempts++) {
      case 0:
        throw MemoryError("memory", "cannot allocate 100 bytes of host memory", "");
      case 1:
        throw std::bad_alloc();
      default:
        return std::make_unique<ScriptedConnection>(*script, cancel);
    }
  };
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1; });
  source = std::make_unique<LiveSource>("udp://127.0.0.1:1", options, connect, 5 * sec);
  EXPECT_EQ(source->live_status().reason, "cannot allocate 100 bytes of host memory");
  wait_for(false);
  EXPECT_EQ(attempts, 3);
  source.reset();
}

TEST_F(LiveSourceTest, OfFilesThatOpenLateOnlyShortOnesAreReadAgain) {
  open(false);
  script->set([](LiveScript& x) { x.up = true, x.live = false, x.pictures = 1; });
  wait_for(false);
  script->set([](LiveScript& x) { x.finish = true; });
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "the stream ended"; }));
  script->set([](LiveScript& x) { x.finish = false, x.pictures = 1; });
  wait_for(false);
  const uint64_t attempts = source->live_status().attempts;
  std::this_thread::sleep_for(std::chrono::nanoseconds(LiveTiming().lasting_ns + 100 * msec));
  script->set([](LiveScript& x) { x.finish = true; });
  Picture picture;
  FrameOutcome outcome = FrameOutcome::again;
  for (const int64_t end = now_ns() + 20 * sec; outcome == FrameOutcome::again && now_ns() < end;)
    outcome = source->next(picture);
  EXPECT_EQ(outcome, FrameOutcome::end_of_stream);
  EXPECT_EQ(source->live_status().attempts, attempts);
}

TEST_F(LiveSourceTest, AFileDoesNotEndASourceThatHasBeenLive) {
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1; });
  open(false);
  wait_for(false);
  script->set([](LiveScript& x) { x.end = "cut"; });
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "cut"; }));
  script->set([](LiveScript& x) { x.end = "", x.live = false, x.pictures = 1; });
  wait_for(false);
  std::this_thread::sleep_for(std::chrono::nanoseconds(LiveTiming().lasting_ns + 100 * msec));
  script->set([](LiveScript& x) { x.finish = true; });
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "the stream ended"; }));
  script->set([](LiveScript& x) { x.finish = false, x.live = true, x.pictures = 1; });
  wait_for(false);
}

TEST_F(LiveSourceTest, NoticesOfConnectionsAreReportedOnce) {
  script->set([](LiveScript& x) { x.up = true, x.pictures = 1, x.notice = "it has no video track 2"; });
  open(false);
  wait_for(false);
  ASSERT_EQ(source->take_notices().size(), 1u);
  script->set([](LiveScript& x) { x.end = "cut"; });
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "cut"; }));
  script->set([](LiveScript& x) { x.end = "", x.pictures = 1; });
  wait_for(false);
  EXPECT_TRUE(source->take_notices().empty());
}

TEST_F(LiveSourceTest, FailuresOtherThanALackOfMemoryThrow) {
  const auto refuse = [](const std::atomic<bool>&) -> std::unique_ptr<Source> {
    throw Error(ExitCode::runtime_failure, "script", "the GPU has failed");
  };
  EXPECT_THROW(LiveSource("udp://127.0.0.1:1", {}, refuse, 5 * sec), Error);
}

TEST_F(LiveSourceTest, InvalidOptionsThrow) {
  SourceOptions options;
  const auto refuse = [](const std::atomic<bool>&) -> std::unique_ptr<Source> {
    throw Error(ExitCode::invalid_config, "script", "no such option");
  };
  EXPECT_THROW(LiveSource("udp://127.0.0.1:1", options, refuse, 5 * sec), Error);
}

}  // namespace
}  // namespace lensd
