// Uploads device frames to GL textures without a copy to the host.
//
//   wait_ready ─▶ map ─▶ kernel: linear memory → array ─▶ reading_done ─▶ unmap      on one present stream
//
// Textures are registered once per picture size and depth. Each upload maps, writes and unmaps one texture.
// GL commands queued after the unmap see the pixels. If the size or depth changes, the old textures are freed
// once the GPU has written them. The host waits only if this happens several times in a row, if GPU memory is
// short, or (rarely) if the mapped array changes.
#pragma once

#include <memory>
#include <string>

#include "ui/gl/display_path.hpp"

namespace lensd::ui {

/// Returns why CUDA device `device` cannot write textures of the current GL context; empty if it can.
std::string interop_obstacle(int device);

class CudaTexture final : public DisplayPath {
 public:
  explicit CudaTexture(DeviceFrameSync& sync);
  ~CudaTexture() override;
  void upload(const Frame& frame, int image) override;

 private:
  struct Slot;
  struct State;
  DeviceFrameSync& sync_;
  std::unique_ptr<State> state_;
};

}  // namespace lensd::ui
