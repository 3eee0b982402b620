// Data that the panels show. ViewerModelBuilder collects it once per display frame on the UI thread.
//
//   pipeline counters, Profiler, graph ──▶ ViewerModel ──▶ panels ──▶ Command values ──▶ pipeline
//
// Panels read the model and append commands; they do not access threads or executors.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/device/clock_speed.hpp"
#include "core/graph/trace/profiler.hpp"
#include "core/image/image.hpp"
#include "core/image/tracks.hpp"
#include "core/image/view.hpp"
#include "core/pipeline/chapters.hpp"
#include "core/pipeline/command.hpp"
#include "core/pipeline/live_status.hpp"
#include "core/pipeline/pipeline_status.hpp"
#include "core/pipeline/playback_sound.hpp"
#include "ui/model/frame_counts.hpp"
#include "ui/model/source_choices.hpp"

namespace lensd::ui {

struct NodeView {
  std::string id, filter;
  bool enabled = true;
  bool automatic = false;  ///< a conversion, scope or comparison added by the plan
  bool scope = false;
  const FilterSchema* schema = nullptr;
  std::vector<ParamValue> values;  ///< in the schema's order
  std::string format;              ///< format of the output: "1920×1080 RGBA8"
  Extent size;                     ///< size of the output; empty: not planned
  std::vector<Statistic> stats;
};
/// Returns the view of node `desc`, without format and statistics.
inline NodeView node_view(const NodeDesc& desc, const FilterSchema& schema) {
  NodeView view;
  view.id = desc.id, view.filter = desc.filter, view.enabled = desc.enabled, view.schema = &schema;
  for (const ParamSpec& spec : schema.params) view.values.push_back(value_of(desc, spec));
  return view;
}

struct Notice {
  int64_t time_ns = 0;  ///< now_ns() when it was first drawn; 0: not yet
  bool problem = false;
  std::string text;
  /// Returns how long it is shown, in nanoseconds.
  int64_t life_ns() const { return problem ? 10'000'000'000 : 5'000'000'000; }
};

/// A node's output at the probed pixel.
struct ProbeRow {
  std::string node;  ///< "source", an id, or "output"
  bool gray = false;
  bool deep = false;  ///< 16 bits per sample
  Rgba16 value{};     ///< 0 to 255, or 0 to 65535 if `deep`
};

struct ViewerModel {
  // Source
  std::string source_name,
      source_detail;           ///< "vtest.avi", "768×576 yuv420p, bt601 limited (guessed), msmpeg4v3"
  std::string source_path;     ///< absolute path of a file; empty: not a file
  std::string source_address;  ///< address without secrets
  bool live = false, seekable = false, image = false, ended = false;
  int64_t position_ns = 0, duration_ns = 0, frame_index = 0, frame_duration_ns = 0;
  bool frame_estimated = false;  ///< frame_index is an estimate
  LiveStatus live_status;
  int64_t stalled_since_ns = 0;                    ///< see PipelineStatus
  std::shared_ptr<const SourceControls> controls;  ///< the camera's controls; null: none
  FieldOrder fields = FieldOrder::progressive;     ///< see ProcessStatus
  std::vector<std::string> video_tracks;           ///< see SourceInfo
  int video_track = 0;
  bool demo = false;          ///< the test picture that plays without a source argument
  std::string source_folder;  ///< folder that the source dialog lists first
  std::shared_ptr<const SourceChoices> choices;
  std::shared_ptr<const std::vector<std::string>> playlist;  ///< sources that are played in turn; may be null
  size_t playlist_at = 0;                                    ///< index of the current source
  SourceProgress progress;
  std::vector<Chapter> chapters;           ///< sorted by start
  bool thumbnails = false;                 ///< the source has thumbnails for the seek bar
  std::shared_ptr<const Image> thumbnail;  ///< thumbnail at ThumbnailState::wanted_ns; null: not available
  double pixel_aspect = 1;                 ///< width of the output's pixels relative to their height
  double source_aspect = 1;                ///< pixel aspect of the source's pictures, upright
  Extent picture;                          ///< size of the picture that the presenter shows
  GraphDesc opened_with;                   ///< graph with which the source was opened
  Extent source_size;                      ///< size of the source's pictures, upright
  // Playback
  bool paused = false;
  double speed = 1;
  SoundState sound = SoundState::off;
  double volume = 100;  ///< percent
  Precision precision = Precision::automatic;
  int bits = 8;  ///< bits per sample between the nodes
  ColourSettings colour;
  ColourSpec source_colour;
  bool muted = false;
  bool loop_file = false;
  int64_t loop_a_ns = -1, loop_b_ns = -1;  ///< A-B loop; negative: not set
  double graph_fps = 0, display_fps = 0, source_fps = 0;
  FrameCounts counts;
  // Machine
  std::string backend, backend_reason, display_path, display_reason, device;
  std::string screen;  ///< bits per channel of the window; empty: unknown
  // Graph and timings
  const Registry* registry = nullptr;  ///< null: the graph cannot be edited
  uint64_t pipeline = 0;               ///< number of the pipeline; changes with every new source
  GraphDesc graph;                     ///< the running graph
  uint64_t graph_version = 0;
  size_t graph_memory = 0;      ///< bytes of GPU memory of the graph; 0 on the CPU
  uint64_t graph_mark = 0;      ///< the newest EditMark that the pipeline has applied
  bool graph_planning = false;  ///< a newer graph is being planned
  std::vector<NodeView> nodes;
  uint64_t timings_version = 0;  ///< number of updates, a few per second
  std::vector<PassStats> timings;
  std::vector<std::vector<int64_t>> timing_histories;  ///< newest durations per timings row, oldest first
  double cpu_copy_rate = 0, gpu_copy_rate = 0;         ///< bytes read and written per second; 0: not measured
  ClockSpeed cpu_clock, gpu_clock;
  std::vector<std::string> log;  ///< newest messages, "12:30:01 warning: text"
  std::vector<int64_t>
      graph_history_ns;  ///< graph durations of the newest frames, oldest first; may be empty
  std::vector<Notice> notices;
  // Scopes
  std::vector<ScopeRequest> scopes;  ///< requested from the pipeline
  ScopeReading scope;                ///< newest counts of the open scope, updated at most 30 times per second
  uint64_t scope_version = 0;        ///< number of updates of `scope`
  // Tracks of the shown frame: the bytes of its TrackTable, empty if it has none
  std::vector<uint8_t> tracks;
  std::array<uint32_t, kTrackStatuses> tracks_lost{};  ///< tracks lost in the last second, by TrackStatus

