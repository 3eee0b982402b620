#include "ui/gl/pbo_upload.hpp"

#include <cstring>

namespace lensd::ui {

void PboUpload::plan(const ConstImageRef& image) {
  const ImageFormat& format = image.format;
  texture_ = 0, format_ = {};
  const bool gray = is_gray(format.format), deep = sample_bytes(format.format) == 2;
  GLint most = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &most);
  if (format.extent.width > most || format.extent.height > most)
    throw Error(ExitCode::runtime_failure, "display",
                "a picture of " + std::to_string(format.extent.width) + "×" +
                    std::to_string(format.extent.height) + " exceeds OpenGL's texture limit of " +
                    std::to_string(most));
  pitch_bytes_ = image.pitch_bytes;
  const GLint gray_swizzle[] = {GL_RED, GL_RED, GL_RED, GL_ONE};
  for (Slot& slot : slots_) {
    slot = Slot();
    glBindTexture(GL_TEXTURE_2D, slot.texture.id());
    const GLenum stored = deep ? (gray ? GL_R16 : GL_RGBA16) : gray ? GL_R8 : GL_RGBA8;
    glTexStorage2D(GL_TEXTURE_2D, 1, stored, format.extent.width, format.extent.height);
    if (gray) glTexParameteriv(GL_TEXTURE_2D, GL_TEXTURE_SWIZZLE_RGBA, gray_swizzle);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, slot.buffer.id());
    glBufferData(GL_PIXEL_UNPACK_BUFFER, pitch_bytes_ * format.extent.height, nullptr, GL_STREAM_DRAW);
  }
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  gl::check("display textures");
  format_ = format;
}

void PboUpload::upload(const Frame& frame, int index) {
  if (frame.memory() == MemoryKind::device)
    throw Error(ExitCode::runtime_failure, "display", "pixel buffers received a device frame");
  const ConstImageRef image = frame.image(index);
  if (image.format != format_ || image.pitch_bytes != pitch_bytes_) plan(image);
  const int width = image.width(), height = image.height();
  Slot& slot = slots_[static_cast<size_t>(next_)];
  next_ = (next_ + 1) % kTextures;

  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, slot.buffer.id());
  const auto bytes = static_cast<size_t>(pitch_bytes_ * height);
  auto* mapped =
      static_cast<uint8_t*>(glMapBufferRange(GL_PIXEL_UNPACK_BUFFER, 0, static_cast<GLsizeiptr>(bytes),
                                             GL_MAP_WRITE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT));
  if (!mapped) throw Error(ExitCode::runtime_failure, "display", "cannot map a pixel buffer");
  std::memcpy(mapped, image.data, bytes - static_cast<size_t>(pitch_bytes_) + image.row_bytes());
  glUnmapBuffer(GL_PIXEL_UNPACK_BUFFER);

  const bool gray = is_gray(format_.format);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 4);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, static_cast<GLint>(pitch_bytes_) / image.pixel_bytes());
  glBindTexture(GL_TEXTURE_2D, slot.texture.id());
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width, height, gray ? GL_RED : GL_RGBA,
                  image.is_deep() ? GL_UNSIGNED_SHORT : GL_UNSIGNED_BYTE, nullptr);
  glPixelStorei(GL_UNPACK_ROW_LENGTH, 0);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
  texture_ = slot.texture.id(), extent_ = format_.extent, deep_ = image.is_deep();
}

}  // namespace lensd::ui
