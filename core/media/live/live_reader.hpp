// The thread of a live source that opens connections and reads pictures.
//
//   reader thread: open → next() → queue of pictures         decode thread: LiveSource::next() takes them
//
// `mutex` guards what both threads use; the reader thread releases it while it opens and reads.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/error.hpp"
#include "core/base/notices.hpp"
#include "core/media/burst.hpp"
#include "core/media/live/live_source.hpp"
#include "core/media/live/live_state_machine.hpp"
#include "core/media/live/live_timeline.hpp"
#include "core/media/live/rate_meter.hpp"

namespace lensd {

struct CameraMonitor;
class LiveAudio;
class SharedControls;

/// Converts a time of now_ns() for condition_variable::wait_until().
inline std::chrono::steady_clock::time_point time_point(int64_t ns) {
  return std::chrono::steady_clock::time_point(
      std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::nanoseconds(ns)));
}

/// The reader thread and the data that it shares with the decode thread. Owned by both threads; may outlive
/// the source.
struct LiveReader {
  LiveReader(const std::string& url, const LiveOptions& options, LiveSource::Opener opener);

  struct QueuedPicture {
    Picture picture;
    uint32_t connection = 0;
  };

  static void run(const std::shared_ptr<LiveReader>& reader);
  bool wait_for_attempt();
  void attempt();
  bool mode_was_changed(const std::string& reason);
  bool is_permanent(const Error& error);
  void lose(const std::string& reason, ConnectionLoss loss);
  void keep_notices(Source& source);
  void read_pictures(Source& source);
  void wait_until_due(int64_t pts_ns);
  void push(Picture picture);
  size_t limit(const PictureRef& picture) const;
  int64_t sound_ns() const;
  /// Returns when the oldest queued picture is due; 0: at once. Call with `mutex` locked and a queued
  /// picture.
  int64_t due_ns(int64_t now) const;
  QueuedPicture pop();
  void estimate_latency(const FrameInfo& info, int64_t now);
  /// Updates the state. Returns it with the camera monitor's measurements. Call with `mutex` locked.
  LiveStatus status(int64_t now);

  const std::string where;
  const LiveSource::Opener open;
  const std::shared_ptr<SharedControls> controls;  // may be null
  const std::shared_ptr<CameraMonitor> camera;     // may be null
  const std::shared_ptr<LiveAudio> audio;          // may be null
  const bool waits_for_sound;
  std::atomic<bool> stop{false};

  std::mutex mutex;
  std::condition_variable changed;  // both threads wait on it
  LiveStateMachine machine;
  std::array<QueuedPicture, kSoundPictures> queue;  // oldest first
  size_t queued = 0;
  bool interrupted = false, exited = false;
  bool ended = false;      // a file on a server has ended: no pictures follow the queued ones
  bool take_files = true;  // store the source of a file in `file`; true while LiveSource's constructor waits
  std::exception_ptr failure;
  const Source* connected = nullptr;  // source of the current live connection; null: none, or a file
  std::unique_ptr<Source> file;
  SourceInfo info;
  std::atomic<PixelAspect> pixel_aspect{PixelAspect{}};
  NoticeList notices;
  uint32_t connection = 0;     // number of the current connection; 0: none yet
  int64_t sound_wait_ns = 0;   // how long the newest delivered picture waits for its sound
  uint64_t broken_before = 0;  // CameraMonitor::broken when the newest picture arrived

  // Used by the reader thread only.
  RateMeter rate;
  std::string last_notice;
  bool was_live = false;  ///< a connection was not a file
  int64_t pace_wall_ns = 0, pace_pts_ns = -1, earliest_delay_ns = INT64_MAX;
};

}  // namespace lensd
