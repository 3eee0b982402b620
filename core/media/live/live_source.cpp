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
#include "core/media/url.hpp"

namespace lensd {
namespace {

constexpr int64_t kPlaceholderEvery = 500'000'000;
constexpr int64_t kListenAgain = 50'000'000;
/// next() comes back this often even where nothing happens.
constexpr int64_t kLongestWait = 200'000'000;
/// How long the end waits for the reader before it is left alone.
constexpr auto kFarewell = std::chrono::milliseconds(500);
/// More than this ahead of the clock, a stream's times have leapt.
constexpr int64_t kLeap = 1'000'000'000;
/// The line of earliest arrivals rises by this share, so that it follows a sender whose clock is slow.
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
  // Asking this machine for a device costs nobody anything, nor does listening for datagrams, where every
  // pause may miss the first key frame.
  if (scheme_of(url) == "udp") timing.retry_ns = kListenAgain;
  if (classify(url) != UrlKind::network || scheme_of(url) == "udp") timing.slow_retry_ns = timing.retry_ns;
  return timing;
}

}  // namespace

/// What reader and decode thread share; the reader owns it as well and may outlive the source.
struct LiveSource::Link {
  Link(const std::string& url, const LiveOptions& options, Opener opener)
      : where(without_secrets(url)),
        open(std::move(opener)),
        machine(timing_of(url, options), now_ns(), static_cast<uint32_t>(now_ns())) {}

  struct Mail {
    Picture picture;
    uint32_t connection = 0;
  };

  static void read(const std::shared_ptr<Link>& link);
  bool wait_for_attempt();
  void attempt();
  void pump(Source& source);
  void wait_until_due(int64_t pts_ns);
  void put(Picture picture);
  void estimate_latency(const FrameInfo& info, int64_t now);

  const std::string where;
  const Opener open;
  std::atomic<bool> stop{false};

  std::mutex mutex;
  std::condition_variable changed;  // both ways
  LiveMachine machine;
  std::array<Mail, 2> mail;  // oldest first
  size_t mails = 0;
  bool interrupted = false, ended = false, gone = false;
  bool file_wanted = false;  // while the constructor waits: a file is handed over instead of played
  std::exception_ptr failure;
  std::unique_ptr<Source> file;
  SourceInfo info;
  bool info_known = false;
  uint32_t connection = 0;

  // Reader thread.
  int64_t pace_wall_ns = 0, pace_pts_ns = -1, earliest_ns = 0;
  bool earliest_known = false;
};

void LiveSource::Link::read(const std::shared_ptr<Link>& link) {
  while (link->wait_for_attempt()) link->attempt();
  const std::lock_guard lock(link->mutex);
  link->gone = true;
  link->changed.notify_all();
}

bool LiveSource::Link::wait_for_attempt() {
  std::unique_lock lock(mutex);
  for (;;) {
    if (stop || ended || failure || file) return false;
    const int64_t now = now_ns();
    if (machine.attempt_due(now)) {
      machine.attempt_begun(now);
      return true;
    }
    changed.wait_until(lock, time_point(machine.next_event_ns()));
  }
}

