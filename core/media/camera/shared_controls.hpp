// The controls of a camera, shared by the thread that reads the camera and all other threads.
//
//   any thread      set(), reset() ── checked values ──▶ wanted values, queue of writes
//   reader thread   CameraControls: connect(), take_write() ──▶ device ──▶ publish()
//   any thread      current() ◀── newest published controls
//
// Wanted values are the configured ones, those that were set, and those kept from earlier runs. They outlive
// connections. current() includes queued writes, so that a client reads back what it set. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/base/notices.hpp"
#include "core/media/camera/camera_identity.hpp"
#include "core/pipeline/source_control.hpp"

namespace lensd {

class SharedControls {
 public:
  enum class Purpose : uint8_t { set, reset, restore };
  struct Write {
    std::string name;
    ParamValue value;
    std::optional<ParamValue> previous = {};  ///< wanted value before this write; nullopt: none
    Purpose purpose = Purpose::set;           ///< restore: writes a value again that was set earlier
    /// The same request sets another control that may override this one, so the user needs no notice.
    bool may_be_overridden = false;
    int failures = 0;       ///< attempts that failed with a connection error
    int64_t failed_ns = 0;  ///< time of the first of them
  };

  /// `given`: the configured values, for every camera. `kept`: values from earlier runs, by camera. `given`
  /// has precedence.
  SharedControls(ControlValues given, KeptControls kept);

  /// Returns the newest controls; null before the first connection. If `keep_fresh` is true, values that the
  /// device changes without events are also read during the next second.
  std::shared_ptr<const SourceControls> current(bool keep_fresh);
  /// Queues values. Also stores them as wanted, except actions. Returns an error message, or an
  /// empty string. If one value is refused, none is set. Before the first connection, stores all values and
  /// checks them later.
  std::string set(const ControlValues& values);
  /// Like set(), but sets only the values that are allowed. Returns a message that names the other controls,
  /// or an empty string.
  std::string set_allowed(const ControlValues& values);
  /// Queues the driver's defaults of the named controls and forgets their wanted values. If `names` is empty,
  /// resets all controls that can be set and have a default, except actions. Returns an error message, or an
  /// empty string.
  std::string reset(const std::vector<std::string>& names);
  std::vector<Notice> take_notices() { return notices_.take(); }

  // For the reader thread.

  /// Returns the wanted values for `camera`. Discards the queue if the previous connection was to another
  /// camera.
  ControlValues wanted(const CameraIdentity& camera);
  /// Starts a connection to `camera` with these controls. Discards the queue if the previous connection was
  /// to another camera. Returns the writes to apply before streaming, in order. Adds a notice for each wanted
  /// value that is not allowed.
  std::vector<Write> connect(const CameraIdentity& camera, std::vector<SourceControl> controls);
  /// Removes and returns the oldest write.
  std::optional<Write> take_write();
  /// Puts a write back into the queue. Call if the camera was unplugged, or if the write failed with a
  /// connection error. A newer write to the same control has precedence.
  void put_back(Write write);
  bool has_writes() const noexcept { return pending_.load(std::memory_order_acquire); }
  /// Returns true if current() was called with `keep_fresh` in the last second.
  bool watched(int64_t now_ns) const noexcept;
  /// Publishes the controls if they have changed.
  void publish(const std::vector<SourceControl>& controls);
  void notice(std::string text) { notices_.add(false, std::move(text)); }
  /// Call if the driver refused a write of take_write(). Restores the previous wanted value and reports
  /// `problem`.
  void undo_write(const Write& write, const std::string& problem);
  /// Reports a problem that returns with every connection. Reports the same text only once.
  void warn_once(const std::string& problem);

  // A change of the mode (ModeControls) restarts the camera:
  //
  //   CameraControls: restart() ──▶ LiveReader: take_restart(), then mode_works() or revert_mode()
  //
  // A mode that was set between connections, or kept from an earlier run, may be reverted too. The mode that
  // worked last is restored. V4l2Capture decides whether the mode is the cause of a failure.

  /// Requests a restart. `previous`: the mode before the change. `released`: controls that become "auto".
  void restart(const ControlValues& previous, const std::vector<std::string>& released);
  /// Returns true once after restart().
  bool take_restart() noexcept { return restart_.exchange(false); }
  /// Call when a picture in the wanted mode has arrived.
  void mode_works();
  /// Stores whether the mode is the suspected cause if the connection ends before its first picture.
  void suspect_mode(bool suspected) noexcept { mode_suspected_ = suspected; }
  /// Reports that the mode could not be set or started. `error`: errno; 0: lensd cannot read the mode.
  /// Suspects the mode unless the camera is absent or in use. If unplugging may also cause this error,
  /// suspects the mode only from the third failure on.
  void mode_failed(int error);
  /// Call when the camera did not play, because of `reason`. Restores the previous mode and adds a notice.
  /// Returns false if the mode is not suspected or is the one that worked last.
  bool revert_mode(const std::string& reason);

 private:
  void select_camera(const CameraIdentity& camera);
  void add_kept_values();
  void queue(const SourceControl& control, Write write);
  std::optional<ParamValue> wanted_value(const std::string& name) const;
  void set_wanted(const std::string& name, const std::optional<ParamValue>& value);
  ControlValues chosen() const;
  void publish_locked(std::vector<SourceControl> controls);
  void notice_once(const std::string& text);

  const ControlValues given_;
  std::atomic<bool> pending_{false}, restart_{false}, mode_suspected_{false};
  std::atomic<int64_t> read_ns_{0};
  NoticeList notices_;

  mutable std::mutex mutex_;
  KeptControls kept_;
  ControlValues wanted_;
  /// Mode to restore if the requested one does not work; nullopt: the requested one has worked.
  std::optional<ControlValues> previous_mode_;
  /// Mode of the newest connection that delivered pictures; before the first one, the configured mode.
  ControlValues working_mode_;
  ControlValues requested_mode_;  ///< mode that the current connection has requested
  int mode_failures_ = 0;
  std::deque<Write> writes_;
  std::optional<CameraIdentity> camera_;  ///< camera of the newest connection; nullopt: none yet
  std::shared_ptr<const SourceControls> current_;
  std::set<std::string> noticed_;
};

}  // namespace lensd
