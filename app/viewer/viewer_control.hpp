// Control of the viewer from outside: the same commands as for the daemon.
//
//   socket, HTTP ──▶ Session ── post ──▶ Pipeline
//                            ── load, quit ──▶ kept here until the UI thread, which owns the pipeline, takes
//                            them
//
// Members are the UI thread's, but for changed().
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/serve/control_desk.hpp"

namespace lensd {

class ViewerControl {
 public:
  struct Load {
    std::string url;
    Reply reply;
  };

  /// `wake` makes the UI thread take a turn; any thread calls it. Throws as ControlDesk.
  ViewerControl(const CommandLine& line, const ControlDeskOptions& desk, const BackendChoice& backend,
                std::function<void()> wake);
  ~ViewerControl();

  /// The pipeline that is controlled from now on.
  void attach(std::shared_ptr<Pipeline> pipeline, const std::string& url);
  /// The frame that is shown now: for snapshots and streams.
  void shown(const Frame& frame);
  /// For PipelineOptions::on_change; any thread.
  void changed() const { session_.changed(); }

  bool quit_asked() const;
  /// A source that is to be opened; the reply is to be given.
  std::optional<Load> take_load();
  /// Answers everything and ends. Before the pipeline is destroyed.
  void stop();

 private:
  SessionOptions session_options(const CommandLine& line, const BackendChoice& backend);

  const std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::optional<Load> load_;
  bool quit_ = false, ended_ = false;
  Session session_;
  std::unique_ptr<ControlDesk> desk_;
};

}  // namespace lensd