/// One connection from its opening to its end.
void LiveSource::Link::attempt() {
  std::string reason;
  try {
    std::unique_ptr<Source> source = open(stop);
    {
      const std::lock_guard lock(mutex);
      info = source->info(), info_known = true;
      machine.status().stream = stream_text(info);
      ++connection;
      if (file_wanted && !info.live) {
        file = std::move(source);
        changed.notify_all();
        return;
      }
    }
    pace_pts_ns = -1, earliest_known = false;
    pump(*source);
    return;
  } catch (const Error& e) {
    reason = e.problem();
    // What was asked for cannot be had, now or later: options that do not fit, a GPU that is not there.
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
  // Every connection allocates on threads of its own; what it leaves behind in their arenas goes back now.
  malloc_trim(0);
  const std::lock_guard lock(mutex);
  if (stop) return;
  const std::string before = machine.status().reason;
  machine.lost(now_ns(), reason);
  if (before != reason) log::info("{}: {}: {}", where, name(machine.status().state), reason);
  changed.notify_all();
}

/// Hands over pictures until the source ends (a file on a server) or fails, which throws.
void LiveSource::Link::pump(Source& source) {
  const bool paced = !source.info().live;
  while (!stop) {
    Picture picture;
    const FrameOutcome outcome = source.next(picture);
    if (outcome == FrameOutcome::again) continue;
    if (outcome == FrameOutcome::end_of_stream) {
      const std::lock_guard lock(mutex);
      ended = true;
      changed.notify_all();
      return;
    }
    if (paced) wait_until_due(picture.info.pts_ns);
    put(std::move(picture));
  }
}

/// A file that a slow server turned out to send plays at its own speed.
void LiveSource::Link::wait_until_due(int64_t pts_ns) {
  const int64_t now = now_ns();
  if (pace_pts_ns < 0 || now - pace_wall_ns > pts_ns - pace_pts_ns + kLeap) {
    pace_wall_ns = now, pace_pts_ns = pts_ns;
    return;
  }
  std::unique_lock lock(mutex);
  changed.wait_until(lock, time_point(pace_wall_ns + pts_ns - pace_pts_ns), [this] { return stop.load(); });
}

void LiveSource::Link::put(Picture picture) {
  const std::lock_guard lock(mutex);
  const int64_t now = now_ns();
  estimate_latency(picture.info, now);
  const LiveState before = machine.status().state;
  machine.frame(now);
  if (before != LiveState::playing) log::info("{}: playing {}", where, machine.status().stream);
  if (mails == mail.size()) {
    std::swap(mail[0], mail[1]);
    --mails;
    ++machine.status().dropped;
  }
  mail[mails++] = {std::move(picture), connection};
  changed.notify_all();
}

/// Pictures come at the earliest `earliest_ns` after their time stamps; what is later was held up.
void LiveSource::Link::estimate_latency(const FrameInfo& frame, int64_t now) {
  const int64_t delay = now - frame.pts_ns;
  if (!earliest_known) {
    earliest_ns = delay, earliest_known = true;
  } else {
    earliest_ns += std::max<int64_t>(0, now - machine.status().last_frame_ns) / kDriftShare;
  }
  earliest_ns = std::min(earliest_ns, delay);
  // Cameras tell when a picture was taken, which is better.
  machine.status().latency_ns = std::max(delay - earliest_ns, now - frame.capture_ns);
}

LiveSource::LiveSource(const std::string& url, const SourceOptions& options, Opener open, int64_t patience_ns)
    : where_(without_secrets(url)),
      options_(options.live),
      link_(std::make_shared<Link>(url, options.live, std::move(open))),
      begin_ns_(now_ns()) {
  link_->file_wanted = true;
  std::thread([link = link_] { Link::read(link); }).detach();
  std::unique_lock lock(link_->mutex);
  const int64_t deadline = begin_ns_ + patience_ns;
  const auto settled = [this] {
    return link_->mails > 0 || link_->file || link_->failure || link_->gone ||
           !link_->machine.status().reason.empty();
  };
  // The caller's flag is looked at now and then: nobody signals it here.
  while (!settled() && now_ns() < deadline && !(options.cancel && *options.cancel))
    link_->changed.wait_until(lock, time_point(std::min(deadline, now_ns() + 50'000'000)));
  link_->file_wanted = false;
  if (link_->failure) std::rethrow_exception(link_->failure);
  opened_ = link_->mails > 0;
  info_ = link_->info_known ? link_->info : SourceInfo{};
  info_.url = where_, info_.name = short_name(url);
  info_.live = true, info_.seekable = false, info_.image = false;
  info_.duration_ns = 0, info_.frame_count = 0;
  info_.has_audio = false;  // it cannot be read a second time for its sound
  if (!link_->info_known)
    info_.picture = Placeholder::default_info(options_.size.width > 0 ? options_.size : Extent{1280, 720});
  last_info_ = info_.picture;
}

LiveSource::~LiveSource() {
  link_->stop = true;
  std::unique_lock lock(link_->mutex);
  link_->changed.notify_all();
  if (!link_->changed.wait_for(lock, kFarewell, [this] { return link_->gone; }))
    log::debug("{}: its reader hangs and is left alone", where_);
}

std::unique_ptr<Source> LiveSource::take_file() {
  const std::lock_guard lock(link_->mutex);
  return std::move(link_->file);
}

void LiveSource::seek(int64_t) {
  throw Error(ExitCode::bad_source, where_, "a live source cannot seek");
}

void LiveSource::interrupt() noexcept {
  const std::lock_guard lock(link_->mutex);
  link_->interrupted = true;
  link_->changed.notify_all();
}

LiveStatus LiveSource::live_status() const {
  const std::lock_guard lock(link_->mutex);
  link_->machine.tick(now_ns());
  return link_->machine.status();
}

FrameOutcome LiveSource::next(Picture& out) {
  out.reset();
  const int64_t give_up = now_ns() + kLongestWait;  // a sign of life for whoever watches the thread
  std::unique_lock lock(link_->mutex);
  for (;;) {
    if (std::exchange(link_->interrupted, false)) return FrameOutcome::again;
    if (link_->failure) std::rethrow_exception(link_->failure);
    const int64_t now = now_ns();
    link_->machine.tick(now);
    if (link_->mails > 0) {
      Link::Mail mail = std::move(link_->mail[0]);
      std::swap(link_->mail[0], link_->mail[1]);
      --link_->mails;
      lock.unlock();
      if (mail.connection != connection_ || placeholder_shown_) ++serial_;
      connection_ = mail.connection;
      out = deliver(std::move(mail.picture), now);
      return FrameOutcome::ok;
    }
    if (link_->ended) return FrameOutcome::end_of_stream;
    if (now > give_up) return FrameOutcome::again;
    const LiveStatus& status = link_->machine.status();
    const int64_t silent_since = link_->machine.silent_since_ns();
    if (placeholder_due(status, silent_since, now)) {
      const LiveStatus copy = status;
      lock.unlock();
      out = placeholder(copy, now);
      return FrameOutcome::ok;
    }
    const int64_t wake = std::min(link_->machine.next_event_ns(), next_placeholder_ns(status, silent_since));
    // An attempt that is due is the reader's business and must not keep this thread spinning.
    link_->changed.wait_until(lock, time_point(std::clamp(wake, now + 10'000'000, now + 1'000'000'000)));
  }
}

bool LiveSource::placeholder_due(const LiveStatus& status, int64_t silent_since, int64_t now) const {
  return options_.placeholders && status.state != LiveState::playing &&
         now >= next_placeholder_ns(status, silent_since);
}

int64_t LiveSource::next_placeholder_ns(const LiveStatus& status, int64_t silent_since) const {
  const int64_t first = silent_since + options_.stall_ns;
  if (!placeholder_shown_ || placeholder_state_ != status.state) return first;
  return std::max(first, placeholder_ns_ + kPlaceholderEvery);
}

/// A real picture with times and numbers that run on across connections.
Picture LiveSource::deliver(Picture picture, int64_t now) {
  const int64_t elapsed = now - begin_ns_;
  const int64_t step = picture.info.pts_ns - stream_pts_ns_, waited = now - arrival_ns_;
  const bool follows = last_ && !placeholder_shown_ && step > 0 && step <= waited + kLeap;
  stream_pts_ns_ = picture.info.pts_ns, arrival_ns_ = now;
  pts_ns_ = follows ? pts_ns_ + step : std::max(elapsed, pts_ns_ + 1'000'000);
  picture.info.pts_ns = pts_ns_;
  picture.info.index = index_++;
  picture.info.serial = serial_;
  placeholder_shown_ = false;
  placeholder_.drop_ground();
  last_ = picture.share();
  last_info_ = picture.planes.info;
  return picture;
}

Picture LiveSource::placeholder(const LiveStatus& status, int64_t now) {
  if (!placeholder_shown_) {
    ++serial_;
    placeholder_.set_ground(last_info_, &last_);
    last_.reset();  // the decoder's memory goes with its connection
  }
  placeholder_shown_ = true, placeholder_state_ = status.state, placeholder_ns_ = now;
  FrameInfo frame;
  frame.index = std::max<int64_t>(0, index_ - 1);
  pts_ns_ = std::max(now - begin_ns_, pts_ns_ + 1'000'000);
  frame.pts_ns = pts_ns_;
  frame.duration_ns = kPlaceholderEvery;
  frame.capture_ns = now;
  frame.serial = serial_;
  frame.placeholder = true;
  const int64_t seconds = (now - (status.last_frame_ns ? status.last_frame_ns : begin_ns_)) / 1'000'000'000;
  return placeholder_.make(fmt::format("{} {} s", name(status.state), seconds),
                           status.reason.empty() ? where_ : status.reason, frame);
}

}  // namespace lensd
