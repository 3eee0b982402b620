// Uploads host frames through pixel buffers, which the driver copies asynchronously.
#pragma once

#include <array>

#include "ui/gl/display_path.hpp"
#include "ui/gl/gl.hpp"

namespace lensd::ui {

/// Grey is uploaded as one sample per pixel and replicated to red, green and blue by the texture's swizzle.
class PboUpload final : public DisplayPath {
 public:
  void upload(const Frame& frame, int image) override;

 private:
  struct Slot {
    gl::Texture texture;
    gl::Buffer buffer;
  };
  void plan(const ConstImageRef& image);

  std::array<Slot, kTextures> slots_;
  ImageFormat format_;
  std::ptrdiff_t pitch_bytes_ = 0;  ///< pitch of frames and pixel buffers
  int next_ = 0;
};

}  // namespace lensd::ui
