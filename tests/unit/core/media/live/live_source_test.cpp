// LiveSource with scripted connections that come and go, and its placeholders.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/owned_thread.hpp"
#include "core/device/device_memory_error.hpp"
#include "core/media/burst.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/live/live_source.hpp"
#include "core/media/live/placeholder.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {
namespace {

/// Controls the connections of a test: whether they succeed, how many pictures they deliver, why they end.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  bool up = false;
  int opened = 0, alive = 0, pictures = 0;
  Extent size{64, 48};
  bool live = true, hang = false, release = false;
  int64_t stamp_jump_ns = 0;
  ExitCode code = ExitCode::bad_source;    ///< of `end`
  std::string end;                         ///< why the connection ends; empty: stays open
  bool finish = false;                     ///< the connection ends as a file does
  std::string notice;                      ///< of each connection; empty: none
  std::list<std::vector<uint8_t>> memory;  ///< pixels; pictures may outlive their connection

  void set(const auto& change) {
    const std::lock_guard lock(mutex);
    change(*this);
    changed.notify_all();
  }
};

class Connection final : public Source {
 public:
  Connection(Script& script, const std::atomic<bool>& cancel) : script_(script), cancel_(cancel) {
    std::unique_lock lock(script_.mutex);
    while (script_.hang && !script_.release) script_.changed.wait_for(lock, std::chrono::milliseconds(5));
    if (!script_.up) throw Error(ExitCode::bad_source, "script", "connection refused");
    ++script_.opened, ++script_.alive;
    info_.picture = Placeholder::default_info(script_.size);
    info_.codec = "script", info_.fps = 50, info_.live = script_.live;
    const auto area = static_cast<size_t>(script_.size.width) * static_cast<size_t>(script_.size.height);
    pixels_ = script_.memory.emplace_back(2 * area, uint8_t{128}).data();
  }
  ~Connection() override {
    const std::lock_guard lock(script_.mutex);
    --script_.alive;
  }
  const SourceInfo& info() const override { return info_; }
  FrameOutcome next(Picture& out) override {
    std::unique_lock lock(script_.mutex);
    for (;;) {
      if (cancel_) return FrameOutcome::again;
      if (script_.finish) return FrameOutcome::end_of_stream;
      if (!script_.end.empty()) throw Error(script_.code, "script", script_.end);
      if (script_.pictures > 0) break;
      script_.changed.wait_for(lock, std::chrono::milliseconds(5));
    }
    --script_.pictures;
    PictureRef ref;
    ref.info = info_.picture;
    const auto area =
        static_cast<size_t>(info_.picture.extent.width) * static_cast<size_t>(info_.picture.extent.height);
    ref.planes = {pixels_, pixels_ + area, pixels_ + area + area / 4, nullptr};
    ref.pitch_bytes = {info_.picture.extent.width, info_.picture.extent.width / 2,
                       info_.picture.extent.width / 2, 0};
    FrameInfo frame;
    frame.index = count_, frame.pts_ns = count_ * 20 * msec + script_.stamp_jump_ns;
    frame.capture_ns = frame.stamp_ns = now_ns();
    ++count_;
    out = Picture(ref, frame, nullptr);
    return FrameOutcome::ok;
  }
  void seek(int64_t, int) override {}
  std::string stream_errors() const override { return {}; }
  std::vector<Notice> take_notices() override {
    const std::lock_guard lock(script_.mutex);
    return script_.notice.empty() ? std::vector<Notice>() : std::vector<Notice>{{true, script_.notice}};
  }
  void interrupt() noexcept override {}

 private:
  Script& script_;
  const std::atomic<bool>& cancel_;
  SourceInfo info_;
  const uint8_t* pixels_ = nullptr;
  int64_t count_ = 0;
};

class LiveSourceTest : public testing::Test {
 protected:
  void TearDown() override {
    script->set([](Script& x) { x.release = true; });
    source.reset();
  }
  void open(bool placeholders = true) {
    SourceOptions options;
    options.live.placeholders = placeholders;
    options.live.stall_ns = 100 * msec;
    options.live.audio = audio;
    options.live.low_latency = low_latency;
    source = std::make_unique<LiveSource>(
        "udp://127.0.0.1:1", options,
        [script = script](const std::atomic<bool>& cancel) {
          return std::make_unique<Connection>(*script, cancel);
        },
        10 * msec);
  }
  /// Returns the next placeholder if `placeholder`, otherwise the next other picture. Fails after 20 s.
  Picture wait_for(bool placeholder) {
    Picture picture;
    for (const int64_t end = now_ns() + 20 * sec; now_ns() < end;)
      if (source->next(picture) == FrameOutcome::ok && picture.info.placeholder == placeholder)
        return picture;
    ADD_FAILURE() << "no such picture arrived";
    return {};
  }

