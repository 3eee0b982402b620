// Where the scopes panel draws bars, lines and targets: vertices of ImGui's draw lists. Needs no display.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {
namespace {

constexpr ImU32 kBar = colour::gray(200, 70), kThinLine = colour::gray(255, 26),
                kTarget = colour::gray(255, 70);

class ScopesDrawing : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    viewer.state().scopes.open = true;
  }

  /// Shows a reading of `kind` in which all counts are 0, and returns its counts.
  std::vector<uint32_t>& show(ScopeKind kind, PixelFormat format) {
    viewer.state().scopes.kind = kind;
    model.scope = {};
    model.scope.scope.kind = kind, model.scope.image = {format, {640, 100}};
    model.scope.counts.resize(scope_counts(kind, model.scope.image));
    return model.scope.counts;
  }
  void draw() { ++model.scope_version, frames(3); }

  /// Returns the vertices of a colour inside the plot, from 0 to 1; y points upwards.
  std::vector<ImVec2> vertices(ImU32 colour) const {
    const Rect plot = rect("scopes/plot");
    std::vector<ImVec2> found;
    const ImDrawData& data = *ImGui::GetDrawData();
    for (int i = 0; i < data.CmdListsCount; ++i)
      for (const ImDrawVert& v : data.CmdLists[i]->VtxBuffer) {
        const ImVec2 p{(v.pos.x - plot.x) / plot.w, 1 - (v.pos.y - plot.y) / plot.h};
        if (v.col == colour && p.x > -0.01f && p.x < 1.01f && p.y > -0.01f && p.y < 1.01f) found.push_back(p);
      }
    return found;
  }
  /// Returns the height of the histogram's bar that begins at `value` of 256; 0: there is none.
  float bar(int value) const {
    float top = 0;
    for (const ImVec2& p : vertices(kBar))
      if (std::abs(p.x - static_cast<float>(value) / 256) < 1e-3f) top = std::max(top, p.y);
    return top;
  }
  bool has_vertex(ImU32 colour, double x, double y, double tolerance = 0.01) const {
    const std::vector<ImVec2> all = vertices(colour);
    return std::any_of(all.begin(), all.end(),
                       [&](const ImVec2& p) { return std::hypot(p.x - x, p.y - y) < tolerance; });
  }
};

TEST_F(ScopesDrawing, TheLargestCountBetweenBlackAndWhiteIsTheHighestBar) {
  std::vector<uint32_t>& counts = show(ScopeKind::histogram, PixelFormat::gray8);
  const size_t luma = size_t{3} * 256;
  counts[luma + 100] = 1000, counts[luma + 50] = 500, counts[luma] = 9000, counts[luma + 255] = 9000;
  draw();
  EXPECT_NEAR(bar(100), 0.96, 0.01);
  EXPECT_NEAR(bar(50), 0.48, 0.01);
  EXPECT_NEAR(bar(0), 0.96, 0.01) << "a clipped value does not change the scale";
  EXPECT_EQ(bar(70), 0);

  viewer.state().scopes.log = true;
  draw();
  EXPECT_NEAR(bar(50), 0.96 * std::log1p(500) / std::log1p(1000), 0.01);
}

TEST_F(ScopesDrawing, OneCountFillsAHistogramWithoutLargerOnes) {
  std::vector<uint32_t>& counts = show(ScopeKind::histogram, PixelFormat::gray8);
  counts[3 * 256 + 100] = 1;
  draw();
  EXPECT_NEAR(bar(100), 0.96, 0.01);
}

TEST_F(ScopesDrawing, TheHistogramsScaleFollowsSlowly) {
  std::vector<uint32_t>& counts = show(ScopeKind::histogram, PixelFormat::gray8);
  counts[3 * 256 + 100] = 1000;
  draw();
  EXPECT_NEAR(bar(100), 0.96, 0.01);
  counts[3 * 256 + 100] = 500;
  draw();
  EXPECT_NEAR(bar(100), 0.96 * 500 / 900, 0.01) << "a fifth of the way from 1000 to 500";
  frames(5);
  EXPECT_NEAR(bar(100), 0.96 * 500 / 900, 0.01) << "without a new reading it stays";
}

