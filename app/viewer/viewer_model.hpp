// Gathers what the panels show from the pipeline, once per display frame, on the UI thread.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <string>

#include "app/pipeline/pipeline.hpp"
#include "ui/model/model.hpp"

namespace lensd {

/// Constant texts of the run.
struct MachineTexts {
  std::string display_path, display_reason, renderer;
};

class ViewerModelBuilder {
 public:
  ViewerModelBuilder(Pipeline& pipeline, const Registry& registry, const BackendChoice& backend,
                     const MachineTexts& texts);

  /// A frame was handed to the presenter.
  void shown(const FrameInfo& info);
  /// The tracks that came with it, null when it has none.
  void shown_tracks(const TrackTable* table);
  /// A command was sent: what the pipeline's status does not tell is remembered here.
  void sent(const Command& command);
  void notice(bool problem, std::string text);
  /// Whether the source's stream_errors stands among the notices.
  bool damage_told() const { return damage_told_; }
  /// The messages of the run, while they are looked at.
  void refresh_log();

  /// Valid until the next call.
  const ui::ViewerModel& build(Extent picture);
  /// For what others contribute between two calls of build().
  ui::ViewerModel& model() { return model_; }

 private:
  void refresh_graph(const PipelineStatus& status);
  void refresh_counts(const PipelineStatus& status);
  void refresh_taps();
  void refresh_timings();
  void refresh_rates(int64_t time_ns);
  void tell_of_damage();

  Pipeline& pipeline_;
  const Registry& registry_;
  ui::ViewerModel model_;
  uint64_t graph_version_ = 0;
  bool damage_told_ = false;
  int64_t timings_ns_ = 0, scopes_ns_ = 0, log_ns_ = 0;
  ScopeReading comparison_;
  struct Counted {
    int64_t time_ns;
    uint64_t processed, shown;
  };
  std::deque<Counted> rates_;  ///< of the last two seconds
  struct Losses {
    int64_t time_ns;
    std::array<uint32_t, kTrackStatuses> counts;
  };
  std::deque<Losses> losses_;  ///< of the shown frames of the last second
};

}  // namespace lensd
