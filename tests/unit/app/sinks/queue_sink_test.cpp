// QueueSink: the end of several sinks, and frames that are dropped.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "app/pipeline/queue_sink.hpp"
#include "core/base/semaphore.hpp"

namespace lensd {
namespace {

/// Ends only after another sink has ended, or after 20 s.
class PatientSink final : public QueueSink {
 public:
  /// `other` may be null.
  explicit PatientSink(Semaphore* other) : QueueSink(25), other_(other) { run(false); }
  ~PatientSink() override { finish(); }

  void take(const Frame&, const Picture&, const PixelAspects&) override {}
  SinkStatus status() const override { return {}; }

  Semaphore ended;
  bool in_time = true;  ///< the other sink has ended; read it after finish()

 private:
  void handle(Job&) override {}
  void complete() override {
    if (other_) in_time = other_->try_acquire_for(std::chrono::seconds(20));
    ended.release();
  }

  Semaphore* const other_;
};

/// Ends when its waits are ended.
class WaitingSink final : public QueueSink {
 public:
  WaitingSink() : QueueSink(25) { run(false); }
  ~WaitingSink() override { finish(); }

  void take(const Frame&, const Picture&, const PixelAspects&) override {}
  SinkStatus status() const override { return {}; }

 private:
  void handle(Job&) override {}
  void complete() override {
    while (!abandon()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

/// Handles nothing after the first frame until `go` is released.
class BusySink final : public QueueSink {
 public:
  BusySink() : QueueSink(25) { run(true); }
  ~BusySink() override { finish(); }

  void take(const Frame& frame, const Picture&, const PixelAspects&) override {
    push({.frame = frame.share(), .losses = {.dropped = dropped(), .missed = 0}});
  }
  void stop() override { push({.losses = {.dropped = dropped(), .missed = 0}}); }
  SinkStatus status() const override { return {}; }

  Semaphore busy, go;
  int frames = 0;             ///< read it after finish()
  uint64_t lost_at_stop = 0;  ///< read it after finish()

 private:
  void handle(Job& job) override {
    if (!job.frame) {
      lost_at_stop = job.losses.dropped;
    } else if (++frames == 1) {
      busy.release();
      go.acquire();
    }
  }
  void complete() override {}
};

TEST(QueueSinks, AFrameThatTheEndReplacesIsLostBeforeTheEnd) {
  const auto pool = FramePool::make({PixelFormat::gray8, {8, 8}}, MemoryKind::host, 1);
  const Frame frame = pool->acquire();
  BusySink sink;
  sink.take(frame, Picture(), {});
  sink.busy.acquire();
  for (int i = 0; i < kSinkFrames; ++i) sink.take(frame, Picture(), {});
  sink.stop();
  sink.go.release();
  sink.finish();
  EXPECT_EQ(sink.frames, kSinkFrames);
  EXPECT_EQ(sink.lost_at_stop, 1u);
}

TEST(QueueSinks, WaitsCanBeEndedWhileTheSinksFinish) {
  const auto sink = std::make_shared<WaitingSink>();
  std::thread ender([&] { sink->end_waits(); });
  finish_sinks({sink}, std::chrono::hours(1));
  ender.join();
}

TEST(QueueSinks, EndInParallel) {
  const auto second = std::make_shared<PatientSink>(nullptr);
  const auto first = std::make_shared<PatientSink>(&second->ended);
  finish_sinks({first, nullptr, second});
  EXPECT_TRUE(first->in_time) << "the second sink ends only after the first one";
}

}  // namespace
}  // namespace lensd
