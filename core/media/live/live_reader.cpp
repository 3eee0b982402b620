#include "core/media/live/live_reader.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <new>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/device/device_memory_error.hpp"
#include "core/media/camera/camera_monitor.hpp"
#include "core/media/camera/shared_controls.hpp"
#include "core/media/input/login_refused.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/url.hpp"

namespace lensd {
namespace {

constexpr int64_t kUdpRetryNs = 50'000'000;
/// Short enough for a std::string without allocation.
constexpr const char* kNoMemory = "out of memory";
/// Pictures that may wait for the decode thread if they are large or in GPU memory.
constexpr size_t kFewestQueued = 2;
/// A picture that is later than its sound by more than this does not wait for it: the graph is too slow.
constexpr int64_t kBehindSoundNs = 100'000'000;
/// Memory for pictures that wait for their sound, and the longest wait.
constexpr size_t kSoundMebibytes = 256;
constexpr int64_t kLongestSoundWaitNs = 2'000'000'000;
/// The smallest delay increases by 1/5000 of the elapsed time, to follow a sender whose clock is slow.
constexpr int64_t kDriftShare = 5000;

std::string stream_text(const SourceInfo& info) {
  const Extent size = info.picture.upright();
  std::string text = fmt::format("{}×{} {}", size.width, size.height, info.codec);
  if (info.fps > 0) text += fmt::format(", {:.4g} fps", info.fps);
  return text;
}

/// Registers the source of the current connection for status(). The source may be null, and must outlive this
/// object.
class ConnectedSource {
 public:
  ConnectedSource(LiveReader& reader, const Source* source) : reader_(reader) { set(source); }
  ~ConnectedSource() { set(nullptr); }
  ConnectedSource(const ConnectedSource&) = delete;
  ConnectedSource& operator=(const ConnectedSource&) = delete;

