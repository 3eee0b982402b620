// Collects the panels' data from the pipeline, once per display frame. Call from the UI thread only.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <string>

#include "app/pipeline/pipeline.hpp"
#include "ui/model/model.hpp"

namespace lensd {

/// Strings about the machine that do not change while a source plays.
struct MachineTexts {
  std::string display_path, display_reason, renderer, screen;
};

class ViewerModelBuilder {
 public:
  /// `on_notice` is called for each notice of the pipeline, which is shown too.
  ViewerModelBuilder(
      Pipeline& pipeline, const Registry& registry, const BackendChoice& backend, const MachineTexts& texts,
      std::function<void(const Notice&)> on_notice = [](const Notice&) {});

  /// Call after a frame was passed to the presenter.
  void shown(const FrameInfo& info);
  /// Sets the tracks of the shown frame; null if it has none.
  void shown_tracks(const TrackTable* table);
  /// Call for every command of the user interface, with the ticket of Pipeline::post(). Stores the requested
  /// scopes, views and settings (loop, speed, sound, precision, colours), which build() shows before the
  /// pipeline has applied them, and calls drop_refusals().
  void sent(const Command& command, uint64_t ticket);
  void notice(bool problem, std::string text);
  /// Removes problem notices about the nodes that `command` changes. The pipeline adds a new notice if it
  /// refuses the command.
  void drop_refusals(const Command& command);
  /// Returns true if a notice about the source's stream errors was added.
  bool errors_reported() const { return errors_reported_; }
  /// Updates the log lines. Call in every display frame while the log is shown.
  void refresh_log();

  /// Updates and returns the model, which is valid until the next call. `picture`: size of the shown picture.
  /// `controls_shown`: the source's controls are shown, so their values must be up to date. `drawn`: the
  /// caller draws the window with this model; only then does the display time of new notices start.
  const ui::ViewerModel& build(Extent picture, bool controls_shown, bool drawn = true);
  /// Returns the model, so that the caller can set values between two calls of build().
  ui::ViewerModel& model() { return model_; }

 private:
  void drop_loop_hints();
  void refresh_notices(int64_t time_ns);
  bool refresh_graph(const PipelineStatus& status);
  void describe_source();
  void refresh_settings(const PipelineStatus& status);
  void refresh_counts(const PipelineStatus& status);
  void refresh_scopes();
  void refresh_timings();
  void refresh_rates(int64_t time_ns);
  void report_stream_errors();

  Pipeline& pipeline_;
  const Registry& registry_;
  const std::function<void(const Notice&)> on_notice_;
  ui::ViewerModel model_;
  uint64_t graph_version_ = 0;
  /// Tickets of the last sent commands, by what they change.
  struct Tickets {
    uint64_t loop = 0, speed = 0, volume = 0, mute = 0, precision = 0, colour = 0;
  } tickets_;
  PictureInfo picture_;  ///< format of the source's pictures
  bool errors_reported_ = false;
  int64_t timings_ns_ = 0, scopes_ns_ = 0, log_ns_ = 0;
  ScopeReading comparison_;
  struct RateSample {
    int64_t time_ns;
    uint64_t processed, shown;
  };
  std::deque<RateSample> rates_;  ///< samples of the last two seconds
  struct Losses {
    int64_t time_ns;
    std::array<uint32_t, kTrackStatuses> counts;
  };
  std::deque<Losses> losses_;  ///< lost tracks in the shown frames of the last second
};

}  // namespace lensd
