#include "ui/gl/screen_depth.hpp"

#include <GL/glew.h>

#include <fmt/format.h>

#include <algorithm>

namespace lensd::ui {

ScreenDepth screen_depth() {
  GLint framebuffer = 0;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &framebuffer);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  const auto bits = [](GLenum size) {
    GLint value = 0;
    glGetFramebufferAttachmentParameteriv(GL_DRAW_FRAMEBUFFER, GL_BACK_LEFT, size, &value);
    return value > 0 ? value : 8;
  };
  const ScreenDepth depth{bits(GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE),
                          bits(GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE),
                          bits(GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE)};
  // The queries fail if the window has no back buffer. Their errors must not reach later calls.
  while (glGetError() != GL_NO_ERROR) {
  }
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(framebuffer));
  return depth;
}

std::array<float, 3> dither_steps(const ScreenDepth& depth, int bits) {
  const auto step = [bits](int screen) {
    return bits > screen ? 1 / static_cast<float>((1u << std::clamp(screen, 1, 16)) - 1) : 0.f;
  };
  return {step(depth.red), step(depth.green), step(depth.blue)};
}

std::string describe(const ScreenDepth& depth) {
  if (depth.red == depth.green && depth.red == depth.blue) return fmt::format("{} bits", depth.red);
  return fmt::format("{}, {} and {} bits", depth.red, depth.green, depth.blue);
}

int requested_bits(int desktop) {
  return std::max(desktop, 8);
}

}  // namespace lensd::ui
