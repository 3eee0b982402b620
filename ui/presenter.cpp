#include "ui/presenter.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/shader.hpp"
#include "ui/theme.hpp"

namespace lensd::ui {
namespace {

constexpr int kQueries = 4;         // draws that may be on their way before one goes unmeasured
constexpr double kSquaresFrom = 2;  // magnification beyond which a zoomed picture shows its pixels
constexpr int kMostTaps = 8;        // along each axis: pictures up to 16 times larger than shown are averaged

/// A tap blends 2 texels along an axis, so n taps cover a footprint of 2n.
int taps_for(double scale) {
  return std::clamp(static_cast<int>(std::ceil(0.5 / scale - 1e-3)), 1, kMostTaps);
}

}  // namespace

struct Presenter::Gl {
  Program plain{"picture.vert", "picture.frag"}, shrunk{"picture.vert", "picture_shrunk.frag"};
  GLint plain_corners = plain.uniform("corners"), shrunk_corners = shrunk.uniform("corners");
  GLint footprint = shrunk.uniform("footprint"), taps = shrunk.uniform("taps");
  gl::VertexArray vertices;
  gl::Sampler linear, nearest;
  std::array<gl::Query, kQueries> queries;
  uint64_t issued = 0, read = 0;

  Gl() {
    for (const auto& [sampler, filter] :
         {std::pair(linear.id(), GL_LINEAR), std::pair(nearest.id(), GL_NEAREST)}) {
      glSamplerParameteri(sampler, GL_TEXTURE_MIN_FILTER, filter);
      glSamplerParameteri(sampler, GL_TEXTURE_MAG_FILTER, filter);
      glSamplerParameteri(sampler, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
      glSamplerParameteri(sampler, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    }
    gl::check("presenter");
  }
  GLuint query(uint64_t n) const { return queries[n % kQueries].id(); }
};

Presenter::Presenter(std::unique_ptr<DisplayPath> path)
    : gl_(std::make_unique<Gl>()), path_(std::move(path)) {}
Presenter::~Presenter() = default;
void Presenter::set_path(std::unique_ptr<DisplayPath> path) {
  path_ = std::move(path);
}

void Presenter::draw(Extent framebuffer, const Rect& area, const PictureView& view) {
  Gl& g = *gl_;
  const bool timed = g.issued - g.read < kQueries;
  if (timed) glBeginQuery(GL_TIME_ELAPSED, g.query(g.issued));

  const auto fw = static_cast<float>(std::max(framebuffer.width, 1));
  const auto fh = static_cast<float>(std::max(framebuffer.height, 1));
  glViewport(0, 0, framebuffer.width, framebuffer.height);
  glDisable(GL_SCISSOR_TEST);
  glClearColor(kSurround, kSurround, kSurround, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  if (path_->texture() && area.w >= 1 && area.h >= 1) {
    const auto [r, scale] = place(path_->extent(), area, view);
    const bool squares = view.zoom > 1 && scale > kSquaresFrom;
    glEnable(GL_SCISSOR_TEST);
    glScissor(static_cast<GLint>(area.x), static_cast<GLint>(fh - area.y - area.h),
              static_cast<GLsizei>(area.w), static_cast<GLsizei>(area.h));
    glDisable(GL_BLEND);
    glDisable(GL_DEPTH_TEST);
    glDisable(GL_CULL_FACE);
    const int taps = taps_for(scale);
    glUseProgram(taps == 1 ? g.plain.id() : g.shrunk.id());
    if (taps > 1) glUniform2f(g.footprint, 1 / r.w, 1 / r.h), glUniform1i(g.taps, taps);
    glUniform4f(taps == 1 ? g.plain_corners : g.shrunk_corners, r.x / fw * 2 - 1, 1 - r.y / fh * 2,
                (r.x + r.w) / fw * 2 - 1, 1 - (r.y + r.h) / fh * 2);
    glActiveTexture(GL_TEXTURE0);
    glBindTexture(GL_TEXTURE_2D, path_->texture());
    glBindSampler(0, squares ? g.nearest.id() : g.linear.id());
    glBindVertexArray(g.vertices.id());
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    glBindVertexArray(0);
    glBindSampler(0, 0);
    glUseProgram(0);
    glDisable(GL_SCISSOR_TEST);
  }

  if (timed) glEndQuery(GL_TIME_ELAPSED), ++g.issued;
}

std::optional<int64_t> Presenter::take_draw_ns() {
  Gl& g = *gl_;
  if (g.read == g.issued) return std::nullopt;
  GLint there = 0;
  glGetQueryObjectiv(g.query(g.read), GL_QUERY_RESULT_AVAILABLE, &there);
  if (!there) return std::nullopt;
  GLuint64 ns = 0;
  glGetQueryObjectui64v(g.query(g.read), GL_QUERY_RESULT, &ns);
  ++g.read;
  return static_cast<int64_t>(ns);
}

}  // namespace lensd::ui
