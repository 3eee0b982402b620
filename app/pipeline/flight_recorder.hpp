// The flight recorder writes the pipeline's last 10 s to a trace file, on request or after a trigger.
//
//   UI thread ── request() ──▶ recorder thread ── Timeline ──▶ FOLDER/lensd-DATE-TIME-REASON.json
//   counters  ── polled ten times a second ──▶ ┘
//
// The pipeline always records its timeline. The recorder thread only reads it, so frames are not delayed. The
// pipeline must outlive the recorder.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/pipeline/frame_sink.hpp"
#include "core/graph/trace/timeline.hpp"

namespace lensd {

/// Conditions for an automatic trace.
struct TraceTrigger {
  bool on_drop = false;  ///< a frame was late, dropped or not shown
  int64_t over_ns = 0;   ///< a frame took longer than this; 0: no limit
  bool any() const { return on_drop || over_ns > 0; }
};

/// Parses "no" (or an empty text), "drop" or milliseconds. Throws Error(usage) for any other text.
TraceTrigger parse_trace_trigger(const std::string& text);

/// Returns $XDG_STATE_HOME/lensd/traces, else ~/.local/state/lensd/traces, else lensd-traces.
std::string trace_folder();

/// Numbers of lost frames since the start.
struct FrameLosses {
  uint64_t late = 0, dropped = 0, not_shown = 0;
  bool operator==(const FrameLosses&) const = default;
};

class FlightRecorder {
 public:
  static constexpr int64_t kSpanNs = 10'000'000'000;         ///< duration of a trace
  static constexpr int64_t kMinIntervalNs = 10'000'000'000;  ///< minimum time between two automatic traces
  static constexpr int64_t kDelayNs = 300'000'000;  ///< wait after the event, because GPU timings arrive late
  static constexpr int kMaxAutomatic = 50;          ///< automatic traces per recorder, to limit disk space

  struct Options {
    TraceTrigger trigger;
    std::string folder = trace_folder();
    std::string source;  ///< name of the source, written to the trace
    std::function<FrameLosses()> losses = [] { return FrameLosses{}; };  ///< called by the recorder thread
  };
  FlightRecorder(const Timeline& timeline, Options options);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  /// Requests a trace. Thread-safe. Locks a mutex: do not call for every frame.
  void request();
  /// Reports a frame's time from the decoder to the display, excluding the time that it waited for the
  /// process thread or for its presentation time. Thread-safe. Does not block.
  void frame_took(int64_t ns) noexcept;

  std::vector<Notice> take_notices() { return notices_.take(); }

 private:
  void loop();
  std::optional<std::string> trigger_reason(FrameLosses& seen);
  void write(const std::string& reason);

  const Timeline& timeline_;
  Options options_;
  std::atomic<int64_t> slowest_ns_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool requested_ = false, stopping_ = false;
  NoticeList notices_;
  int64_t last_automatic_ns_ = INT64_MIN / 2;  // used by the recorder thread only
  int automatic_ = 0;                          // used by the recorder thread only
  std::thread thread_;
};

}  // namespace lensd