 private:
  void set(const Source* source) {
    const std::lock_guard lock(reader_.mutex);
    reader_.connected = source;
  }
  LiveReader& reader_;
};

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

LiveReader::LiveReader(const std::string& url, const LiveOptions& options, LiveSource::Opener opener)
    : where(display_url(url)),
      open(std::move(opener)),
      controls(options.shared_controls),
      camera(options.camera_monitor),
      audio(options.audio),
      waits_for_sound(audio && !options.low_latency),
      machine(timing_of(url, options), now_ns(), static_cast<uint32_t>(now_ns())) {}

void LiveReader::run(const std::shared_ptr<LiveReader>& reader) {
  while (reader->wait_for_attempt()) {
    try {
      reader->attempt();
    } catch (...) {  // no memory for the reason
      reader->lose(kNoMemory, ConnectionLoss::connection);
    }
  }
  const std::lock_guard lock(reader->mutex);
  reader->exited = true;
  reader->changed.notify_all();
}

bool LiveReader::wait_for_attempt() {
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

/// Makes one connection attempt: opens the source and queues its pictures until the connection ends.
void LiveReader::attempt() {
  std::string reason;
  ConnectionLoss loss = ConnectionLoss::connection;
  try {
    std::unique_ptr<Source> source = open(stop);
    {
      const std::lock_guard lock(mutex);
      info = source->info();
      was_live = was_live || info.live;
      machine.status().stream = stream_text(info);
      machine.status().nominal_rate = info.fps, machine.status().rate = 0;
      ++connection;
      if (take_files && !info.live) {
        file = std::move(source);
        changed.notify_all();
        return;
      }
    }
    keep_notices(*source);
    rate.restart();
    pace_pts_ns = -1, earliest_delay_ns = INT64_MAX;
    // read_pictures() waits until the pictures of a file are due.
    const ConnectedSource connection_source(*this, source->info().live ? source.get() : nullptr);
    read_pictures(*source);
    return;
  } catch (const Error& e) {
    reason = e.problem();
    if (dynamic_cast<const LoginRefused*>(&e)) loss = ConnectionLoss::login;
    if (mode_was_changed(reason)) return;
    if (is_permanent(e)) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      changed.notify_all();
      return;
    }
    log::debug("{}", e.what());
  } catch (const std::bad_alloc&) {
    reason = kNoMemory;
  } catch (const std::exception& e) {
    reason = e.what();
  }
  lose(without_secrets(reason), loss);  // placeholders and clients show the reason
}

/// Call after an attempt has failed or the connection has ended. Throws only if there is no memory for the
/// text that is added after a refused login.
void LiveReader::lose(const std::string& reason, ConnectionLoss loss) {
  // Return the free memory of the connection's threads to the system; each thread has its own malloc arena.
  malloc_trim(0);
  const std::lock_guard lock(mutex);
  if (stop) return;
  const std::string before = std::move(machine.status().reason);
  machine.lost(now_ns(), reason, loss);
  changed.notify_all();
  const std::string& now = machine.status().reason;
  try {
    if (now != before) log::info("{}: {}: {}", where, name(machine.status().state), now);
  } catch (const std::exception&) {  // no memory for the message
  }
}

/// Keeps the notices of a new connection for LiveSource::take_notices(). Leaves out repetitions of a notice.
void LiveReader::keep_notices(Source& source) {
  for (Notice& notice : source.take_notices()) {
    if (notice.text == last_notice) continue;
    last_notice = notice.text;
    notices.add(notice.problem, std::move(notice.text));
  }
}

/// Returns true if the connection ended because of a change of the camera's mode, or because the camera does
/// not play in the new mode. The next attempt follows at once.
bool LiveReader::mode_was_changed(const std::string& reason) {
  if (!controls || !(controls->take_restart() || controls->revert_mode(reason))) return false;
  const std::lock_guard lock(mutex);
  machine.restart(now_ns());
  return true;
}

/// Returns true if retries are useless, for example after invalid options or without a GPU that was required.
/// A lack of memory is temporary. No error is permanent after the source has played: its path may belong to
/// another camera for a while, or a server may send unsupported data for a while.
bool LiveReader::is_permanent(const Error& error) {
  if (error.code() == ExitCode::bad_source || dynamic_cast<const MemoryError*>(&error)) return false;
  const std::lock_guard lock(mutex);
  return machine.status().frames == 0;
}

/// Queues pictures until `stop` is set or a video file on a server ends. Throws Error if the source fails,
/// and at the end of an image or a short file, so that it is read again: a camera may answer with one while
/// it starts. Throws at the end of any file if the source has been live before.
void LiveReader::read_pictures(Source& source) {
  const bool paced = !source.info().live;
  bool first = true;
  while (!stop) {
    Picture picture;
    const FrameOutcome outcome = source.next(picture);
    pixel_aspect.store(source.pixel_aspect(), std::memory_order_relaxed);
    if (outcome == FrameOutcome::again) continue;
    if (outcome == FrameOutcome::end_of_stream) {
      const std::lock_guard lock(mutex);
      ended = paced && !was_live && !source.info().image && machine.lasted(now_ns());
      if (!ended) throw Error(ExitCode::bad_source, where, "the stream ended");
      changed.notify_all();
      return;
    }
    if (paced) wait_until_due(picture.info.pts_ns);
    push(std::move(picture));
    if (controls && std::exchange(first, false)) controls->mode_works();
  }
}

/// Waits until a picture of a file on a server is due. Restarts the timeline if the picture is more than
/// kJumpNs late. Used only for files that open too late for take_file().
void LiveReader::wait_until_due(int64_t pts_ns) {
  const int64_t now = now_ns();
  if (pace_pts_ns < 0 || now - pace_wall_ns > pts_ns - pace_pts_ns + kJumpNs) {
    pace_wall_ns = now, pace_pts_ns = pts_ns;
    return;
  }
  std::unique_lock lock(mutex);
  changed.wait_until(lock, time_point(pace_wall_ns + pts_ns - pace_pts_ns), [this] { return stop.load(); });
}

void LiveReader::push(Picture picture) {
  if (audio) audio->picture(picture.info.stamp_ns, now_ns());
  const std::lock_guard lock(mutex);
  const int64_t now = now_ns();
  estimate_latency(picture.info, now);
  rate.add(picture.info.capture_ns);
  machine.status().rate = rate.rate();
  const LiveState before = machine.status().state;
  machine.frame(now);
  if (camera) broken_before = camera->broken;
  if (before != LiveState::playing) log::info("{}: playing {}", where, machine.status().stream);
  // Drop at most two pictures. If the limit has just fallen because the sound has ended, keep the rest, which
  // LiveSource::next() then delivers without waiting.
  for (int drops = 0; drops < 2 && queued >= limit(picture.planes); ++drops) {
    pop();
    ++machine.status().dropped;
  }
  picture.info.connection = audio ? audio->number() : 0;
  queue[queued++] = {std::move(picture), connection};
  changed.notify_all();
}

LiveStatus LiveReader::status(int64_t now) {
  machine.tick(now);
  LiveStatus status = machine.status();
  if (status.state != LiveState::playing) status.rate = 0;
  if (status.latency_ns >= 0) status.latency_ns += sound_wait_ns;
  const int64_t silent_ns = now - status.last_frame_ns;
  if (status.state == LiveState::stalled && connected && connected->data_wait_ns() < silent_ns / 2)
    status.reason = "the decoder has not finished the next picture";
  if (!camera) return status;
  status.camera_broken = camera->broken, status.camera_missed = camera->missed;
  const uint64_t damaged = status.camera_broken - broken_before;
  if (status.state == LiveState::stalled && damaged > 0)
    status.reason = fmt::format("only damaged pictures ({})", damaged);
  const bool answers = status.state == LiveState::playing || status.state == LiveState::stalled;
  if (const char* signal = problem(camera->signal); answers && *signal) status.reason = signal;
  return status;
}

/// Returns how many pictures like `picture` may be queued. Call with `mutex` locked.
size_t LiveReader::limit(const PictureRef& picture) const {
  return waits_for_sound && sound_ns() > now_ns() - kBehindSoundNs
             ? queue_limit(picture, kFewestQueued, kSoundPictures, kSoundMebibytes)
             : burst_limit(picture, kFewestQueued);
}

/// Returns the time at which the sound of the oldest queued picture is heard; 0: there is no sound, or no
/// picture.
int64_t LiveReader::sound_ns() const {
  const FrameInfo& oldest = queue[0].picture.info;
  return queued > 0 && audio ? audio->due_ns(oldest.connection, oldest.stamp_ns) : 0;
}

int64_t LiveReader::due_ns(int64_t now) const {
  // A quarter of the queue stays free for bursts, in which a full queue would drop pictures.
  if (!waits_for_sound || queued > limit(queue[queued - 1].picture.planes) * 3 / 4) return 0;
  const int64_t due = sound_ns();
  return due - now < kLongestSoundWaitNs ? due : 0;
}

LiveReader::QueuedPicture LiveReader::pop() {
  QueuedPicture oldest = std::move(queue[0]);
  std::move(queue.begin() + 1, queue.begin() + static_cast<std::ptrdiff_t>(queued), queue.begin());
  --queued;
  return oldest;
}

/// Sets the status's latency from a new picture. The latency is the picture's delay minus the smallest delay,
/// or the time since its capture if that is larger. The delay is the arrival minus the timestamp.
void LiveReader::estimate_latency(const FrameInfo& frame, int64_t now) {
  const int64_t delay = now - frame.pts_ns;
  if (earliest_delay_ns != INT64_MAX)
    earliest_delay_ns += std::max<int64_t>(0, now - machine.status().last_frame_ns) / kDriftShare;
  earliest_delay_ns = std::min(earliest_delay_ns, delay);
  // Cameras provide the capture time; for other sources it is the arrival.
  machine.status().latency_ns = std::max(delay - earliest_delay_ns, now - frame.capture_ns);
}

}  // namespace lensd
