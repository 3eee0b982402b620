#include "core/media/live/live_source.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/url_secrets.hpp"
#include "core/media/camera/shared_controls.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

constexpr int64_t kPlaceholderEveryNs = 500'000'000;
constexpr int64_t kUdpRetryNs = 50'000'000;
/// next() returns `again` after this time without a picture.
constexpr int64_t kLongestWaitNs = 200'000'000;
/// The destructor waits at most this long for the reader thread to end.
constexpr auto kExitTimeout = std::chrono::milliseconds(500);
/// Time stamps have jumped if they go backwards, or advance by more than this further than the clock.
/// wait_until_due() restarts its time line if the file is more than this behind the clock.
constexpr int64_t kJumpNs = 1'000'000'000;
/// The smallest delay increases by 1/5000 of the elapsed time, to follow a sender whose clock is slow.
constexpr int64_t kDriftShare = 5000;

std::chrono::steady_clock::time_point time_point(int64_t ns) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::nanoseconds(ns)));
}

std::string stream_text(const SourceInfo& info) {
  const Extent size = info.picture.upright();
  std::string text = fmt::format("{}×{} {}", size.width, size.height, info.codec);
  if (info.fps > 0) text += fmt::format(", {:.4g} fps", info.fps);
  return text;
}

LiveTiming timing_of(const std::string& url, const LiveOptions& options) {
  LiveTiming timing;
  timing.stall_ns = options.stall_ns;
  // Retries of a local device or a UDP socket cause no load on a server, so do not slow them down. A pause on
  // UDP may also miss the first key frame.
  if (scheme_of(url) == "udp") timing.retry_ns = kUdpRetryNs;
  if (classify(url) != UrlKind::network || scheme_of(url) == "udp") timing.slow_retry_ns = timing.retry_ns;
  return timing;
}

}  // namespace

/// The reader thread and the data that it shares with the decode thread. Owned by both threads; may outlive
/// the source.
struct LiveSource::Reader {
  Reader(const std::string& url, const LiveOptions& options, Opener opener)
      : where(display_url(url)),
        open(std::move(opener)),
        controls(options.shared_controls),
        machine(timing_of(url, options), now_ns(), static_cast<uint32_t>(now_ns())) {}

  struct QueuedPicture {
    Picture picture;
    uint32_t connection = 0;
  };

  static void run(const std::shared_ptr<Reader>& reader);
  bool wait_for_attempt();
  void attempt();
  bool mode_was_changed(const std::string& reason);
  void read_pictures(Source& source);
  void wait_until_due(int64_t pts_ns);
  void push(Picture picture);
  QueuedPicture pop();
  void estimate_latency(const FrameInfo& info, int64_t now);

  const std::string where;
  const Opener open;
  const std::shared_ptr<SharedControls> controls;  // may be null
  std::atomic<bool> stop{false};

  std::mutex mutex;
  std::condition_variable changed;  // both threads wait on it
  LiveStateMachine machine;
  std::array<QueuedPicture, 2> queue;  // oldest first
  size_t queued = 0;
  bool interrupted = false, ended = false, exited = false;
  bool take_files = true;  // true while the constructor waits: if the source is a file, store it in `file`
  std::exception_ptr failure;
  std::unique_ptr<Source> file;
  SourceInfo info;
  std::atomic<PixelAspect> pixel_aspect{PixelAspect{}};
  uint32_t connection = 0;  // number of the current connection; 0: none yet

  // Used by the reader thread only.
  int64_t pace_wall_ns = 0, pace_pts_ns = -1, earliest_delay_ns = INT64_MAX;
};

void LiveSource::Reader::run(const std::shared_ptr<Reader>& reader) {
  while (reader->wait_for_attempt()) reader->attempt();
  const std::lock_guard lock(reader->mutex);
  reader->exited = true;
  reader->changed.notify_all();
}

bool LiveSource::Reader::wait_for_attempt() {
  std::unique_lock lock(mutex);
  for (;;) {
    if (stop || ended || failure || file) return false;
    const int64_t now = now_ns();
    if (machine.attempt_due(now)) {
      machine.attempt_started();
      return true;
    }
    changed.wait_until(lock, time_point(machine.next_event_ns()));
  }
}

