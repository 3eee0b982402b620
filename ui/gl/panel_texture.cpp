#include "ui/gl/panel_texture.hpp"

#include "ui/gl/gl.hpp"

namespace lensd::ui {

struct PanelTexture::Texture {
  gl::Texture name;
};

PanelTexture::PanelTexture() : texture_(std::make_unique<Texture>()) {
  glBindTexture(GL_TEXTURE_2D, texture_->name.id());
  // A panel may draw the image smaller.
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  for (const GLenum which : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    glTexParameteri(GL_TEXTURE_2D, which, GL_CLAMP_TO_EDGE);
  glBindTexture(GL_TEXTURE_2D, 0);
  gl::check("panel texture");
}

PanelTexture::~PanelTexture() = default;

unsigned PanelTexture::name() const noexcept {
  return texture_->name.id();
}

void PanelTexture::update(const void* pixels, Extent size, uint64_t version) {
  if (version == uploaded_ || size.width == 0) return;
  uploaded_ = version;
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glBindTexture(GL_TEXTURE_2D, texture_->name.id());
  if (size == size_)
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, size.width, size.height, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  else
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, size.width, size.height, 0, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  glGenerateMipmap(GL_TEXTURE_2D);
  size_ = size;
  glBindTexture(GL_TEXTURE_2D, 0);
}

}  // namespace lensd::ui
