// What the panels show, gathered once per display frame by app/viewer/viewer.cpp on the UI thread.
//
//   pipeline counters, Profiler, graph ──▶ ViewerModel ──▶ panels ──▶ Command values ──▶ pipeline
//
// Panels read the model and append commands; they know neither threads nor executors.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/device/clock_speed.hpp"
#include "core/graph/trace/profiler.hpp"
#include "core/image/tracks.hpp"
#include "core/image/view.hpp"
#include "core/media/live_status.hpp"
#include "core/pipeline/command.hpp"
#include "ui/model/frame_counts.hpp"
#include "ui/model/source_choices.hpp"

namespace lensd::ui {

struct NodeView {
  std::string id, filter;
  bool enabled = true;
  bool automatic = false;  ///< a conversion or a scope that the plan added
  bool scope = false;
  const FilterSchema* schema = nullptr;
  std::vector<ParamValue> values;  ///< in the schema's order
  std::string format;              ///< "1920×1080 RGBA8", what the node gives
  std::vector<Statistic> stats;
};

struct Notice {
  int64_t time_ns = 0;  ///< now_ns() when it happened; shown for some seconds from then
  bool problem = false;
  std::string text;
};

/// What a node gives at the probed pixel.
struct ProbeRow {
  std::string node;  ///< "source", an id, or "output"
  bool gray = false;
  Rgba value{};
};

struct ViewerModel {
  // Source
  std::string source_name,
      source_detail;  ///< "vtest.avi", "768×576 yuv420p, bt601 limited (guessed), msmpeg4v3"
  bool live = false, seekable = false, ended = false;
  int64_t position_ns = 0, duration_ns = 0, frame_index = 0, frame_duration_ns = 0;
  LiveStatus live_status;
  bool demo = false;          ///< the generated picture that plays where nothing was named
  std::string source_folder;  ///< where a look for files begins
  std::shared_ptr<const SourceChoices> choices;
  SourceProgress progress;
  Extent picture;  ///< size of the picture that the presenter shows
  // Playback
  bool paused = false;
  double speed = 1;
  bool loop_file = false;
  int64_t loop_a_ns = -1, loop_b_ns = -1;  ///< A-B loop; negative: not set
  double decode_fps = 0, display_fps = 0, source_fps = 0;
  FrameCounts counts;
  // Machine
  std::string backend, backend_reason, display_path, display_reason, device;
  // Graph and timings
  const Registry* registry = nullptr;  ///< the filters that there are; null: the graph cannot be edited
  uint64_t pipeline = 0;               ///< tells pipelines apart; a new source has a new one
  GraphDesc graph;                     ///< as it runs
  uint64_t graph_version = 0;
  uint64_t graph_mark = 0;      ///< the newest EditMark that the pipeline has reached
  bool graph_planning = false;  ///< `graph` is not yet what was asked for
  std::vector<NodeView> nodes;
  uint64_t timings_version = 0;  ///< counts their renewals, a few a second
  std::vector<PassStats> timings;
  std::vector<std::vector<int64_t>> timing_histories;  ///< newest durations of each row, oldest first
  double cpu_copy_rate = 0, gpu_copy_rate = 0;         ///< bytes read and written a second; 0: not measured
  ClockSpeed cpu_clock, gpu_clock;
  std::vector<std::string> log;  ///< newest messages, "12:30:01 warning: text"
  std::vector<int64_t>
      graph_history_ns;  ///< the graph's time for the newest frames, oldest first; may be empty
  std::vector<Notice> notices;
  // Scopes
  std::vector<ScopeRequest> scopes;  ///< those that the pipeline was asked for
  ScopeReading scope;                ///< of the first one, renewed up to 30 times a second
  uint64_t scope_version = 0;        ///< counts the readings
  // Tracks of the shown frame: the bytes of its TrackTable, empty when there are none
  std::vector<uint8_t> tracks;
  std::array<uint32_t, kTrackStatuses> tracks_lost{};  ///< by status, in the shown frames of the last second

  // Comparison and probe
  std::vector<std::string> views;  ///< nodes whose pictures the frames were asked to carry
  bool has_second = false;         ///< the picture A of the comparison is there
  bool compared = false;           ///< `comparison` is of what is compared now
  Comparison comparison;
  int probe_x = -1, probe_y = -1;
  std::vector<ProbeRow> probe;  ///< empty: nothing was read yet
  // Pixels of the shown picture, for a close view
  int patch_x = 0, patch_y = 0;
  Extent patch_size;
  bool patch_gray = false;
  std::vector<Rgba> patch;
  // Recording
  bool recording = false;
  int64_t record_frames = 0;
  std::string record_path;

  /// Nothing moves by itself: paused, or a file is at its end, where playing begins anew.
  bool stands_still() const { return paused || (ended && seekable && duration_ns > 0); }

  const TrackTable* track_table() const {
    return tracks.empty() ? nullptr : reinterpret_cast<const TrackTable*>(tracks.data());
  }
};

}  // namespace lensd::ui