/// Opens a connection and reads it to its end.
void LiveSource::Reader::attempt() {
  std::string reason;
  try {
    std::unique_ptr<Source> source = open(stop);
    {
      const std::lock_guard lock(mutex);
      info = source->info();
      machine.status().stream = stream_text(info);
      ++connection;
      if (take_files && !info.live) {
        file = std::move(source);
        changed.notify_all();
        return;
      }
    }
    pace_pts_ns = -1, earliest_delay_ns = INT64_MAX;
    read_pictures(*source);
    return;
  } catch (const Error& e) {
    reason = e.problem();
    if (mode_was_changed(reason)) return;
    // Errors other than bad_source are permanent, for example invalid options or a missing GPU.
    if (e.code() != ExitCode::bad_source) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      changed.notify_all();
      return;
    }
    log::debug("{}", e.what());
  } catch (const std::exception& e) {
    reason = e.what();
  }
  // Return the free memory of the connection's threads to the system; each thread has its own malloc arena.
  malloc_trim(0);
  const std::lock_guard lock(mutex);
  if (stop) return;
  const std::string before = machine.status().reason;
  machine.lost(now_ns(), reason);
  if (before != reason) log::info("{}: {}: {}", where, name(machine.status().state), reason);
  changed.notify_all();
}

/// Returns true if the connection ended because of a change of the camera's mode, or because the camera does
/// not play in the new mode. The next attempt follows at once.
bool LiveSource::Reader::mode_was_changed(const std::string& reason) {
  if (!controls || !(controls->take_restart() || controls->revert_mode(reason))) return false;
  const std::lock_guard lock(mutex);
  machine.restart(now_ns());
  return true;
}

/// Queues pictures until `stop` is set or a file on a server ends. Throws Error if the source fails.
void LiveSource::Reader::read_pictures(Source& source) {
  const bool paced = !source.info().live;
  bool first = true;
  while (!stop) {
    Picture picture;
    const FrameOutcome outcome = source.next(picture);
    pixel_aspect.store(source.pixel_aspect(), std::memory_order_relaxed);
    if (outcome == FrameOutcome::again) continue;
    if (outcome == FrameOutcome::end_of_stream) {
      const std::lock_guard lock(mutex);
      ended = true;
      changed.notify_all();
      return;
    }
    if (paced) wait_until_due(picture.info.pts_ns);
    push(std::move(picture));
    if (controls && std::exchange(first, false)) controls->mode_works();
  }
}

/// Waits until a picture of a file on a server is due. Only for files that open too late for take_file().
void LiveSource::Reader::wait_until_due(int64_t pts_ns) {
  const int64_t now = now_ns();
  if (pace_pts_ns < 0 || now - pace_wall_ns > pts_ns - pace_pts_ns + kJumpNs) {
    pace_wall_ns = now, pace_pts_ns = pts_ns;
    return;
  }
  std::unique_lock lock(mutex);
  changed.wait_until(lock, time_point(pace_wall_ns + pts_ns - pace_pts_ns), [this] { return stop.load(); });
}

void LiveSource::Reader::push(Picture picture) {
  const std::lock_guard lock(mutex);
  const int64_t now = now_ns();
  estimate_latency(picture.info, now);
  const LiveState before = machine.status().state;
  machine.frame(now);
  if (before != LiveState::playing) log::info("{}: playing {}", where, machine.status().stream);
  if (queued == queue.size()) {
    pop();
    ++machine.status().dropped;
  }
  queue[queued++] = {std::move(picture), connection};
  changed.notify_all();
}

LiveSource::Reader::QueuedPicture LiveSource::Reader::pop() {
  QueuedPicture oldest = std::move(queue[0]);
  std::swap(queue[0], queue[1]);
  --queued;
  return oldest;
}

/// Computes a picture's latency: its delay minus the smallest delay, where delay = arrival - time stamp.
void LiveSource::Reader::estimate_latency(const FrameInfo& frame, int64_t now) {
  const int64_t delay = now - frame.pts_ns;
  if (earliest_delay_ns != INT64_MAX)
    earliest_delay_ns += std::max<int64_t>(0, now - machine.status().last_frame_ns) / kDriftShare;
  earliest_delay_ns = std::min(earliest_delay_ns, delay);
  // Cameras provide the capture time, which is more exact.
  machine.status().latency_ns = std::max(delay - earliest_delay_ns, now - frame.capture_ns);
}

