#include "ui/gl/presenter.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/gl/shader.hpp"
#include "ui/widgets/theme.hpp"

namespace lensd::ui {
namespace {

constexpr int kQueries = 4;           // limit of pending timer queries; further draws are not measured
constexpr double kSquaresFrom = 2;    // scale above which a zoomed-in picture shows pixels as squares
constexpr double kSquaresAtFit = 16;  // the same while not zoomed in; equals kMinGrid in probe.cpp
constexpr float kScreenLevels = 255;  // steps from black to white of usual screens
constexpr int kMostTaps = 8;          // per axis; covers pictures up to 16 times larger than shown

/// Returns the number of taps per axis. A tap blends 2 texels along an axis, so n taps cover 2n texels.
int taps_for(double scale) {
  return std::clamp(static_cast<int>(std::ceil(0.5 / scale - 1e-3)), 1, kMostTaps);
}

}  // namespace

struct Presenter::Gl {
  Program plain{"picture.vert", "picture.frag"}, shrunk{"picture.vert", "picture_shrunk.frag"};
  Program compare{"picture.vert", "picture_compare.frag"};
  GLint compare_corners = compare.uniform("corners"), compare_footprint = compare.uniform("footprint");
  GLint compare_taps = compare.uniform("taps"), compare_mode = compare.uniform("mode");
  GLint compare_channel = compare.uniform("channel"), compare_split = compare.uniform("split_x");
  GLint compare_gain = compare.uniform("gain"), compare_second = compare.uniform("second");
  GLint plain_corners = plain.uniform("corners"), shrunk_corners = shrunk.uniform("corners");
  GLint plain_dither = plain.uniform("dither"), shrunk_dither = shrunk.uniform("dither");
  GLint compare_dither = compare.uniform("dither");
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

Presenter::Presenter(std::unique_ptr<DisplayPath> path, std::unique_ptr<DisplayPath> second)
    : gl_(std::make_unique<Gl>()), path_(std::move(path)), second_(std::move(second)) {}
Presenter::~Presenter() = default;

void Presenter::show_second(const Frame& frame, int image) {
  has_second_ = image >= 0 && second_;
  if (has_second_) second_->upload(frame, image);
}

void Presenter::draw(Extent framebuffer, const Rect& area, const PictureView& view, const CompareLook& look) {
  Gl& g = *gl_;
  const bool timed = g.issued - g.read < kQueries;
  if (timed) glBeginQuery(GL_TIME_ELAPSED, g.query(g.issued));

  glViewport(0, 0, framebuffer.width, framebuffer.height);
  glDisable(GL_SCISSOR_TEST);
  glClearColor(kSurround, kSurround, kSurround, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  if (path_->texture() && area.w >= 1 && area.h >= 1) {
    if (look.mode == CompareMode::side && has_second_) {
      const auto [left, right] = halves(area);
      CompareLook one = look;
      one.mode = CompareMode::off, one.second_only = true;
      draw_picture(framebuffer, left, view, one);
      one.second_only = false;
      draw_picture(framebuffer, right, view, one);
    } else {
      draw_picture(framebuffer, area, view, look);
    }
  }

  if (timed) glEndQuery(GL_TIME_ELAPSED), ++g.issued;
}

void Presenter::draw_picture(Extent framebuffer, const Rect& area, const PictureView& view,
                             const CompareLook& look) {
  const Gl& g = *gl_;
  const auto fw = static_cast<float>(std::max(framebuffer.width, 1));
  const auto fh = static_cast<float>(std::max(framebuffer.height, 1));
  const auto [r, scale] = place(path_->extent(), area, view);
  const bool squares = scale > (view.zoom > 1 ? kSquaresFrom : kSquaresAtFit);
  const bool second = has_second_ && (look.mode != CompareMode::off || look.second_only);
  const bool plain = !second && look.channel == ChannelView::colour;
  const int taps = taps_for(scale);
  glEnable(GL_SCISSOR_TEST);
  glScissor(static_cast<GLint>(area.x), static_cast<GLint>(fh - area.y - area.h),
            static_cast<GLsizei>(area.w), static_cast<GLsizei>(area.h));
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_CULL_FACE);
  GLint corners = taps == 1 ? g.plain_corners : g.shrunk_corners;
  GLint dither = taps == 1 ? g.plain_dither : g.shrunk_dither;
  if (plain) {
    glUseProgram(taps == 1 ? g.plain.id() : g.shrunk.id());
    if (taps > 1) glUniform2f(g.footprint, 1 / r.w, 1 / r.h), glUniform1i(g.taps, taps);
  } else {
    glUseProgram(g.compare.id());
    corners = g.compare_corners, dither = g.compare_dither;
    glUniform2f(g.compare_footprint, 1 / r.w, 1 / r.h);
    glUniform1i(g.compare_taps, taps);
    const int mode = !second ? 0 : look.second_only ? 1 : look.mode == CompareMode::split ? 2 : 3;
    glUniform1i(g.compare_mode, mode);
    glUniform1i(g.compare_channel, static_cast<GLint>(look.channel));
    glUniform1f(g.compare_split, look.split_x);
    glUniform1f(g.compare_gain, look.gain);
    glUniform1i(g.compare_second, 1);
  }
  glUniform1f(dither, path_->is_deep() ? 1 / kScreenLevels : 0.f);
  glUniform4f(corners, r.x / fw * 2 - 1, 1 - r.y / fh * 2, (r.x + r.w) / fw * 2 - 1,
              1 - (r.y + r.h) / fh * 2);
  const GLuint sampler = squares ? g.nearest.id() : g.linear.id();
  glActiveTexture(GL_TEXTURE1);
  glBindTexture(GL_TEXTURE_2D, second ? second_->texture() : path_->texture());
  glBindSampler(1, sampler);
  glActiveTexture(GL_TEXTURE0);
  glBindTexture(GL_TEXTURE_2D, path_->texture());
  glBindSampler(0, sampler);
  glBindVertexArray(g.vertices.id());
  glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
  glBindVertexArray(0);
  glBindSampler(0, 0);
  glBindSampler(1, 0);
  glUseProgram(0);
  glDisable(GL_SCISSOR_TEST);
}

std::optional<int64_t> Presenter::take_draw_ns() {
  Gl& g = *gl_;
  if (g.read == g.issued) return std::nullopt;
  GLint available = 0;
  glGetQueryObjectiv(g.query(g.read), GL_QUERY_RESULT_AVAILABLE, &available);
  if (!available) return std::nullopt;
  GLuint64 ns = 0;
  glGetQueryObjectui64v(g.query(g.read), GL_QUERY_RESULT, &ns);
  ++g.read;
  return static_cast<int64_t>(ns);
}

}  // namespace lensd::ui