TEST_F(ScopesDrawing, ABarOfSeveralDeepLevelsShowsTheLargest) {
  std::vector<uint32_t>& counts = show(ScopeKind::histogram, PixelFormat::gray16);
  const size_t luma = size_t{3} * 1024;
  counts[luma + 403] = 1000, counts[luma + 400] = 300, counts[luma + 200] = 250;
  draw();
  EXPECT_NEAR(bar(100), 0.96, 0.01);
  EXPECT_NEAR(bar(50), 0.24, 0.01);
  EXPECT_EQ(bar(102), 0);
}

TEST_F(ScopesDrawing, AWaveformHasALineAtEachQuarter) {
  for (const auto& [format, levels] : {std::pair{PixelFormat::rgba8, 256}, {PixelFormat::rgba16, 1024}}) {
    show(ScopeKind::waveform, format);
    draw();
    for (int quarter = 0; quarter <= 4; ++quarter) {
      const double level = std::min(quarter * levels / 4, levels - 1);
      EXPECT_TRUE(has_vertex(kThinLine, 0, (level + 0.5) / levels)) << quarter;
      EXPECT_TRUE(has_vertex(kThinLine, 1, (level + 0.5) / levels)) << quarter;
    }
  }
}

TEST_F(ScopesDrawing, AParadeIsDividedIntoThirds) {
  show(ScopeKind::waveform, PixelFormat::rgba8);
  draw();
  EXPECT_TRUE(vertices(kTarget).empty());
  show(ScopeKind::parade, PixelFormat::rgba8);
  draw();
  for (const double x : {1 / 3., 2 / 3.})
    EXPECT_TRUE(has_vertex(kTarget, x, 0) && has_vertex(kTarget, x, 1)) << x;
}

/// Position of a colour from 0 to 1 in a vectorscope of 256 levels: BT.709's Cb and Cr.
std::pair<double, double> chroma(double r, double g, double b) {
  const double y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return {0.5 + (b - y) / 1.8556, 0.5 + (r - y) / 1.5748};
}

TEST_F(ScopesDrawing, AVectorscopeMarksSixColoursAndSkin) {
  show(ScopeKind::vectorscope, PixelFormat::rgba8);
  model.scope.matrix = YuvMatrix::bt709;
  draw();
  // The plot is a square in the middle of the widget.
  const Rect widget = rect("scopes/plot");
  const double side = widget.h / widget.w, left = (1 - side) / 2;
  const auto x_of = [&](double share) { return left + share * side; };
  const double half = 4 / widget.h;
  for (const auto& [r, g, b] : {std::array{.75, 0., 0.},
                                {.75, 0., .75},
                                {0., 0., .75},
                                {0., .75, .75},
                                {0., .75, 0.},
                                {.75, .75, 0.}}) {
    const auto [x, y] = chroma(r, g, b);
    EXPECT_TRUE(has_vertex(kTarget, x_of(x) - half * side, y - half, 0.02)) << r << g << b;
    EXPECT_TRUE(has_vertex(kTarget, x_of(x) + half * side, y + half, 0.02)) << r << g << b;
  }
  const double skin = 123 * M_PI / 180;  // from the Cb axis
  EXPECT_TRUE(has_vertex(kThinLine, x_of(0.5 + 0.46 * std::cos(skin)), 0.5 + 0.46 * std::sin(skin), 0.015));
  EXPECT_TRUE(has_vertex(kThinLine, x_of(0.5), 0.998)) << "the circle";
  EXPECT_TRUE(has_vertex(kThinLine, x_of(0), 0.5)) << "the Cb axis";
  EXPECT_TRUE(has_vertex(kThinLine, x_of(0.5), 0)) << "the Cr axis";
}

}  // namespace
}  // namespace lensd::ui