  /// Makes pictures due `delay_ns` after their timestamps.
  void connect_sound(int64_t delay_ns) {
    audio = std::make_shared<LiveAudio>(0);
    const AVCodecParameters parameters{};
    audio->connected(&parameters, {1, 1}, false);
    audio->publish(audio->number(), delay_ns);
  }

  void expect_only_newest() {
    script->set([](Script& x) { x.up = true, x.pictures = 50; });
    open(false);
    while (source->live_status().frames < 50) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(source->live_status().dropped, 50u - kBurstPictures);
  }

  // Shared with the reader thread, which may outlive the source.
  std::shared_ptr<Script> script = std::make_shared<Script>();
  std::unique_ptr<LiveSource> source;
  std::shared_ptr<LiveAudio> audio;
  bool low_latency = false;
};

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
  script->set([](Script& x) { x.up = true, x.pictures = 2; });
  Picture first = wait_for(false);
  EXPECT_NE(first.info.serial, away);
  EXPECT_EQ(first.info.index, 0);
  const Picture second = wait_for(false);
  EXPECT_EQ(second.info.serial, first.info.serial);
  EXPECT_EQ(second.info.index, 1);
  EXPECT_EQ(second.info.pts_ns - first.info.pts_ns, 20 * msec);  // within a connection, as in the stream

  script->set([](Script& x) { x.up = false, x.end = "the stream ended"; });
  const Picture lost = wait_for(true);
  EXPECT_EQ(lost.planes.info, second.planes.info);  // the same format needs no new plan
  EXPECT_GT(lost.info.serial, second.info.serial);
  EXPECT_GT(lost.info.pts_ns, second.info.pts_ns);

  script->set([](Script& x) { x.up = true, x.end = "", x.size = {32, 32}, x.pictures = 1; });
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

TEST_F(LiveSourceTest, PicturesThatAreLaterThanTheirSoundAreDropped) {
  connect_sound(-sec);
  expect_only_newest();
}

TEST_F(LiveSourceTest, PicturesWaitForTheirSound) {
  connect_sound(300 * msec);
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  open(false);
  const Picture first = wait_for(false);
  EXPECT_EQ(first.info.due_ns, first.info.stamp_ns + 300 * msec);
  EXPECT_GE(now_ns(), first.info.due_ns - PlayoutDelay::kPictureLeadNs);
  EXPECT_GE(source->live_status().latency_ns, 300 * msec);

  // Pictures do not wait without sound, for another connection's sound, or for absurd times.
  const auto at_once = [&] {
    script->set([](Script& x) { x.pictures = 1; });
    return wait_for(false).info.due_ns == 0;
  };
  audio->publish(audio->number(), 3600 * sec);
  EXPECT_TRUE(at_once());
  audio->publish(audio->number() + 1, 300 * msec);
  EXPECT_TRUE(at_once());
  audio->publish(0, 0);
  EXPECT_TRUE(at_once());
  EXPECT_LT(source->live_status().latency_ns, 300 * msec);
}

TEST_F(LiveSourceTest, WaitingPicturesLeaveRoomForABurst) {
  connect_sound(1900 * msec);
  script->set([](Script& x) { x.up = true, x.pictures = 40; });
  open(false);
  const int64_t begin = now_ns();
  EXPECT_EQ(wait_for(false).info.due_ns, 0) << "more than three quarters are full";
  EXPECT_LT(now_ns() - begin, 1500 * msec);
  EXPECT_EQ(source->live_status().dropped, 0u);
}

TEST_F(LiveSourceTest, WithLowLatencyPicturesDoNotWait) {
  low_latency = true;
  connect_sound(300 * msec);
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  open(false);
  EXPECT_EQ(wait_for(false).info.due_ns, 0);
}

TEST_F(LiveSourceTest, JumpsOfTheStampsAreSmoothed) {
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  open(false);
  const int64_t before = wait_for(false).info.pts_ns;
  script->set([](Script& x) { x.stamp_jump_ns = 3600 * sec, x.pictures = 1; });
  const int64_t ahead = wait_for(false).info.pts_ns;
  EXPECT_GT(ahead, before);
  EXPECT_LT(ahead, before + 60 * sec);
  script->set([](Script& x) { x.stamp_jump_ns = -3600 * sec, x.pictures = 1; });
  const int64_t behind = wait_for(false).info.pts_ns;
  EXPECT_GT(behind, ahead);
  EXPECT_LT(behind, ahead + 60 * sec);
}

