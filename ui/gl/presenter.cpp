#include "ui/gl/presenter.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/gl/screen_depth.hpp"
#include "ui/gl/shader.hpp"
#include "ui/widgets/theme.hpp"

namespace lensd::ui {
namespace {

constexpr int kQueries = 4;           // limit of pending timer queries; further draws are not measured
constexpr double kSquaresFrom = 2;    // scale above which a zoomed-in picture shows pixels as squares
constexpr double kSquaresAtFit = 16;  // the same while not zoomed in; equals kMinGrid in probe.cpp
constexpr float kCheckerboard = 8;    // size of its squares in screen pixels
constexpr int kMaxTaps = 8;           // per axis; covers pictures up to 16 times larger than shown

/// Returns the number of taps per axis. A tap blends 2 texels along an axis, so n taps cover 2n texels.
int taps_for(double scale) {
  return std::clamp(static_cast<int>(std::ceil(0.5 / scale - 1e-3)), 1, kMaxTaps);
}

/// A program that draws pictures. Uniforms that it does not have are -1, which glUniform ignores.
struct PictureProgram {
  PictureProgram(const char* fragment, const char* part) : program("picture.vert", fragment, part) {}

  Program program;
  GLint corners = program.uniform("corners"), dither = program.uniform("dither");
  GLint footprint = program.uniform("footprint"), taps = program.uniform("taps");
  GLint mode = program.uniform("mode"), channel = program.uniform("channel");
  GLint split = program.uniform("split_x"), gain = program.uniform("gain"),
        second = program.uniform("second");
  GLint square = program.uniform("square"), nearest = program.uniform("nearest");
};

struct Programs {
  explicit Programs(const char* part)
      : plain("picture.frag", part),
        shrunk("picture_shrunk.frag", part),
        compare("picture_compare.frag", part) {}

  PictureProgram plain, shrunk, compare;
};

}  // namespace

struct Presenter::Gl {
  Programs as_is{"as_is.frag"};
  std::optional<Programs> converted;  ///< created at the first use
  gl::Buffer light;                   ///< a DeepLight
  bool has_light = false;
  const ScreenDepth depth = screen_depth();
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

void Presenter::convert_colours(std::span<const std::byte> light) {
  Gl& g = *gl_;
  g.has_light = !light.empty();
  if (!g.has_light) return;
  if (!g.converted) g.converted.emplace("display_light.frag");
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, g.light.id());
  glBufferData(GL_SHADER_STORAGE_BUFFER, static_cast<GLsizeiptr>(light.size()), light.data(), GL_STATIC_DRAW);
  glBindBuffer(GL_SHADER_STORAGE_BUFFER, 0);
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
  const bool colour = look.channel == ChannelView::colour;
  // A difference ignores alpha, so that it also compares invisible pixels.
  const bool blended =
      transparent_ && colour && !(second && !look.second_only && look.mode == CompareMode::difference);
  const bool plain = !second && colour && !blended;
  const int taps = taps_for(scale);
  glEnable(GL_SCISSOR_TEST);
  glScissor(static_cast<GLint>(area.x), static_cast<GLint>(fh - area.y - area.h),
            static_cast<GLsizei>(area.w), static_cast<GLsizei>(area.h));
  glDisable(GL_BLEND);
  glDisable(GL_DEPTH_TEST);
  glDisable(GL_CULL_FACE);
  const Programs& programs = g.has_light ? *g.converted : g.as_is;
  const PictureProgram& p = !plain ? programs.compare : taps == 1 ? programs.plain : programs.shrunk;
  glUseProgram(p.program.id());
  glUniform2f(p.footprint, 1 / r.w, 1 / r.h);
  glUniform1i(p.taps, taps);
  glUniform1i(p.mode, !second ? 0 : look.second_only ? 1 : look.mode == CompareMode::split ? 2 : 3);
  glUniform1i(p.channel, static_cast<GLint>(look.channel));
  glUniform1f(p.split, look.split_x);
  glUniform1f(p.gain, look.gain);
  glUniform1i(p.second, 1);
  glUniform1f(p.square, blended ? kCheckerboard : 0);
  glUniform1i(p.nearest, squares);
  glUniform3fv(p.dither, 1, dither_steps(g.depth, path_->is_deep() ? 16 : 8).data());
  glUniform4f(p.corners, r.x / fw * 2 - 1, 1 - r.y / fh * 2, (r.x + r.w) / fw * 2 - 1,
              1 - (r.y + r.h) / fh * 2);
  if (g.has_light) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, 0, g.light.id());
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
