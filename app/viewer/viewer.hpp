// lensd SOURCE: plays a source in a window.
//
//   SourceOpener ── install() ──▶ Pipeline ── newest frame ──▶ ShownFrame ──▶ Presenter ──▶ Window
//   keys, mouse, panels ── ViewerUi ──▶ commands to the pipeline, requests to handle_requests()
//
// The UI thread owns the window, GL and ImGui. Once per display frame it takes the newest finished frame,
// draws it with the panels, and posts commands to the pipeline. UI thread and pipeline do not wait for each
// other.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/pipeline/flight_recorder.hpp"
#include "app/run.hpp"
#include "app/viewer/command_outbox.hpp"
#include "app/viewer/display/display_watch.hpp"
#include "app/viewer/display/kept_colours.hpp"
#include "app/viewer/display/screen_saver.hpp"
#include "app/viewer/display/shown_frame.hpp"
#include "app/viewer/display/snapshots.hpp"
#include "app/viewer/machine_speed.hpp"
#include "app/viewer/sources/camera_wait.hpp"
#include "app/viewer/sources/pipeline_shutdown.hpp"
#include "app/viewer/sources/playlist.hpp"
#include "app/viewer/sources/source_finder.hpp"
#include "app/viewer/sources/source_opener.hpp"
#include "app/viewer/sources/thumbnail_loader.hpp"
#include "app/viewer/sources/viewer_source.hpp"
#include "app/viewer/state/viewer_memory.hpp"
#include "app/viewer/ui_map.hpp"
#include "app/viewer/viewer_control.hpp"
#include "app/viewer/viewer_model.hpp"
#include "ui/gl/imgui_session.hpp"
#include "ui/gl/panel_texture.hpp"
#include "ui/gl/presenter.hpp"
#include "ui/gl/track_overlay.hpp"
#include "ui/gl/window.hpp"
#include "ui/viewer_ui.hpp"

namespace lensd {

class Viewer {
 public:
  /// Opens the window and the source of the command line. Throws Error.
  Viewer(const CommandLine& line, const GraphDesc& graph);
  /// Returns when the window is closed, or when a signal or a request to quit arrives. Throws Error.
  void run();

 private:
  // viewer.cpp: the loop, one call per display frame

  void draw_frame();
  /// Takes new frames without drawing them, so that the pipeline continues while the window is hidden.
  void skip_frame();
  /// First part of draw_frame() and skip_frame(). Throws Error if the pipeline has failed. If the cause is a
  /// source that was opened after the start, adds a notice instead. If it is a source of the playlist that
  /// the user did not choose, calls skip_failed() instead.
  void begin_frame();
  void update_status();
  /// Posts commands to the pipeline and passes their tickets to the model. Does not block: commands wait in
  /// outbox_ while the pipeline's queue is full.
  void post(const std::vector<Command>& commands);
  /// Uploads the images that the panels have drawn or requested.
  void update_panel_textures();
  /// Uploads the newest frame. Returns false if there is no new frame.
  bool show_newest();
  void after_present();
  void draw_tracks();
  void finish();

  // viewer_sources.cpp: opening and replacing sources

  ViewerSetup setup() const;
  LiveOptions remembered(LiveOptions live) const;
  /// Opens the source of the command line. Throws Error.
  void open_first(const GraphDesc& graph);
  /// Opens a source on another thread. The current source continues meanwhile.
  void open_aside(OpenRequest request, GraphDesc graph);
  /// Returns an OpenRequest::done that adds a notice if the source cannot be opened.
  OpenDone notice_if_failed();
  /// Opens a source that the user chose. Fails for a live source that is down, unless `request.wait` is set.
  void open_chosen(const ui::SourceRequest& request);
  void choose_video_track(int track);
  /// Opens a source. If that fails, opens the next source of the playlist (`pass_over` = 1) or the one before
  /// (-1), or shows the problem (0).
  void open_url(const std::string& url, const ui::SourceRequest& chosen, int pass_over = 0);
  /// Opens a source of the playlist; does nothing for nullopt.
  void open_listed(const std::optional<std::string>& source, int pass_over = 0);
  /// Opens the source after (`by` = 1) or before (-1) one that failed. Throws Error(bad_source) if there is
  /// none and no source has shown a picture.
  void skip_failed(const std::string& problem, int by = 1);
  /// Searches the files and folders on another thread, then calls open_list(). Keeps the playlist and adds a
  /// notice if there are no sources, if a folder cannot be read or has no videos or images, or if a source is
  /// an output of this run.
  void open_all(std::vector<std::string> sources);
  /// Replaces the playlist with the sources that were found for `given`, and opens the first one that can be
  /// opened. If `given` is a single file, inserts it into the playlist instead.
  void open_list(const std::vector<std::string>& given, std::vector<std::string> sources);
  /// Opens the camera that was plugged in while the test picture plays.
  void open_found_camera();
  /// Plays the next source of the playlist when a file has ended. With --frames, closes the window after the
  /// last source.
  void advance_playlist();
  /// Returns true if the current source has ended, so that the next one of the playlist follows.
  bool source_over() const;
  /// Stores the playback position of the current source, to resume there when it is opened again. Keeps the
  /// stored position if no picture was processed.
  void keep_position();
  /// Returns the stored position of a source, or 0 if --no-resume is given.
  int64_t kept_position(const std::string& url) const;
  void install_opened();
  /// Returns commands for the settings that have changed since `request` was made.
  std::vector<Command> settings_since(const OpenRequest& request) const;
  /// Replaces the current source. The old pipeline is shut down on another thread.
  void install(const OpenRequest& request, OpenedPipeline opened);
  /// Destroys everything that refers to the pipeline, and returns the pipeline and its recorder.
  OpenedPipeline detach_pipeline();
  /// Creates everything that refers to the pipeline: display path, presenter, DisplayWatch, model.
  void attach_pipeline();
  /// Shows the new source's name and the notices about it. `path`: the source's absolute path, or an empty
  /// string if it is not a file.
  void describe_source(const OpenRequest& request, const std::string& path);
  FrameLosses losses(const Pipeline& pipeline) const;
  void update_source_status();
  void update_thumbnail();

