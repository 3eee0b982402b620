// Commands for a running pipeline.
//
//   panel, keys, control ── Command ──▶ Pipeline::post() ──▶ process thread, at a frame boundary
//
// Plain values; copy freely between threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/graph/edit.hpp"
#include "core/graph/precision.hpp"
#include "core/image/colour_settings.hpp"
#include "core/pipeline/source_control.hpp"

namespace lensd {

/// Decides whether a command takes effect or its sender stops waiting for it: the first call wins.
/// Thread-safe.
class CommandClaim {
 public:
  /// Call when the command takes effect. Returns false if it must not, because its sender no longer waits.
  bool take() noexcept { return settle(State::taken); }
  /// Call to stop waiting. Returns false if the command has taken effect; otherwise it never will.
  bool give_up() noexcept { return settle(State::given_up); }
  bool given_up() const noexcept { return state_.load() == State::given_up; }

 private:
  enum class State : uint8_t { open, taken, given_up };
  bool settle(State wanted) noexcept {
    State state = State::open;
    return state_.compare_exchange_strong(state, wanted) || state == wanted;
  }
  std::atomic<State> state_{State::open};
};

/// Replaces the graph, for example after an edit, an undo or the choice of a preset. Can also change
/// settings. If the graph is refused, the settings also keep their values.
struct SetGraph {
  GraphDesc graph;
  uint64_t request = 0;  ///< not 0: Pipeline::take_outcomes() reports the result under this number
  std::optional<Precision> precision = {};
  std::optional<ColourSettings> colour = {};
  std::optional<bool> bypass = {};  ///< see Bypass
  ControlValues controls = {};      ///< set when the graph is in use; see SetSourceControls::skip_refused
  std::shared_ptr<CommandClaim> claim = {};  ///< the sender's claim; null: the command always takes effect
};
/// Changes and settings that take effect on the same frame. If one is refused, none is applied.
struct Batch {
  std::vector<GraphChange> changes;
  // The next members are as in SetGraph.
  uint64_t request = 0;
  std::optional<Precision> precision = {};
  std::optional<ColourSettings> colour = {};
  std::optional<bool> bypass = {};
  std::shared_ptr<CommandClaim> claim = {};
};
/// Shows the decoded picture instead of the graph's output.
struct Bypass {
  bool on = true;
};
/// Shows the image of one node instead of the graph's output; empty or unknown: the output.
struct Solo {
  std::string node;
};
/// Copies `mark` to PipelineStatus::edit_mark after all earlier commands of the same thread were applied.
struct EditMark {
  uint64_t mark = 0;
};
struct Pause {
  bool paused = true;
};
struct Step {
  int frames = 1;  ///< negative: backward
};
struct Seek {
  int64_t position_ns = 0;
  bool relative = false;
};
/// Limits of the playback speed, as a factor of real time.
inline constexpr double kMinSpeed = 0.01, kMaxSpeed = 100;
struct SetSpeed {
  double speed = 1;
};
/// Sets the volume of the sound in percent; see kMaxVolume.
struct SetVolume {
  double percent = 100;
};
struct SetMute {
  bool on = true;
};
struct SetLoop {
  bool file = false;
  int64_t a_ns = -1, b_ns = -1;  ///< A-B loop; negative: not set. Without effect unless A is before B.
};
/// Changes whether the file loops. Keeps the A-B loop.
struct SetFileLoop {
  bool on = true;
};
/// Changes the bits per sample between the nodes.
struct SetPrecision {
  Precision precision = Precision::automatic;
};
/// Changes the conversion of the source's colours.
struct SetColour {
  ColourSettings settings;
};
/// Replaces the requested scopes.
struct SetScopes {
  std::vector<ScopeRequest> scopes;
};
/// Replaces the set of viewed nodes. Each frame also contains their images. "source" is the source picture.
/// See Frame::find_image().
struct SetViews {
  std::vector<std::string> nodes;
};
/// Records from the next frame on, preceded by the configured pre-roll. A notice reports the resulting file
/// or an error.
struct StartRecord {
  enum class What : uint8_t { output, source };  ///< the graph's output, or the decoded picture
  std::string path;  ///< a file or a name template; empty: as configured in [record]
  What what = What::output;
  bool overwrite = false;    ///< replace an existing file
  bool next_free = false;    ///< add a number if the name is taken
  bool keep_trying = false;  ///< restart after failures until StopRecord
  bool resumed = false;      ///< continues an earlier recording of this name in another file
  std::string beneath;       ///< folder that the file must be in; see FileRules
};
struct StopRecord {};
/// Sets controls of the source (Source::set_controls()). Does not wait for the next frame.
struct SetSourceControls {
  ControlValues values;
  /// Skip values that this source does not allow (Source::set_allowed_controls()), because they may be for
  /// another camera, as in a preset.
  bool skip_refused = false;
};
/// Sets controls of the source to their defaults; all of them if `names` is empty.
struct ResetSourceControls {
  std::vector<std::string> names;
};

using Command =
    std::variant<SetParam, SetEnabled, SetGraph, Batch, Bypass, Solo, EditMark, Pause, Step, Seek, SetSpeed,
                 SetVolume, SetMute, SetLoop, SetFileLoop, SetPrecision, SetColour, SetScopes, SetViews,
                 StartRecord, StopRecord, SetSourceControls, ResetSourceControls>;

}  // namespace lensd