  // Comparison and probe
  std::vector<std::string> views;  ///< nodes whose pictures were requested with SetViews
  bool has_second = false;         ///< there is a second picture, such as A of a comparison
  bool compared = false;           ///< `comparison` belongs to the current pair of nodes
  Comparison comparison;
  int probe_x = -1, probe_y = -1;
  YuvMatrix probe_matrix = YuvMatrix::bt601;  ///< matrix of the probe's YCbCr; the scopes use the same one
  std::vector<ProbeRow> probe;                ///< values at the probed pixel; empty: not read yet
  // Pixels of the shown picture at high magnification
  int patch_x = 0, patch_y = 0;
  Extent patch_size;
  bool patch_gray = false, patch_deep = false;  ///< deep: 16 bits per sample
  std::vector<Rgba16> patch;
  // Recording
  bool recording = false;
  int64_t record_frames = 0;
  std::string record_path;
  SinkStatus virtual_camera;  ///< SinkStatus::path is the camera's name

  /// Returns true if playback is paused or at the end of a file.
  bool stands_still() const { return paused || (ended && seekable); }

  /// Returns the node's view, or null if there is no such node.
  const NodeView* find(const std::string& id) const {
    for (const NodeView& node : nodes)
      if (node.id == id) return &node;
    return nullptr;
  }
  /// Returns true if `id` is a node of the graph, "source", or empty for the output.
  bool has_picture(const std::string& id) const {
    const NodeView* node = find(id);
    return id.empty() || id == kSourceNode || (node && !node->automatic);
  }

  const TrackTable* track_table() const {
    return tracks.empty() ? nullptr : reinterpret_cast<const TrackTable*>(tracks.data());
  }
};

}  // namespace lensd::ui
