#include "app/viewer/viewer_control.hpp"

#include "kernels/registry.hpp"

namespace lensd {

ViewerControl::ViewerControl(const CommandLine& line, const ControlOptions& options,
                             const BackendChoice& backend, std::shared_ptr<VirtualCamera> virtual_camera,
                             std::function<void()> wake)
    : wake_(std::move(wake)),
      session_(session_options(line, backend, std::move(virtual_camera)), registry()),
      servers_(std::make_unique<ControlServers>(session_, options)) {}

ViewerControl::~ViewerControl() {
  stop();
}

SessionOptions ViewerControl::session_options(const CommandLine& line, const BackendChoice& backend,
                                              std::shared_ptr<VirtualCamera> virtual_camera) {
  SessionOptions options;
  options.backend = backend, options.virtual_camera = std::move(virtual_camera);
  options.captures = line.config.control_folder;
  options.layers = line.layers, options.config = line.config;
  options.load = [this](std::string url, Reply reply) {
    std::optional<Load> before;
    {
      const std::lock_guard lock(mutex_);
      if (!ended_) before = std::exchange(load_, Load{std::move(url), std::exchange(reply, {})});
    }
    if (reply) return reply({Status::busy, "lensd is shutting down"});
    if (before) before->reply({Status::refused, "another source was requested in the meantime"});
    wake_();
  };
  options.quit = [this] {
    {
      const std::lock_guard lock(mutex_);
      quit_ = true;
    }
    wake_();
  };
  return options;
}

void ViewerControl::attach(std::shared_ptr<Pipeline> pipeline, const std::string& url) {
  session_.attach(std::move(pipeline), url);
}

void ViewerControl::shown(const Frame& frame) {
  session_.set_newest_frame(frame.share());
}

bool ViewerControl::quit_requested() const {
  const std::lock_guard lock(mutex_);
  return quit_;
}

std::optional<ViewerControl::Load> ViewerControl::take_load() {
  const std::lock_guard lock(mutex_);
  return std::exchange(load_, std::nullopt);
}

void ViewerControl::stop() {
  session_.stop_soon();
  servers_.reset();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  if (auto load = take_load()) load->reply({Status::busy, "lensd is shutting down"});
  session_.stop();
}

}  // namespace lensd
