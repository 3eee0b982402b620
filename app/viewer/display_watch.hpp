// How frames fare on the way to the screen: the stages of their latency, and frame times without a new frame.
//
//   uploaded() ── drawn() ── presented() ──▶ Profiler (kLatencyRow), Timeline ("ui thread"), repeated()
//
// UI thread only, once per display frame; nothing allocates or waits.
#pragma once

#include <optional>

#include "core/graph/trace/profiler.hpp"
#include "core/graph/trace/timeline.hpp"
#include "core/image/frame.hpp"

namespace lensd {

class DisplayWatch {
 public:
  DisplayWatch(Profiler& profiler, Timeline& timeline);

  /// A new frame is in the presenter's texture.
  void uploaded(const FrameInfo& info, int64_t begin_ns, int64_t end_ns) noexcept;
  /// All of the window is drawn and about to be presented.
  void drawn() noexcept;
  /// The window was presented. What the new frame took without its waits for the process thread and for its
  /// time; 0 where there was no new frame, or its way was not timed. `still`: no frame is expected, since it
  /// is paused or at the end.
  int64_t presented(double speed, bool still) noexcept;

  /// The window is not to be seen: frames that do not appear are none that repeat.
  void hidden() noexcept { last_ns_ = 0, fresh_.reset(); }

  /// Frame times so far through which the frame before stayed on the screen, in playing videos.
  uint64_t repeated() const noexcept { return repeated_; }

 private:
  void count_repeats(const FrameInfo& info, int64_t time_ns, double speed) noexcept;

  Profiler& profiler_;
  Timeline& timeline_;
  int track_, present_label_, draw_label_, swap_label_, repeated_counter_;
  int upload_scope_, present_scope_, work_scope_, total_scope_;
  std::optional<FrameInfo> fresh_;  ///< on its way to the screen
  FrameInfo last_;                  ///< on the screen
  int64_t uploaded_ns_ = 0, drawn_ns_ = 0, last_ns_ = 0;
  uint64_t repeated_ = 0;
};

}  // namespace lensd
