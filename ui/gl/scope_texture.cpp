#include "ui/gl/scope_texture.hpp"

#include "ui/gl/gl.hpp"

namespace lensd::ui {

struct ScopeTexture::Texture {
  gl::Texture name;
};

ScopeTexture::ScopeTexture() : texture_(std::make_unique<Texture>()) {
  glBindTexture(GL_TEXTURE_2D, texture_->name.id());
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_LINEAR_MIPMAP_LINEAR);  // the panel may shrink it
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_LINEAR);
  for (const GLenum which : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T})
    glTexParameteri(GL_TEXTURE_2D, which, GL_CLAMP_TO_EDGE);
  glBindTexture(GL_TEXTURE_2D, 0);
  gl::check("scope texture");
}

ScopeTexture::~ScopeTexture() = default;

void ScopeTexture::update(ScopesState& state) {
  state.texture = texture_->name.id();
  if (state.paintings == uploaded_ || state.pixels.empty()) return;
  uploaded_ = state.paintings;
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glBindTexture(GL_TEXTURE_2D, texture_->name.id());
  const GLsizei width = state.size.width, height = state.size.height;
  if (state.size == size_)
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, state.pixels.data());
  else
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE,
                 state.pixels.data());
  glGenerateMipmap(GL_TEXTURE_2D);
  size_ = state.size;
  glBindTexture(GL_TEXTURE_2D, 0);
}

}  // namespace lensd::ui
