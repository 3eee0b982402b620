#include "app/pipeline/queue_sink.hpp"

#include <utility>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"

namespace lensd {

QueueSink::~QueueSink() {
  finish();
}

void QueueSink::run(bool may_drop) {
  may_drop_ = may_drop;
  thread_ = std::thread([this] { loop(); });
}

void QueueSink::finish(std::chrono::nanoseconds patience) {
  queue_.close();
  if (!thread_.joinable()) return;
  if (!ended_.try_acquire_for(patience)) abandon_ = true;
  thread_.join();
}

void QueueSink::loop() {
  while (auto job = queue_.pop()) handle(*job);
  complete();
  ended_.release();
}

void QueueSink::push(Job job) {
  const bool wait = !may_drop_;
  if (queue_.size() == 0) patience_ns_ = kBurstPatienceNs;
  for (;;) {
    const uint32_t wakes = queue_.wake_token();
    if (wait && !stop_soon_.load(std::memory_order_acquire)) {
      if (queue_.push_or_wake(job, wakes) || queue_.closed()) return;
      continue;
    }
    if (queue_.try_push(job) || queue_.closed()) return;
    if (wait_in_burst()) continue;
    if (auto oldest = queue_.try_pop(); oldest && (oldest->frame || oldest->picture)) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      ++job.losses.dropped;  // the frame was queued before this job
    }
  }
}

/// Waits 1 ms of the remaining patience_ns_. Returns false if the sink should drop a frame instead.
bool QueueSink::wait_in_burst() {
  if (!burst_ || patience_ns_ <= 0 || !wants_every_frame() || stop_soon_.load(std::memory_order_acquire))
    return false;
  const int64_t begin = now_ns();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  patience_ns_ -= now_ns() - begin;
  return true;
}

ConstImageRef QueueSink::host_image(const Frame& frame) {
  frame.wait_ready();
  const ImageRef image = frame.image();
  if (frame.memory() != MemoryKind::device) return image;
  if (!sync_) throw Error(ExitCode::runtime_failure, "recording", "the frames stay on the GPU");
  if (!(copy_.format == image.format)) copy_ = Image(image.format);
  sync_->copy_to_host(frame, 0, 0, 0, copy_.ref());
  return std::as_const(copy_).ref();
}

void finish_sinks(const std::vector<std::shared_ptr<FrameSink>>& sinks, std::chrono::nanoseconds patience) {
  for (const auto& sink : sinks)
    if (auto* queue = dynamic_cast<QueueSink*>(sink.get())) queue->close();
  for (const auto& sink : sinks)
    if (auto* queue = dynamic_cast<QueueSink*>(sink.get())) queue->finish(patience);
}

}  // namespace lensd