TEST_F(LiveSourceTest, AConnectionDoesNotContinueTheTimesOfTheOneBefore) {
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  open(false);
  const Picture before = wait_for(false);
  script->set([](Script& x) { x.end = "cut"; });
  while (source->live_status().state == LiveState::playing) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  script->set([](Script& x) { x.end = "", x.stamp_jump_ns = 20 * msec, x.pictures = 1; });
  const Picture after = wait_for(false);
  EXPECT_GT(after.info.serial, before.info.serial);
  EXPECT_GE(after.info.pts_ns - before.info.pts_ns, 250 * msec);
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
  script->set([](Script& x) { x.hang = true; });
  open();
  wait_for(true);
  source.reset();  // must return although the connection hangs
  EXPECT_EQ(script->opened, 0);
  // The reader thread must end before static objects are destroyed.
  script->set([](Script& x) { x.release = true; });
  EXPECT_TRUE(eventually([&] { return script.use_count() == 1; }));
  EXPECT_EQ(join_stragglers(std::chrono::seconds(5)), 0U);
}

TEST_F(LiveSourceTest, OneConnectionAfterManyLosses) {
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  open(false);
  for (int i = 0; i < 20; ++i) {
    wait_for(false);
    script->set([](Script& x) { x.end = "cut"; });
    while (source->live_status().state == LiveState::playing) std::this_thread::yield();
    script->set([](Script& x) {
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
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  open(false);
  for (const ExitCode code :
       {ExitCode::runtime_failure, ExitCode::unavailable, ExitCode::invalid_config, ExitCode::bad_source}) {
    wait_for(false);
    script->set([code](Script& x) { x.end = "refused", x.code = code; });
    EXPECT_TRUE(eventually([&] { return source->live_status().reason == "refused"; }));
    script->set([](Script& x) { x.end = "", x.pictures = 1; });
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
        return std::make_unique<Connection>(*script, cancel);
    }
  };
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  source = std::make_unique<LiveSource>("udp://127.0.0.1:1", options, connect, 5 * sec);
  EXPECT_EQ(source->live_status().reason, "cannot allocate 100 bytes of host memory");
  wait_for(false);
  EXPECT_EQ(attempts, 3);
  source.reset();
}

TEST_F(LiveSourceTest, OfFilesThatOpenLateOnlyShortOnesAreReadAgain) {
  open(false);
  script->set([](Script& x) { x.up = true, x.live = false, x.pictures = 1; });
  wait_for(false);
  script->set([](Script& x) { x.finish = true; });
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "the stream ended"; }));
  script->set([](Script& x) { x.finish = false, x.pictures = 1; });
  wait_for(false);
  const uint64_t attempts = source->live_status().attempts;
  std::this_thread::sleep_for(std::chrono::nanoseconds(LiveTiming().lasting_ns + 100 * msec));
  script->set([](Script& x) { x.finish = true; });
  Picture picture;
  FrameOutcome outcome = FrameOutcome::again;
  for (const int64_t end = now_ns() + 20 * sec; outcome == FrameOutcome::again && now_ns() < end;)
    outcome = source->next(picture);
  EXPECT_EQ(outcome, FrameOutcome::end_of_stream);
  EXPECT_EQ(source->live_status().attempts, attempts);
}

TEST_F(LiveSourceTest, AFileDoesNotEndASourceThatHasBeenLive) {
  script->set([](Script& x) { x.up = true, x.pictures = 1; });
  open(false);
  wait_for(false);
  script->set([](Script& x) { x.end = "cut"; });
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "cut"; }));
  script->set([](Script& x) { x.end = "", x.live = false, x.pictures = 1; });
  wait_for(false);
  std::this_thread::sleep_for(std::chrono::nanoseconds(LiveTiming().lasting_ns + 100 * msec));
  script->set([](Script& x) { x.finish = true; });
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "the stream ended"; }));
  script->set([](Script& x) { x.finish = false, x.live = true, x.pictures = 1; });
  wait_for(false);
}

TEST_F(LiveSourceTest, NoticesOfConnectionsAreReportedOnce) {
  script->set([](Script& x) { x.up = true, x.pictures = 1, x.notice = "it has no video track 2"; });
  open(false);
  wait_for(false);
  ASSERT_EQ(source->take_notices().size(), 1u);
  script->set([](Script& x) { x.end = "cut"; });
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "cut"; }));
  script->set([](Script& x) { x.end = "", x.pictures = 1; });
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
