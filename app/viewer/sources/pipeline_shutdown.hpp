// What the viewer does about sources: making one aside, and ending the one before it aside.
//
//   OpenRequest ── make_viewer_source(), any thread ──▶ OpenedPipeline, taken into use on the UI thread
//   the old one ── PipelineShutdown ──▶ its threads end, its recording is completed, then the new one starts
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "app/serve/jobs.hpp"
#include "app/viewer/sources/source_opener.hpp"

namespace lensd {

/// What all sources of a run have in common. Shared with threads that may outlive the viewer.
struct ViewerSetup {
  CommandLine line;
  BackendChoice backend;
  bool host_frames = false;  ///< the display takes frames from host memory
  bool controlled = false, traced = false;
  std::function<void()> on_frame = [] {}, on_change = [] {};
};

/// Throws Error.
OpenedPipeline make_viewer_source(const ViewerSetup& setup, const OpenRequest& request,
                                  std::shared_ptr<const std::atomic<bool>> cancel);

/// How a source that somebody chooses while the program runs is opened: what was set for the source of the
/// command line (a camera's size, a stream's options) is for that one alone.
LiveOptions live_options_for(const CommandLine& line, const std::string& url);

/// Where a look for files begins: where the source is, or the newest recent one that is a file.
std::string folder_of(const std::string& url, const std::vector<std::string>& recent);

/// Pipelines on their way out. UI thread, but for its own.
class PipelineShutdown {
 public:
  ~PipelineShutdown() { finish(); }
  /// Ends `old` (may be empty), then starts `next`.
  void replace(OpenedPipeline old, std::shared_ptr<Pipeline> next);
  /// What the recordings that were completed had to say.
  std::vector<SinkNotice> take_notices();
  /// Waits for all of it.
  void finish() { jobs_.stop(); }

 private:
  std::mutex mutex_;
  std::vector<SinkNotice> notices_;
  Jobs jobs_;
};

}  // namespace lensd
