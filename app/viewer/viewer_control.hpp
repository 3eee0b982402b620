// Lets socket and HTTP clients control the viewer with the daemon's commands.
//
//   socket, HTTP ──▶ Session ── post ──▶ Pipeline
//                            ── load, quit ──▶ stored here, polled by the UI thread, which owns the pipeline
//
// Call from the UI thread only, except changed().
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/serve/control_servers.hpp"

namespace lensd {

class ViewerControl {
 public:
  struct Load {
    std::string url;
    Reply reply;
  };

  /// Starts the servers. Throws like ControlServers. `wake` wakes the UI thread and is called on any thread.
  ViewerControl(const CommandLine& line, const ControlOptions& options, const BackendChoice& backend,
                std::shared_ptr<VirtualCamera> virtual_camera, std::function<void()> wake);
  ~ViewerControl();

  /// Sets the pipeline that clients control.
  void attach(std::shared_ptr<Pipeline> pipeline, const std::string& url);
  /// Sets the current frame, for snapshots and streams.
  void shown(const Frame& frame);
  /// Reports a change to clients. Pass to PipelineOptions::on_change. Thread-safe.
  void changed() const { session_.changed(); }
  /// Sends clients an event with a notice that was already logged.
  void report(const Notice& notice) { session_.send_notice(notice.problem, notice.text); }

  bool quit_requested() const;
  /// Returns the newest request to load a source, or nullopt. The caller must reply.
  std::optional<Load> take_load();
  /// Replies to pending requests and stops the servers. Call before the pipeline is destroyed.
  void stop();

 private:
  SessionOptions session_options(const CommandLine& line, const BackendChoice& backend,
                                 std::shared_ptr<VirtualCamera> virtual_camera);

  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::optional<Load> load_;
  bool quit_ = false, ended_ = false;
  Session session_;
  std::unique_ptr<ControlServers> servers_;
};

}  // namespace lensd
