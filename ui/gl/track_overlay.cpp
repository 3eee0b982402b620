#include "ui/gl/track_overlay.hpp"

#include <algorithm>

#include "ui/gl/shader.hpp"

namespace lensd::ui {
namespace {

constexpr GLuint kBinding = 0;

/// Uniforms that both programs have.
struct Common {
  const Program& of;
  GLint capacity = of.uniform("capacity"), newest = of.uniform("newest");
  GLint to_screen = of.uniform("to_screen"), framebuffer = of.uniform("framebuffer");
  GLint colour_by = of.uniform("colour_by"), colour_full = of.uniform("colour_full");
};

}  // namespace

TrackScale track_scale(TrackColour by) {
  constexpr TrackScale kScales[] = {{150, "frames"}, {12, "levels"}, {10, "px/frame"}};
  return kScales[static_cast<size_t>(by)];
}

struct TrackOverlay::Gl {
  Program trail{"track_trail.vert", "track_trail.frag"}, point{"track_point.vert", "track_point.frag"};
  Common trail_at{trail}, point_at{point};
  GLint ring = trail.uniform("ring"), filled = trail.uniform("filled"), frames = trail.uniform("frames");
  GLint half_width = trail.uniform("half_width"), radius = point.uniform("radius");
  gl::Buffer buffer;
  gl::VertexArray vertices;
};

TrackOverlay::TrackOverlay() : gl_(std::make_unique<Gl>()) {
  gl::check("track overlay");
}
TrackOverlay::~TrackOverlay() = default;

void TrackOverlay::make_room(uint32_t capacity) {
  capacity_ = capacity, filled_ = 0;
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, gl_->buffer.id());
  glBufferData(GL_SHADER_STORAGE_BUFFER, static_cast<GLsizeiptr>(kTrail * sizeof(Track) * capacity), nullptr,
               GL_STREAM_DRAW);
}

void TrackOverlay::push(const TrackTable& table, uint32_t serial) {
  if (table.capacity == 0 || table.capacity > kMaxTracks) return clear();
  if (table.capacity != capacity_) make_room(table.capacity);
  if (serial != serial_ || !(table.picture == picture_)) filled_ = 0;
  serial_ = serial, picture_ = table.picture;
  const int frame = static_cast<int>(table.frame);
  if (filled_ > 0 && frame < frames_[0]) filled_ = 0;
  const bool again = filled_ > 0 && frame == frames_[0];  // the frame was rerun with other parameters
  if (!again) {
    newest_ = (newest_ + 1) % kTrail;
    std::copy_backward(frames_.begin(), frames_.end() - 1, frames_.end());
    filled_ = std::min(filled_ + 1, kTrail);
  }
  frames_[0] = frame;
  const size_t bytes = sizeof(Track) * capacity_;
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, gl_->buffer.id());
  glBufferSubData(GL_SHADER_STORAGE_BUFFER, static_cast<GLintptr>(static_cast<size_t>(newest_) * bytes),
                  static_cast<GLsizeiptr>(bytes), table.tracks());
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, 0);
}

void TrackOverlay::draw(Extent framebuffer, const Rect& area, const Rect& picture, const TracksState& look,
                        float scale) {
  if (filled_ == 0 || !look.overlay || picture_.width < 1 || picture_.height < 1 || area.w < 1 || area.h < 1)
    return;
  const Gl& g = *gl_;
  const auto fw = static_cast<float>(framebuffer.width), fh = static_cast<float>(framebuffer.height);
  glViewport(0, 0, framebuffer.width, framebuffer.height);
  glEnable(GL_SCISSOR_TEST);
  glScissor(static_cast<GLint>(area.x), static_cast<GLint>(fh - area.y - area.h),
            static_cast<GLsizei>(area.w), static_cast<GLsizei>(area.h));
  glEnable(GL_BLEND);
  glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_CULL_FACE);
  glBindVertexArray(g.vertices.id());
  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, kBinding, g.buffer.id());

  const float sx = picture.w / static_cast<float>(picture_.width);
  const float sy = picture.h / static_cast<float>(picture_.height);
  const auto use = [&](const Program& program, const Common& at) {
    glUseProgram(program.id());
    glUniform1i(at.capacity, static_cast<GLint>(capacity_));
    glUniform1i(at.newest, newest_);
    // Pixel centres have integer coordinates in tracks, but half-integer coordinates on the screen.
    glUniform4f(at.to_screen, sx, sy, picture.x + sx * 0.5f, picture.y + sy * 0.5f);
    glUniform2f(at.framebuffer, fw, fh);
    glUniform1i(at.colour_by, static_cast<GLint>(look.colour));
    glUniform1f(at.colour_full, track_scale(look.colour).full);
  };
  if (look.trails && filled_ > 1) {
    use(g.trail, g.trail_at);
    glUniform1i(g.ring, kTrail);
    glUniform1i(g.filled, filled_);
    glUniform1iv(g.frames, kTrail, frames_.data());
    glUniform1f(g.half_width, 1.1f * scale);
    glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 2 * filled_, static_cast<GLsizei>(capacity_));
  }
  use(g.point, g.point_at);
  glUniform1f(g.radius, 3.6f * scale);
  glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 4, static_cast<GLsizei>(capacity_));

  glBindBufferBase(GL_SHADER_STORAGE_BUFFER, kBinding, 0);
  glBindVertexArray(0);
  glUseProgram(0);
  glDisable(GL_BLEND);
  glDisable(GL_SCISSOR_TEST);
}

}  // namespace lensd::ui
