// The pipeline's decode thread: reads pictures from the source and queues them for the graph, in order.
#include <algorithm>

#include "app/pipeline/pipeline.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/media/burst.hpp"

namespace lensd {

void Pipeline::decode_loop() {
  try {
    while (!stopping() && !pictures_.closed()) {
      const uint32_t serial = seek_serial_.load(std::memory_order_acquire);
      if (serial != decode_serial_) {
        decode_serial_ = serial;
        if (stopping()) return;
        source_->seek(seek_ns_.load(std::memory_order_relaxed), seek_back_.load(std::memory_order_relaxed));
      }
      if (!decode_one()) wait_for_seek_or_stop();
    }
  } catch (const Error&) {
    // stop() interrupts the source, for example while it opens a file again.
    if (!stopping()) throw;
  }
}

/// Reads and queues one picture. Returns false at the end of the stream.
bool Pipeline::decode_one() {
  decode_heartbeat_.fetch_add(1, std::memory_order_relaxed);
  DecodedPicture next;
  next.serial = decode_serial_;
  const int64_t begin = now_ns();
  const FrameOutcome outcome = source_->next(next.picture);
  if (outcome == FrameOutcome::again) return true;
  if (outcome == FrameOutcome::ok) {
    const int64_t end = now_ns();
    if (!source_info_.live) {  // a live source's next() also waits for the picture
      profiler_.record(decode_scope_, end - begin);
      timeline_.record(decode_track_, decode_label_, next.picture.info.index, begin, end);
    }
    next.picture.info.serial += decode_serial_;
    decoded_.fetch_add(1, std::memory_order_relaxed);
    if (next.picture.info.placeholder) placeholders_.fetch_add(1, std::memory_order_relaxed);
  } else {
    std::string errors = source_->stream_errors();
    const std::lock_guard lock(mutex_);
    stream_errors_ = std::move(errors);
  }
  enqueue(next);
  timeline_.sample(waiting_counter_, static_cast<int64_t>(pictures_.size()), now_ns());
  return outcome == FrameOutcome::ok;
}

/// Returns how many live pictures may wait while `next` is queued behind them. Paced runs keep none, for the
/// smallest delay, unless a sink wants every frame and the run is not `paused`.
size_t Pipeline::kept_pictures(const PictureRef& next, bool paused) const {
  const auto wants_all = [](const auto& sink) { return sink->wants_every_frame(); };
  if (options_.paced && (paused || std::ranges::none_of(options_.sinks, wants_all))) return 0;
  return burst_limit(next, kQueuedPictures) - 1;
}

/// Queues a picture. With a file, waits for space. With a live source, drops older pictures instead, see
/// kept_pictures().
void Pipeline::enqueue(DecodedPicture& next) {
  next.queued_ns = now_ns();
  if (!source_info_.live || !next.picture) {
    pictures_.push(next);
    return;
  }
  const bool paused = status_.load().paused;
  const size_t kept = kept_pictures(next.picture.planes, paused);
  uint64_t dropped = 0;
  while (pictures_.size() > kept && pictures_.try_pop()) ++dropped;
  while (!pictures_.try_push(next) && !pictures_.closed())
    if (pictures_.try_pop()) ++dropped;
  (paused ? skipped_ : dropped_).fetch_add(dropped, std::memory_order_relaxed);
}

void Pipeline::wait_for_seek_or_stop() {
  all_decoded_ = true;
  while (!stopping() && seek_serial_.load(std::memory_order_acquire) == decode_serial_)
    seek_serial_.wait(decode_serial_, std::memory_order_acquire);
  all_decoded_ = false;
}

}  // namespace lensd
