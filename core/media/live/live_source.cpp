#include "core/media/live/live_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/device/device_memory_error.hpp"
#include "core/media/camera/shared_controls.hpp"
#include "core/media/hls/hls_access.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/live/live_reader.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

constexpr int64_t kPlaceholderEveryNs = 500'000'000;
/// next() returns `again` after this time without a picture.
constexpr int64_t kLongestWaitNs = 200'000'000;
/// The destructor waits at most this long for the reader thread to end.
constexpr auto kExitTimeout = std::chrono::milliseconds(500);
/// next() waits this long if it is out of memory.
constexpr auto kNoMemoryWait = std::chrono::milliseconds(20);

/// Returns how long before its due time a picture is delivered, so that the graph can process it. This is
/// less than the time to the next picture.
int64_t lead_ns(const FrameInfo& picture) {
  const int64_t most = picture.duration_ns > 0 ? picture.duration_ns * 3 / 4 : PlayoutDelay::kPictureLeadNs;
  return std::min(most, PlayoutDelay::kPictureLeadNs);
}

}  // namespace

LiveSource::LiveSource(const std::string& url, const SourceOptions& options, Opener open,
                       int64_t first_timeout_ns)
    : where_(url_without_secrets(url)),
      options_(options.live),
      reader_(std::make_shared<LiveReader>(url, options.live, std::move(open))),
      start_ns_(now_ns()) {
  thread_ = OwnedThread([reader = reader_] { LiveReader::run(reader); });
  std::unique_lock lock(reader_->mutex);
  const int64_t deadline = start_ns_ + first_timeout_ns;
  const auto decided = [this] {
    return reader_->queued > 0 || reader_->file || reader_->failure || reader_->exited ||
           !reader_->machine.status().reason.empty();
  };
  const int64_t file_deadline = start_ns_ + std::max(first_timeout_ns, options.live.open_ns);
  const auto end_ns = [&] {
    return options.live.hls && options.live.hls->opens_file ? file_deadline : deadline;
  };
  // Poll the caller's flag, because setting it does not notify `changed`.
  while (!decided() && now_ns() < end_ns() && !(options.cancel && *options.cancel))
    reader_->changed.wait_until(lock, time_point(std::min(end_ns(), now_ns() + 50'000'000)));
  reader_->take_files = false;
  if (reader_->failure) std::rethrow_exception(reader_->failure);
  opened_ = reader_->queued > 0;
  info_ = reader_->info;
  info_.url = where_, info_.name = short_name(url);
  info_.live = true, info_.seekable = false, info_.image = false;
  info_.duration_ns = 0, info_.frame_count = 0;
  info_.has_audio = false;  // the audio is in live_audio; no reader can open it again
  info_.live_audio = options_.audio;
  if (reader_->connection == 0)
    info_.picture = Placeholder::default_info(options_.size.width > 0 ? options_.size : Extent{1280, 720});
  last_info_ = info_.picture;
}

LiveSource::~LiveSource() {
  reader_->stop = true;
  {
    const std::lock_guard lock(reader_->mutex);
    reader_->changed.notify_all();
  }
  if (!thread_.join_within(kExitTimeout)) log::debug("{}: the reader thread hangs", where_);
}

std::unique_ptr<Source> LiveSource::take_file() {
  const std::lock_guard lock(reader_->mutex);
  return std::move(reader_->file);
}

void LiveSource::seek(int64_t, int) {
  throw Error(ExitCode::bad_source, where_, "a live source cannot seek");
}

void LiveSource::interrupt() noexcept {
  const std::lock_guard lock(reader_->mutex);
  reader_->interrupted = true;
  reader_->changed.notify_all();
}

LiveStatus LiveSource::live_status() const {
  const std::lock_guard lock(reader_->mutex);
  return reader_->status(now_ns());
}

PixelAspect LiveSource::pixel_aspect() const {
  return reader_->pixel_aspect.load(std::memory_order_relaxed);
}

std::shared_ptr<const SourceControls> LiveSource::controls(bool keep_fresh) const {
  return options_.shared_controls ? options_.shared_controls->current(keep_fresh) : nullptr;
}

std::string LiveSource::set_controls(const ControlValues& values) {
  return options_.shared_controls ? options_.shared_controls->set(values) : Source::set_controls(values);
}

std::string LiveSource::set_allowed_controls(const ControlValues& values) {
  return options_.shared_controls ? options_.shared_controls->set_allowed(values)
                                  : Source::set_allowed_controls(values);
}

std::string LiveSource::reset_controls(const std::vector<std::string>& names) {
  return options_.shared_controls ? options_.shared_controls->reset(names) : Source::reset_controls(names);
}

