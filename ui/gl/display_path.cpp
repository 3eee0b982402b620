#include "ui/gl/display_path.hpp"

#include "ui/gl/pbo_upload.hpp"
#if LENSD_CUDA
#include "ui/gl/cuda_texture.hpp"
#endif

namespace lensd::ui {

DisplayChoice choose_display_path(Backend backend, [[maybe_unused]] int device) {
  if (backend == Backend::cpu) return {DisplayKind::pixel_buffer, "frames are processed on the CPU"};
#if LENSD_CUDA
  const std::string obstacle = interop_obstacle(device);
  if (obstacle.empty()) return {DisplayKind::cuda_interop, "the CUDA device draws the window"};
  return {DisplayKind::pixel_buffer, obstacle};
#else
  return {DisplayKind::pixel_buffer, "built without CUDA"};
#endif
}

std::unique_ptr<DisplayPath> make_display_path(DisplayKind kind, [[maybe_unused]] DeviceFrameSync* sync) {
  if (kind == DisplayKind::pixel_buffer) return std::make_unique<PboUpload>();
#if LENSD_CUDA
  if (sync) return std::make_unique<CudaTexture>(*sync);
#endif
  throw Error(ExitCode::unavailable, "display", "CUDA-GL interop is not available here");
}

}  // namespace lensd::ui
