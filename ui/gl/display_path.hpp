// How a finished frame gets into a GL texture.
//
//   host frame   ── PboUpload:   memcpy into a pixel buffer, glTexSubImage2D ──┐
//   device frame ── CudaTexture: CUDA kernel writes the mapped texture ────────┴▶ texture() ──▶ Presenter
//
// Three textures in rotation, so that neither side waits for the other. UI thread only; the GL context must
// be current and outlive the path. After upload() returns the frame may be dropped.
#pragma once

#include <memory>
#include <string>

#include "core/device/backend.hpp"
#include "core/graph/exec/device_frame_sync.hpp"
#include "core/image/frame.hpp"

namespace lensd::ui {

class DisplayPath {
 public:
  static constexpr int kTextures = 3;

  virtual ~DisplayPath() = default;
  virtual const char* name() const = 0;
  /// Queues the pixels of one of the frame's images for texture(). Textures are made anew when the format
  /// changes; otherwise nothing is allocated and the host does not wait. Throws Error when the frame's memory
  /// does not fit the path or the GPU fails.
  virtual void upload(const Frame& frame, int image) = 0;

  /// The newest texture's GL name; 0 before the first upload.
  unsigned texture() const noexcept { return texture_; }
  Extent extent() const noexcept { return extent_; }

 protected:
  unsigned texture_ = 0;
  Extent extent_;
};

enum class DisplayKind { pixel_buffer, cuda_interop };

constexpr const char* name(DisplayKind kind) {
  return kind == DisplayKind::cuda_interop ? "CUDA-GL interop" : "pixel buffers";
}

struct DisplayChoice {
  DisplayKind kind = DisplayKind::pixel_buffer;
  std::string reason;  ///< one sentence for the log, the panel and doctor
};

/// Interop when frames are made on CUDA device `device` and that device draws the current GL context, else
/// pixel buffers (the executor then delivers host frames). Never throws; needs a current context.
DisplayChoice choose_display_path(Backend backend, int device = 0);

/// `sync` is used by interop only and must outlive the path.
std::unique_ptr<DisplayPath> make_display_path(DisplayKind kind, DeviceFrameSync* sync);

}  // namespace lensd::ui