std::vector<Notice> LiveSource::take_notices() {
  std::vector<Notice> notices = reader_->notices.take();
  if (options_.shared_controls) append(notices, options_.shared_controls->take_notices());
  return notices;
}

FrameOutcome LiveSource::next(Picture& out) {
  try {
    return wait_for_next(out);
  } catch (const std::bad_alloc&) {
  } catch (const MemoryError&) {
  }
  // Out of memory. The source continues without this placeholder.
  out.reset();
  placeholder_retry_ns_ = now_ns() + kPlaceholderEveryNs;
  std::this_thread::sleep_for(kNoMemoryWait);
  return FrameOutcome::again;
}

FrameOutcome LiveSource::wait_for_next(Picture& out) {
  out.reset();
  const int64_t deadline = now_ns() + kLongestWaitNs;
  std::unique_lock lock(reader_->mutex);
  for (;;) {
    if (std::exchange(reader_->interrupted, false)) return FrameOutcome::again;
    if (reader_->failure) std::rethrow_exception(reader_->failure);
    const int64_t now = now_ns();
    reader_->machine.tick(now);
    if (reader_->queued > 0) {
      const int64_t due = reader_->due_ns(now);
      const int64_t deliver_at = due - lead_ns(reader_->queue[0].picture.info);
      if (deliver_at > now) {
        if (now > deadline) return FrameOutcome::again;
        reader_->changed.wait_until(lock, time_point(std::min(deliver_at, deadline)));
        continue;
      }
      LiveReader::QueuedPicture oldest = reader_->pop();
      reader_->sound_wait_ns = std::max<int64_t>(0, due > 0 ? due - oldest.picture.info.capture_ns : 0);
      lock.unlock();
      const bool follows = oldest.connection == connection_ && !placeholder_shown_;
      connection_ = oldest.connection;
      out = deliver(std::move(oldest.picture), now, follows);
      out.info.due_ns = due;
      return FrameOutcome::ok;
    }
    if (reader_->ended) return FrameOutcome::end_of_stream;
    if (now > deadline) return FrameOutcome::again;
    const LiveStatus status = reader_->status(now);
    const int64_t silent_since = reader_->machine.silent_since_ns();
    const int64_t placeholder_at = next_placeholder_ns(status, silent_since);
    if (now >= placeholder_at) {
      lock.unlock();
      out = placeholder(status, silent_since, now);
      return FrameOutcome::ok;
    }
    const int64_t wake = std::min({reader_->machine.next_event_ns(), placeholder_at, deadline});
    // The lower bound keeps this thread from spinning while the reader starts an attempt that is due.
    reader_->changed.wait_until(lock, time_point(std::max(wake, now + 10'000'000)));
  }
}

/// Returns the time at which to show the next placeholder; INT64_MAX: none.
int64_t LiveSource::next_placeholder_ns(const LiveStatus& status, int64_t silent_since) const {
  if (!options_.placeholders || status.state == LiveState::playing) return INT64_MAX;
  const int64_t first = std::max(silent_since + options_.stall_ns, placeholder_retry_ns_);
  if (!placeholder_shown_ || placeholder_state_ != status.state) return first;
  return std::max(first, placeholder_ns_ + kPlaceholderEveryNs);
}

/// Sets a received picture's timestamp, index and serial so that they continue across connections. `follows`:
/// the last delivered picture is from the same connection and is not a placeholder.
Picture LiveSource::deliver(Picture picture, int64_t now, bool follows) {
  if (!follows) ++serial_;
  picture.info.pts_ns = timeline_.picture(picture.info.pts_ns, now - start_ns_, follows);
  picture.info.index = index_++;
  picture.info.serial = serial_;
  placeholder_shown_ = false;
  placeholder_.drop_background();
  last_ = picture.share();
  last_info_ = picture.planes.info;
  return picture;
}

Picture LiveSource::placeholder(const LiveStatus& status, int64_t silent_since, int64_t now) {
  if (!placeholder_shown_) {
    ++serial_;
    placeholder_.set_background(last_info_, &last_);
    last_.reset();  // releases the decoder's memory
  }
  placeholder_shown_ = true, placeholder_state_ = status.state, placeholder_ns_ = now;
  FrameInfo frame;
  frame.index = std::max<int64_t>(0, index_ - 1);
  frame.pts_ns = timeline_.placeholder(now - start_ns_);
  frame.duration_ns = kPlaceholderEveryNs;
  frame.capture_ns = now;
  frame.serial = serial_;
  frame.placeholder = true;
  if (!options_.captions) return placeholder_.make({}, {}, frame);
  const int64_t seconds = (now - silent_since) / 1'000'000'000;
  return placeholder_.make(fmt::format("{} {} s", name(status.state), seconds),
                           status.reason.empty() ? where_ : status.reason, frame);
}

}  // namespace lensd