  // viewer_actions.cpp: requests of the user and of control clients

  void handle_requests(const ui::ViewerRequests& requests);
  void show_notices(std::vector<Notice> notices);
  /// Runs `action` and adds a notice if it throws: "cannot `what`: reason". Playback continues.
  void report_failure(const char* what, const std::function<void()>& action);
  void handle_control();
  /// Sends control clients a notice that the window shows. The daemon's clients get such notices too.
  void report_to_clients(const Notice& notice) const;
  /// Loads dropped presets, and passes the other dropped files to open_all().
  void handle_dropped_files();
  /// Returns the pixel aspect of ViewerUi::first_picture().
  PixelAspect shown_aspect() const;
  void snapshot(std::optional<Image> picture, PixelAspect aspect);
  void copy_picture();
  void toggle_record();
  /// Posts `command` and remembers it for requested_recording().
  void start_recording(StartRecord command);
  /// Returns the command of the recording that is active or about to start, or nullopt.
  std::optional<StartRecord> requested_recording() const;
  /// Continues the recording of the previous source with the current one, in a new file.
  void continue_recording(StartRecord command);
  void toggle_virtual_camera();
  void announce_virtual_camera();
  /// Returns an unused path for a name template (expand_template()). Places names without a folder in
  /// `folder`.
  std::string expanded_path(const std::string& name, const std::string& folder) const;
  void update_recording_status();

  const CommandLine& line_;
  ui::ViewerUi ui_;
  ViewerMemory memory_;
  ui::Window window_;
  ui::ImGuiSession session_;
  BackendChoice backend_;
  ui::DisplayChoice display_;           ///< display path of pipelines that run on backend_
  ui::DisplayChoice pipeline_display_;  ///< path of the current pipeline, which may run on the CPU instead
  std::optional<MachineSpeed> machine_speed_;
  ui::PanelTexture scope_texture_, thumbnail_texture_;
  ui::TrackOverlay tracks_;
  Snapshots snapshots_;
  ScreenSaver screen_saver_;
  UiMap map_;
  std::shared_ptr<VirtualCamera> virtual_camera_;
  std::unique_ptr<ViewerControl> control_;  // must outlive the pipelines, which call it
  std::unique_ptr<SourceOpener> opener_;
  Playlist playlist_;
  std::string current_url_;
  std::string current_file_;  ///< absolute path of the current source; empty if it is not a regular file
  std::unique_ptr<CameraWait> camera_wait_;  ///< not null while the test picture replaces a missing camera
  SourceFinder finder_{[] { ui::Window::wake(); }};
  /// While the video plays, a new thumbnail is drawn with the next frame. Drawing the window for the
  /// thumbnail alone would delay that frame if the renderer is slow.
  std::atomic<bool> playing_{false};
  ThumbnailLoader thumbnails_{[this] {
    if (!playing_) ui::Window::wake();
  }};
  PipelineShutdown shutdown_;
  ui::SourceProgress progress_;
  TraceTrigger trace_trigger_ = parse_trace_trigger(line_.config.trace_on);
  std::shared_ptr<Pipeline> pipeline_;
  std::atomic<uint64_t> recorder_drops_{0};
  std::unique_ptr<FlightRecorder> flight_recorder_;  // destroyed before the pipeline, whose timeline it reads
  std::unique_ptr<DisplayWatch> watch_;              // destroyed before the pipeline, whose profiler it uses
  std::shared_ptr<RecorderSink> recorder_;
  /// The last command that starts a recording, with its ticket. nullopt: the last command stops the
  /// recording.
  std::optional<StartRecord> record_sent_;
  bool camera_announced_ = true;  ///< false: the virtual camera is switched on, but not reported yet
  uint64_t record_ticket_ = 0;
  std::unique_ptr<ui::Presenter> presenter_;  // destroyed before the pipeline, whose frames it reads
  std::unique_ptr<ViewerModelBuilder> model_;
  CommandOutbox outbox_;
  KeptColours kept_colours_;
  ShownFrame shown_;  // destroyed before the pipeline, whose frame it holds
  Profiler::Scope present_scope_, draw_scope_, panels_scope_;
  uint64_t thumbnail_version_ = 0;  ///< number of changes of ViewerModel::thumbnail
  bool quit_ = false;
  bool end_seen_ = false;      ///< the end of the current source was handled by advance_playlist()
  bool automatic_ = false;     ///< if the current source fails, the next one of the playlist is opened
  bool picture_seen_ = false;  ///< a source has shown a picture
  /// Chosen: the source was opened after the start. Failed: its pipeline has failed and was stopped, and the
  /// viewer stays open.
  bool source_chosen_ = false, source_failed_ = false;
};

}  // namespace lensd
