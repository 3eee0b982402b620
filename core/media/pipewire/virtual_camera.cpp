#include "core/media/virtual_camera.hpp"

#include <utility>

#include "core/media/pipewire/camera_node.hpp"

namespace lensd {

struct VirtualCamera::Node : CameraNode {
  using CameraNode::CameraNode;
};

VirtualCamera::VirtualCamera(bool dither) : dither_(dither) {}

VirtualCamera::~VirtualCamera() {
  stop();
}

void VirtualCamera::start(const std::string& name) {
  check_virtual_camera_name(name);
  if (status().name == name) return;
  stop();
  auto node = std::make_shared<Node>(name, dither_, notices_);
  const std::lock_guard lock(mutex_);
  node_ = std::move(node);
  ++starts_;
  on_ = true;
}

void VirtualCamera::stop() {
  std::shared_ptr<Node> node;  // declared before the lock, so that it is destroyed after the unlock
  const std::lock_guard lock(mutex_);
  on_ = false;
  node.swap(node_);
}

void VirtualCamera::write(ConstImageRef image, PixelAspect aspect, double fps) {
  std::shared_ptr<Node> node;
  {
    const std::lock_guard lock(mutex_);
    node = node_;
  }
  if (node) node->write(image, aspect, fps);
}

VirtualCamera::Status VirtualCamera::status() const {
  const std::lock_guard lock(mutex_);
  return node_ ? node_->status() : Status{};
}

}  // namespace lensd
