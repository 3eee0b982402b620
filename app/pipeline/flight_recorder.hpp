// The flight recorder: the pipeline's last seconds as a trace file, on demand or when a frame was lost.
//
//   UI, control ── request() ──▶ thread of its own ── Timeline ──▶ FOLDER/lensd-DATE-TIME-WHY.json
//   counters    ── watched ten times a second ──▶ ┘                  └▶ take_notices() says where
//
// Nothing here is on a frame's way: the timeline is always being written, and the thread only reads it.
// Destroy it before the pipeline whose timeline and counters it reads.
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

/// When a trace is written without being asked for.
struct TraceTrigger {
  bool on_drop = false;  ///< a frame was late, dropped or not shown
  int64_t over_ns = 0;   ///< a frame took longer than this; 0: no limit
  bool any() const { return on_drop || over_ns > 0; }
};

/// "no", "drop" or milliseconds. Throws Error(usage).
TraceTrigger parse_trace_trigger(const std::string& text);

/// $XDG_STATE_HOME/lensd/traces, else below ~/.local/state, else below the current folder.
std::string trace_folder();

/// Frames that did not come through as they should, so far.
struct FrameLosses {
  uint64_t late = 0, dropped = 0, not_shown = 0;
  bool operator==(const FrameLosses&) const = default;
};

class FlightRecorder {
 public:
  static constexpr int64_t kSpanNs = 10'000'000'000;   ///< what a trace reaches back
  static constexpr int64_t kApartNs = 10'000'000'000;  ///< between two traces that nobody asked for
  static constexpr int64_t kAfterNs = 300'000'000;     ///< goes on after the cause: GPU timings come late
  static constexpr int kMostUnasked = 50;              ///< in one run, so that no disk fills unwatched

  struct Options {
    TraceTrigger trigger;
    std::string folder = trace_folder();
    std::string source;                                                  ///< noted in the trace
    std::function<FrameLosses()> losses = [] { return FrameLosses{}; };  ///< called by the thread
  };
  FlightRecorder(const Timeline& timeline, Options options);
  ~FlightRecorder();
  FlightRecorder(const FlightRecorder&) = delete;
  FlightRecorder& operator=(const FlightRecorder&) = delete;

  /// Has a trace written a moment later; any thread but those on a frame's way.
  void request();
  /// What a frame took from the decoder to the display, waiting for its time left out. Any thread, wait-free.
  void frame_took(int64_t ns) noexcept;

  std::vector<SinkNotice> take_notices();

 private:
  void loop();
  std::optional<std::string> cause(FrameLosses& seen);
  void write(const std::string& why);
  void notice(bool problem, std::string text);

  const Timeline& timeline_;
  Options options_;
  std::atomic<int64_t> slowest_ns_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  bool requested_ = false, ending_ = false;
  std::vector<SinkNotice> notices_;
  int64_t unasked_at_ns_ = INT64_MIN / 2;  // the thread's own
  int unasked_ = 0;
  std::thread thread_;
};

}  // namespace lensd
