#include "app/viewer/viewer_control.hpp"

#include "kernels/registry.hpp"

namespace lensd {

ViewerControl::ViewerControl(const CommandLine& line, const ControlDeskOptions& desk,
                             const BackendChoice& backend, std::function<void()> wake)
    : wake_(std::move(wake)),
      session_(session_options(line, backend), registry()),
      desk_(std::make_unique<ControlDesk>(session_, desk)) {}

ViewerControl::~ViewerControl() {
  stop();
}

SessionOptions ViewerControl::session_options(const CommandLine& line, const BackendChoice& backend) {
  SessionOptions options;
  options.backend = backend;
  options.captures = line.config.control_folder.value_or("");
  options.layers = line.layers, options.config = line.config;
  options.source_fixed = line.source_given;
  options.load = [this](std::string url, Reply reply) {
    std::optional<Load> before;
    {
      const std::lock_guard lock(mutex_);
      if (!ended_) before = std::exchange(load_, Load{std::move(url), std::exchange(reply, {})});
    }
    if (reply) return reply({Status::busy, "lensd is ending", {}});
    if (before) before->reply({Status::refused, "another source was asked for meanwhile", {}});
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
  session_.offer(frame.share());
}

bool ViewerControl::quit_asked() const {
  const std::lock_guard lock(mutex_);
  return quit_;
}

std::optional<ViewerControl::Load> ViewerControl::take_load() {
  const std::lock_guard lock(mutex_);
  return std::exchange(load_, std::nullopt);
}

void ViewerControl::stop() {
  desk_.reset();
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  if (auto load = take_load()) load->reply({Status::busy, "lensd is ending", {}});
  session_.stop();
}

}  // namespace lensd
