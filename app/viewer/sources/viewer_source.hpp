// Opens the viewer's sources and creates their pipelines.
//
//   OpenRequest ── make_viewer_source(), any thread ──▶ OpenedPipeline, installed on the UI thread
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "app/viewer/sources/source_opener.hpp"

namespace lensd {

/// Settings for all sources of a run. Shared with threads that may outlive the viewer.
struct ViewerSetup {
  CommandLine line;
  BackendChoice backend;
  std::shared_ptr<VirtualCamera> virtual_camera;  ///< shared by all pipelines of the run
  bool host_frames = false;                       ///< the display reads frames from host memory
  bool controlled = false, traced = false;
  std::function<void()> on_frame = [] {}, on_change = [] {};
};

/// Opens the source and creates its pipeline without starting it, or expands a list. Accesses all files that
/// the request needs, so that the UI thread does not wait for a slow disk. Throws Error. Thread-safe.
OpenedPipeline make_viewer_source(const ViewerSetup& setup, const OpenRequest& request,
                                  std::shared_ptr<const std::atomic<bool>> cancel);

/// Returns the live options of a source. Camera size, rate, format, stream options and TlsCheck::any of the
/// command line apply only to the source of the command line.
LiveOptions live_options_for(const CommandLine& line, const std::string& url);

/// Returns plain_path() of a file, or an empty string if there is no such file. May block on the disk.
std::string full_path(const std::string& url);

/// Returns the folder that the source dialog lists first: that of the source, else that of the newest recent
/// file, else the working folder.
std::string folder_of(const std::string& url, const std::vector<std::string>& recent);

}  // namespace lensd
