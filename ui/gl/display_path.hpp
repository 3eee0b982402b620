// Uploads finished frames to GL textures.
//
//   host frame   ── PboUpload:   memcpy into a pixel buffer, glTexSubImage2D ──┐
//   device frame ── CudaTexture: CUDA kernel writes the mapped texture ────────┴▶ texture() ──▶ Presenter
//
// Rotates over three textures, so that upload and drawing do not wait for each other. Call from the UI thread
// only. The GL context must be current and outlive the path. The frame may be released when upload() returns.
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
  /// Queues the upload of one of the frame's images to texture(). If the format has changed, allocates
  /// textures and may block. Throws Error if the frame has the wrong kind of memory, the picture is larger
  /// than GL's textures, or the GPU fails.
  virtual void upload(const Frame& frame, int image) = 0;

  /// Returns the newest texture's GL name; 0 before the first upload.
  unsigned texture() const noexcept { return texture_; }
  Extent extent() const noexcept { return extent_; }
  /// Returns true if the texture has 16 bits per channel, more than most screens show.
  bool is_deep() const noexcept { return deep_; }

 protected:
  unsigned texture_ = 0;
  Extent extent_;
  bool deep_ = false;
};

enum class DisplayKind { pixel_buffer, cuda_interop };

constexpr const char* name(DisplayKind kind) {
  return kind == DisplayKind::cuda_interop ? "CUDA-GL interop" : "pixel buffers";
}

struct DisplayChoice {
  DisplayKind kind = DisplayKind::pixel_buffer;
  std::string reason;  ///< for the log, the status panel and `lensd doctor`
};

/// Returns interop if `backend` is CUDA and the current GL context is on CUDA device `device`. Otherwise
/// returns pixel buffers; the executor must then output host frames. Needs a current context. Does not throw.
DisplayChoice choose_display_path(Backend backend, int device = 0);

/// Creates a path. For interop, `sync` must outlive the path; throws Error(unavailable) if it is null or CUDA
/// is not compiled in. Pixel buffers do not use `sync`.
std::unique_ptr<DisplayPath> make_display_path(DisplayKind kind, DeviceFrameSync* sync);

}  // namespace lensd::ui
