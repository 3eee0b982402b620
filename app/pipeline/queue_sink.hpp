// A sink with its own thread and a bounded queue.
//
//   take() ── Job ──▶ bounded queue ──▶ handle() on the sink's thread
//
// While the queue is full, take() waits. After run(true), as for live sources, take() drops and counts the
// oldest frame instead. If the sink wants every frame, take() first waits up to kBurstPatienceNs during a
// burst, because the encoder may need longer for the burst's frames than the graph.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "app/pipeline/frame_sink.hpp"
#include "core/base/bounded_queue.hpp"
#include "core/base/semaphore.hpp"
#include "core/image/frame.hpp"
#include "core/image/image.hpp"

namespace lensd {

/// Capacity of the queue of a sink that encodes.
inline constexpr int kSinkFrames = 4;
/// Maximum total wait for a sink's full queue during bursts. The count starts again when the queue is empty,
/// so a sink that is always too slow delays the video only once.
inline constexpr int64_t kBurstPatienceNs = 250'000'000;

class QueueSink : public FrameSink {
 public:
  /// `fps`: the source's frames per second; see fps().
  explicit QueueSink(double fps, int capacity = kSinkFrames)
      : fps_(fps), queue_(static_cast<size_t>(capacity)) {}
  ~QueueSink() override;

  void stop_soon() noexcept override { stop_soon_.store(true, std::memory_order_release), queue_.wake(); }
  std::vector<Notice> take_notices() override { return notices_.take(); }
  void attach(DeviceFrameSync* sync) override { sync_ = sync; }
  void arriving(const Arrival& arrival) override { burst_ = arrival.burst; }
  void rate_changed(double fps) override { fps_.store(fps, std::memory_order_relaxed); }

  static constexpr auto kPatience = std::chrono::milliseconds(300);  ///< default of finish(), finish_sinks()

  /// Lets the thread end after the queued frames. See finish_sinks().
  void close() { queue_.close(); }
  /// Waits until the queued frames are handled and complete() has returned. After `patience`, sets abandon(),
  /// which interrupts waits that could take seconds: for the source's audio from the network, and for the
  /// reader of a pipe. Call after Pipeline::stop(). Idempotent.
  void finish(std::chrono::nanoseconds patience = kPatience);
  /// Sets abandon(), as finish() does after its patience. Thread-safe.
  void end_waits() noexcept { abandon_ = true; }
  /// Returns the first error, or an empty string. Call after finish().
  const std::string& failure() const { return failure_; }

 protected:
  struct Losses {
    uint64_t dropped = 0;  ///< frames, see dropped()
    uint64_t missed = 0;   ///< see SinkStatus
  };
  struct Job {
    Frame frame;
    Picture picture;
    FrameInfo info;
    PixelAspect aspect;
    std::shared_ptr<const StartRecord> session;  ///< the recording that the frame belongs to, or null
    Losses losses;                               ///< totals of a recorder when push() has queued the job
  };

  /// Starts the thread. `may_drop`: drop frames if the queue is full. Call last in the derived class's
  /// constructor.
  void run(bool may_drop);
  /// Queues a job. While the queue is full, waits or drops the oldest frame; see above. Call from the process
  /// thread only.
  void push(Job job);
  /// Returns the flag that finish() sets to interrupt waits.
  const std::atomic<bool>& abandon() const noexcept { return abandon_; }
  /// Returns the frames per second of the newest connection whose rate is known, else those passed to the
  /// constructor. Thread-safe.
  double fps() const noexcept { return fps_.load(std::memory_order_relaxed); }
  uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }
  void notice(bool problem, std::string text) { notices_.add(problem, std::move(text)); }
  /// Waits for the frame. Returns its output in host memory, valid until the next call. Call from the sink's
  /// thread only.
  ConstImageRef host_image(const Frame& frame);

  /// Handles a job. Called by the sink's thread. Must not throw.
  virtual void handle(Job& job) = 0;
  /// Called by the sink's thread after the last job. Must not throw.
  virtual void complete() = 0;

  std::string failure_;  ///< written by the sink's thread

 private:
  void loop();
  bool wait_in_burst();

  std::atomic<double> fps_;
  BoundedQueue<Job> queue_;
  DeviceFrameSync* sync_ = nullptr;
  Image copy_;  ///< host copy of a device frame
  bool may_drop_ = false;
  bool burst_ = false;       // process thread
  int64_t patience_ns_ = 0;  // process thread
  std::atomic<bool> stop_soon_{false}, abandon_{false};
  Semaphore ended_;  ///< released at the end of the thread
  std::atomic<uint64_t> dropped_{0};
  NoticeList notices_;
  std::thread thread_;
};

/// Calls finish() for all QueueSinks of the list, which may contain null. Their threads end in parallel, so
/// that a slow sink does not delay the end of other sinks.
void finish_sinks(const std::vector<std::shared_ptr<FrameSink>>& sinks,
                  std::chrono::nanoseconds patience = QueueSink::kPatience);

}  // namespace lensd
