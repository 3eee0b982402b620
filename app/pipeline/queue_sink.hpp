// A sink with a thread of its own behind a bounded queue.
//
//   take() ── job ──▶ queue of kSinkFrames ──▶ handle() on the sink's thread
//
// File sources: take() waits for room, nothing is lost. Live sources: the oldest frame goes, counted.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

#include "app/pipeline/frame_sink.hpp"
#include "core/base/bounded_queue.hpp"
#include "core/image/frame.hpp"
#include "core/image/image.hpp"

namespace lensd {

/// Frames that a sink's queue may hold; the frame pool must have as many to spare.
inline constexpr int kSinkFrames = 4;

class QueueSink : public FrameSink {
 public:
  ~QueueSink() override;

  void stop_soon() noexcept override { hurried_.store(true, std::memory_order_release), queue_.wake(); }
  std::vector<SinkNotice> take_notices() override;
  void attach(DeviceFrameSync* sync) override { sync_ = sync; }

  /// Works off the queue, then completes what was begun. After the pipeline's stop(); idempotent.
  void finish();

 protected:
  struct Job {
    Frame frame;
    Picture picture;
    FrameInfo info;
    std::shared_ptr<const StartRecord> session;  ///< the recording that it belongs to; null: none
  };

  /// Begins the thread; for the constructors of derived classes, whose members are made by then.
  void run(bool may_drop);
  /// Process thread.
  void push(Job job);
  uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  void notice(bool problem, std::string text);
  /// The graph's output in host memory, waited for; valid until the next call. The sink's thread.
  ConstImageRef host_image(const Frame& frame);

  /// The sink's thread. Must not throw.
  virtual void handle(Job& job) = 0;
  virtual void complete() = 0;

 private:
  void loop();

  BoundedQueue<Job> queue_{kSinkFrames};
  DeviceFrameSync* sync_ = nullptr;
  Image copy_;  ///< of a frame on the GPU
  bool may_drop_ = false;
  std::atomic<bool> hurried_{false};
  std::atomic<uint64_t> dropped_{0};
  std::mutex mutex_;  ///< notices only: not on the way of a frame
  std::vector<SinkNotice> notices_;
  std::thread thread_;
};

}  // namespace lensd
