// Host frames into textures by way of pixel buffers: the driver copies while the UI goes on.
#pragma once

#include <array>

#include "ui/gl/display_path.hpp"
#include "ui/gl/gl.hpp"

namespace lensd::ui {

/// Gray8 travels as one byte a pixel and is spread to red, green and blue by the texture's swizzle.
class PboUpload final : public DisplayPath {
 public:
  const char* name() const override { return lensd::ui::name(DisplayKind::pixel_buffer); }
  void upload(const Frame& frame, int image) override;

 private:
  struct Slot {
    gl::Texture texture;
    gl::Buffer buffer;
  };
  void plan(const ImageFormat& format);

  std::array<Slot, kTextures> slots_;
  ImageFormat format_;
  size_t pitch_bytes_ = 0;
  int next_ = 0;
};

}  // namespace lensd::ui