LiveSource::LiveSource(const std::string& url, const SourceOptions& options, Opener open,
                       int64_t first_timeout_ns)
    : where_(url_without_secrets(url)),
      options_(options.live),
      reader_(std::make_shared<Reader>(url, options.live, std::move(open))),
      start_ns_(now_ns()) {
  thread_ = OwnedThread([reader = reader_] { Reader::run(reader); });
  std::unique_lock lock(reader_->mutex);
  const int64_t deadline = start_ns_ + first_timeout_ns;
  const auto decided = [this] {
    return reader_->queued > 0 || reader_->file || reader_->failure || reader_->exited ||
           !reader_->machine.status().reason.empty();
  };
  // Poll the caller's flag, because setting it does not notify `changed`.
  while (!decided() && now_ns() < deadline && !(options.cancel && *options.cancel))
    reader_->changed.wait_until(lock, time_point(std::min(deadline, now_ns() + 50'000'000)));
  reader_->take_files = false;
  if (reader_->failure) std::rethrow_exception(reader_->failure);
  opened_ = reader_->queued > 0;
  info_ = reader_->info;
  info_.url = where_, info_.name = short_name(url);
  info_.live = true, info_.seekable = false, info_.image = false;
  info_.duration_ns = 0, info_.frame_count = 0;
  info_.has_audio = false;  // recordings open the source again for audio, which is not possible here
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

void LiveSource::seek(int64_t) {
  throw Error(ExitCode::bad_source, where_, "a live source cannot seek");
}

void LiveSource::interrupt() noexcept {
  const std::lock_guard lock(reader_->mutex);
  reader_->interrupted = true;
  reader_->changed.notify_all();
}

LiveStatus LiveSource::live_status() const {
  const std::lock_guard lock(reader_->mutex);
  reader_->machine.tick(now_ns());
  return reader_->machine.status();
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

std::string LiveSource::reset_controls(const std::vector<std::string>& names) {
  return options_.shared_controls ? options_.shared_controls->reset(names) : Source::reset_controls(names);
}

std::vector<Notice> LiveSource::take_notices() {
  return options_.shared_controls ? options_.shared_controls->take_notices() : std::vector<Notice>();
}

FrameOutcome LiveSource::next(Picture& out) {
  out.reset();
  const int64_t deadline = now_ns() + kLongestWaitNs;
  std::unique_lock lock(reader_->mutex);
  for (;;) {
    if (std::exchange(reader_->interrupted, false)) return FrameOutcome::again;
    if (reader_->failure) std::rethrow_exception(reader_->failure);
    const int64_t now = now_ns();
    reader_->machine.tick(now);
    if (reader_->queued > 0) {
      Reader::QueuedPicture oldest = reader_->pop();
      lock.unlock();
      if (oldest.connection != connection_ || placeholder_shown_) ++serial_;
      connection_ = oldest.connection;
      out = deliver(std::move(oldest.picture), now);
      return FrameOutcome::ok;
    }
    if (reader_->ended) return FrameOutcome::end_of_stream;
    if (now > deadline) return FrameOutcome::again;
    const LiveStatus& status = reader_->machine.status();
    const int64_t silent_since = reader_->machine.silent_since_ns();
    const int64_t placeholder_at = next_placeholder_ns(status, silent_since);
    if (now >= placeholder_at) {
      const LiveStatus copy = status;
      lock.unlock();
      out = placeholder(copy, silent_since, now);
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
  const int64_t first = silent_since + options_.stall_ns;
  if (!placeholder_shown_ || placeholder_state_ != status.state) return first;
  return std::max(first, placeholder_ns_ + kPlaceholderEveryNs);
}

/// Sets a received picture's times and numbers so that they continue across connections.
Picture LiveSource::deliver(Picture picture, int64_t now) {
  const int64_t elapsed = now - start_ns_;
  const int64_t step = picture.info.pts_ns - stream_pts_ns_, waited = now - arrival_ns_;
  const bool follows = last_ && !placeholder_shown_ && step > 0 && step <= waited + kJumpNs;
  stream_pts_ns_ = picture.info.pts_ns, arrival_ns_ = now;
  pts_ns_ = follows ? pts_ns_ + step : std::max(elapsed, pts_ns_ + 1'000'000);
  picture.info.pts_ns = pts_ns_;
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
  pts_ns_ = std::max(now - start_ns_, pts_ns_ + 1'000'000);
  frame.pts_ns = pts_ns_;
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
