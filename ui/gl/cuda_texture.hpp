// Device frames into GL textures without leaving the GPU.
//
//   wait_ready ─▶ map ─▶ kernel: linear memory → array ─▶ reading_done ─▶ unmap      on one present stream
//
// The textures are registered once for a format; a frame maps one, writes it and unmaps it. GL work queued
// after the unmap sees the pixels. Nothing waits on the host.
#pragma once

#include <memory>
#include <string>

#include "ui/gl/display_path.hpp"

namespace lensd::ui {

/// Why CUDA device `device` cannot write the textures of the current GL context; empty when it can.
std::string interop_obstacle(int device);

class CudaTexture final : public DisplayPath {
 public:
  explicit CudaTexture(DeviceFrameSync& sync);
  ~CudaTexture() override;
  const char* name() const override { return lensd::ui::name(DisplayKind::cuda_interop); }
  void upload(const Frame& frame, int image) override;

 private:
  struct Slot;
  struct State;
  DeviceFrameSync& sync_;
  std::unique_ptr<State> state_;
};

}  // namespace lensd::ui
