#include "core/media/output/files/segment_writer.hpp"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/clock.hpp"

namespace lensd {
namespace {

constexpr int64_t kQueueBytes = 64 << 20;
/// Times from `stop` until queued packets are discarded, and until the thread must have ended. Together with
/// QueueSink::finish(), the program ends in less than a second.
constexpr int64_t kDrainNs = 150'000'000, kWriterEndNs = 350'000'000;
constexpr auto kWriterPoll = std::chrono::milliseconds(10);

}  // namespace

/// A packet, a jump of the source, or the end of a stream.
struct SegmentWriter::Item {
  ff::PacketPtr packet;
  std::shared_ptr<const EncodedStream> stream;
  std::optional<SourceJump> jump = {};
  double age_s = 0;
  int64_t end = 0;
  AudioEnd audio_end = AudioEnd::video;

  int64_t bytes() const noexcept { return packet ? packet->size : 0; }
};

/// Shared with the thread, which may outlive the SegmentWriter if the disk does not answer.
class SegmentWriter::Worker {
 public:
  Worker(const RecordSettings& settings, RecordTarget target, bool own_thread)
      : segments_(settings, own_thread ? with_stop(std::move(target)) : std::move(target)) {
    report_.path = segments_.path();
  }

  Segments& segments() noexcept { return segments_; }

  /// Queues the item. Returns false if the queue has no room.
  bool try_push(Item& item) {
    const std::lock_guard lock(mutex_);
    if (problem_) std::rethrow_exception(problem_);
    if (!items_.empty() && bytes_ + item.bytes() > kQueueBytes) return false;
    bytes_ += item.bytes();
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }
  /// Makes the thread discard the packets that are still queued.
  void discard_queued() noexcept { stop_ = true; }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  /// Waits until the thread makes progress, at most kWriterPoll.
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kWriterPoll);
  }
  bool ended() const {
    const std::lock_guard lock(mutex_);
    return ended_;
  }
  std::exception_ptr problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
  }
  void publish() {
    const std::lock_guard lock(mutex_);
    report_.path = segments_.path();
    report_.frames = segments_.frames(), report_.bytes = segments_.bytes(), report_.files = segments_.files();
  }
  Recording::Report report() const {
    const std::lock_guard lock(mutex_);
    return report_;
  }

  void handle(const Item& item) {
    if (item.packet)
      segments_.write(*item.packet, item.stream, item.age_s);
    else if (item.jump)
      item.stream->audio->add_jump(*item.jump);
    else
      segments_.end_stream(item.end, item.audio_end);
  }

  void run() {
    while (std::optional<Item> item = pop()) {
      if (failed_) continue;
      guarded([&] {
        if (!item->packet || !stop_)
          handle(*item);
        else
          ++lost_;
      });
    }
    guarded([&] {  // also after an error, because a file may be open
      segments_.finish();
      if (lost_ > 0)
        throw Error(ExitCode::runtime_failure, segments_.path(),
                    fmt::format("the disk is too slow: the last {} frames are missing", lost_));
    });
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  /// Returns the target with this object's flag, because the caller's flag may not outlive the thread.
  RecordTarget with_stop(RecordTarget target) {
    target.rules.stop = &stop_;
    return target;
  }

  /// Waits for an item. Returns nullopt after close(), if the queue is empty.
  std::optional<Item> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return closed_ || !items_.empty(); });
    if (items_.empty()) return std::nullopt;
    std::optional<Item> item(std::move(items_.front()));
    items_.pop_front();
    bytes_ -= item->bytes();
    return item;
  }
  /// Runs `step`, and keeps the first error.
  template <class Step>
  void guarded(Step&& step) {
    std::exception_ptr problem;
    try {
      step();
    } catch (...) {
      problem = std::current_exception();
      failed_ = true;
    }
    publish();
    if (!problem) return;
    const std::lock_guard lock(mutex_);
    if (!problem_) problem_ = problem;
  }

  std::atomic<bool> stop_{false};
  Segments segments_;
  bool failed_ = false;  // the writer's thread only: discards the items that follow
  int64_t lost_ = 0;     // the writer's thread only
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Item> items_;
  int64_t bytes_ = 0;  // size of items_
  bool closed_ = false, ended_ = false;
  std::exception_ptr problem_;
  Recording::Report report_;
};

SegmentWriter::SegmentWriter(const RecordSettings& settings, const RecordTarget& target, bool own_thread,
                             const std::atomic<bool>* stop)
    : worker_(std::make_shared<Worker>(settings, target, own_thread)), stop_(stop), queued_(own_thread) {
  if (queued_) thread_ = OwnedThread([worker = worker_] { worker->run(); });
}

SegmentWriter::~SegmentWriter() {
  try {
    finish();
  } catch (const std::exception&) {
    // Callers that need the error call finish().
  }
}

const std::string& SegmentWriter::muxer() const noexcept {
  return worker_->segments().muxer();
}

bool SegmentWriter::take_key_request(int64_t ticks, AVRational time_base) {
  return worker_->segments().take_key_request(ticks, time_base);
}

void SegmentWriter::add_jump(const SourceJump& jump, const std::shared_ptr<const EncodedStream>& stream) {
  if (!stream->audio) return;
  if (!queued_) return stream->audio->add_jump(jump);
  post({.packet = nullptr, .stream = stream, .jump = jump});
}

void SegmentWriter::write(const AVPacket& packet, const std::shared_ptr<const EncodedStream>& stream,
                          double age_s) {
  if (!queued_) return worker_->segments().write(packet, stream, age_s);
  Item item{.packet = ff::make_packet(), .stream = stream, .age_s = age_s};
  ff::check_memory(av_packet_ref(item.packet.get(), &packet));
  post(std::move(item));
}

void SegmentWriter::end_stream(int64_t end, AudioEnd audio_end) {
  if (!queued_) return worker_->segments().end_stream(end, audio_end);
  post({.packet = nullptr, .stream = nullptr, .end = end, .audio_end = audio_end});
}

void SegmentWriter::post(Item item) {
  while (!worker_->try_push(item)) wait();
}

void SegmentWriter::finish() {
  if (std::exchange(finished_, true)) return;
  if (!queued_) return worker_->segments().finish();
  worker_->close();
  while (!worker_->ended()) wait();
  thread_.join_within(std::chrono::nanoseconds(kWriterEndNs));
  if (const std::exception_ptr problem = worker_->problem()) std::rethrow_exception(problem);
}

/// Waits for the writer's thread, at most kWriterPoll. Throws Error(runtime_failure) at the deadline that
/// `stop` sets.
void SegmentWriter::wait() {
  worker_->wait();
  if (!stop_ || !*stop_) return;
  if (stopped_ns_ == 0) stopped_ns_ = now_ns();
  const int64_t waited = now_ns() - stopped_ns_;
  if (waited > kDrainNs) worker_->discard_queued();
  if (waited > kWriterEndNs)
    throw Error(ExitCode::runtime_failure, report().path,
                "the disk does not answer: the last frames may be missing");
}

Recording::Report SegmentWriter::report() const {
  if (queued_) return worker_->report();
  const Segments& s = worker_->segments();
  return {s.path(), s.frames(), s.bytes(), s.files()};
}

}  // namespace lensd
