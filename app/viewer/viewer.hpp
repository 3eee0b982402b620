// lensd SOURCE: the window.
//
//   SourceOpener ── install() ──▶ Pipeline ── newest frame ──▶ ShownFrame ──▶ Presenter ──▶ Window
//   keys, mouse, panels ── ViewerUi ──▶ commands to the pipeline, requests to obey()
//
// The UI thread owns window, GL and ImGui. Each turn it takes the newest finished frame, draws it and the
// panels, and posts what the user asked for to the pipeline. It never waits for the pipeline, nor the
// pipeline for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/pipeline/flight_recorder.hpp"
#include "app/run.hpp"
#include "app/viewer/clock_reader.hpp"
#include "app/viewer/copy_rates.hpp"
#include "app/viewer/display_watch.hpp"
#include "app/viewer/shown_frame.hpp"
#include "app/viewer/snapshots.hpp"
#include "app/viewer/sources/pipeline_shutdown.hpp"
#include "app/viewer/sources/source_finder.hpp"
#include "app/viewer/sources/source_opener.hpp"
#include "app/viewer/state/last_graph.hpp"
#include "app/viewer/state/viewer_memory.hpp"
#include "app/viewer/ui_map.hpp"
#include "app/viewer/viewer_control.hpp"
#include "app/viewer/viewer_model.hpp"
#include "ui/gl/imgui_session.hpp"
#include "ui/gl/presenter.hpp"
#include "ui/gl/scope_texture.hpp"
#include "ui/gl/track_overlay.hpp"
#include "ui/gl/window.hpp"
#include "ui/viewer_ui.hpp"

namespace lensd {

class Viewer {
 public:
  /// Opens the window and the source of the command line. Throws Error.
  Viewer(const CommandLine& line, const GraphDesc& graph);
  /// Until it is closed. Throws Error.
  void run();

 private:
  // viewer.cpp: the loop and what it draws

  /// A source that was chosen while the program ran and breaks leaves the window to choose another one.
  void check_pipeline();
  void turn();
  /// Of a window that is not to be seen: nothing is drawn, and the pipeline goes on at its pace.
  void turn_unseen();
  /// True when there was one.
  bool show_newest();
  void present_done();
  void draw_tracks();
  void finish();

  // viewer_opening.cpp: how sources come into use

  ViewerSetup setup() const;
  /// The source of the command line: where it cannot be opened, there is nothing to show.
  void open_first(const GraphDesc& graph);
  /// Has a source opened aside; what plays goes on until it is there.
  void open_aside(OpenRequest request, GraphDesc graph);
  /// A wish of the user's. A live source that is not up is refused, unless it is to be waited for.
  void open_wish(const ui::SourceRequest& wish);
  void take_opened();
  /// A source in place of the one before it, whose threads end aside.
  void install(const OpenRequest& request, OpenedPipeline made);
  FrameLosses losses(const Pipeline& pipeline) const;
  void tell_of_sources();

  // viewer_wishes.cpp: what people and programs ask for, and what they are told

  void obey(const ui::ViewerRequests& requests);
  void obey_control();
  /// Presets are loaded, the first of the others is played.
  void take_dropped_files();
  void snapshot(std::optional<Image> picture);
  void toggle_record();
  /// `%F` and the like in the template, in the user's folder unless the template names one.
  std::string named(const std::string& name, const std::string& folder) const;
  void tell_of_recording();

  const CommandLine& line_;
  ui::ViewerUi ui_;
  ViewerMemory memory_;
  LastGraph last_graph_;
  ui::Window window_;
  ui::ImGuiSession session_;
  BackendChoice backend_;
  ui::DisplayChoice display_;
  CopyRates copy_rates_;
  ClockReader clocks_;
  ui::ScopeTexture scope_texture_;
  ui::TrackOverlay tracks_;
  Snapshots snapshots_;
  UiMap map_;
  std::unique_ptr<ViewerControl> control_;  // outlives the pipelines that report to it
  std::unique_ptr<SourceOpener> opener_;
  SourceFinder finder_{[] { ui::Window::wake(); }};
  PipelineShutdown retirement_;
  ui::SourceProgress progress_;
  TraceTrigger trace_trigger_ = parse_trace_trigger(line_.trace_on);
  std::shared_ptr<Pipeline> pipeline_;
  std::atomic<uint64_t> recorder_drops_{0};
  std::unique_ptr<FlightRecorder> flight_recorder_;  // reads the pipeline
  std::unique_ptr<DisplayWatch> watch_;              // writes into it
  std::shared_ptr<RecorderSink> recorder_;
  std::unique_ptr<ui::Presenter> presenter_;  // destroyed before the pipeline whose frames it reads
  std::unique_ptr<ViewerModelBuilder> model_;
  ShownFrame shown_;  // goes before the pipeline
  int present_scope_ = 0, draw_scope_ = 0, panels_scope_ = 0;
  bool quit_ = false;
  bool may_fail_ = false, failed_ = false;  ///< the pipeline's source: it was chosen here; it broke
};

}  // namespace lensd
