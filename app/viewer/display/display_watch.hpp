// Measures the display of frames: the latency of each stage, and repeated frames.
//
//   uploaded() ── drawn() ── presented() ──▶ Profiler (kLatencyRow), Timeline ("ui thread"), repeated()
//
// Call from the UI thread only, once per display frame. Does not block or allocate.
#pragma once

#include <optional>

#include "core/graph/trace/profiler.hpp"
#include "core/graph/trace/timeline.hpp"
#include "core/image/frame.hpp"

namespace lensd {

class DisplayWatch {
 public:
  DisplayWatch(Profiler& profiler, Timeline& timeline) : profiler_(profiler), timeline_(timeline) {}

  /// Call when a new frame is in the presenter's texture.
  void uploaded(const FrameInfo& info, int64_t begin_ns, int64_t end_ns) noexcept;
  /// Call before the window is presented.
  void drawn() noexcept;
  /// Call after the window was presented. Returns the new frame's latency in nanoseconds. The latency
  /// excludes the time in which the frame waited for the process thread and for its presentation time.
  /// Returns 0 if there was no new frame, if the frame was not timed (FrameInfo::published_ns is 0), or if
  /// `still` is true (playback is paused or at the end).
  int64_t presented(double speed, bool still) noexcept;

  /// Call while the window is hidden. Repeats are not counted then.
  void hidden() noexcept { last_ns_ = 0, new_frame_.reset(); }

  /// Returns the number of repeated frames: how often a frame stayed on the screen for one more frame
  /// duration during playback.
  uint64_t repeated() const noexcept { return repeated_; }

 private:
  void count_repeats(const FrameInfo& info, int64_t time_ns, double speed) noexcept;

  Profiler& profiler_;
  Timeline& timeline_;
  int track_ = timeline_.track("ui thread"), present_label_ = timeline_.label("present");
  int draw_label_ = timeline_.label("draw"), swap_label_ = timeline_.label("swap");
  int repeated_label_ = timeline_.label("repeated frames");
  Profiler::Scope upload_scope_ = profiler_.scope(kLatencyRow, "texture");
  Profiler::Scope present_scope_ = profiler_.scope(kLatencyRow, "present");
  Profiler::Scope work_scope_ = profiler_.scope(kLatencyRow, "work"),
                  total_scope_ = profiler_.scope(kLatencyRow, "total");
  std::optional<FrameInfo> new_frame_;  ///< uploaded, but not presented yet
  FrameInfo last_;                      ///< the frame on the screen
  int64_t uploaded_ns_ = 0, drawn_ns_ = 0, last_ns_ = 0;
  uint64_t repeated_ = 0;
};

}  // namespace lensd
