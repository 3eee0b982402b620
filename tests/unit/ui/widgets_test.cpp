// The steps of a parameter's slider, and the shapes of the icons.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/ui/panel_driver.hpp"
#include "ui/widgets/widgets.hpp"

namespace lensd::ui {
namespace {

TEST(ParamControl, AStepIsAboutAThousandthOfTheRange) {
  ParamSpec spec;
  spec.type = ParamType::real;
  spec.default_value = 0.0;
  const auto step = [&](double min, double max, double from, int steps) {
    spec.min = min, spec.max = max;
    return std::get<double>(stepped(spec, from, steps));
  };
  EXPECT_DOUBLE_EQ(step(-100, 100, 0, 1), 0.1);
  EXPECT_DOUBLE_EQ(step(-100, 100, 0.17, -2), 0);
  EXPECT_DOUBLE_EQ(step(0, 10, 5, 1), 5.01);
  EXPECT_DOUBLE_EQ(step(0, 10, 10, 1), 10);
}

/// Icons with a side of 100 around 0, 0.
class Icons : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    frame();  // sets how ImGui smooths edges
  }
  static std::vector<ImVec2> vertices(Icon icon) {
    ImDrawList list(ImGui::GetDrawListSharedData());
    list._ResetForNewFrame();
    draw_icon(list, {0, 0}, 100, icon, colour::text);
    std::vector<ImVec2> points;
    for (const ImDrawVert& vertex : list.VtxBuffer) points.push_back(vertex.pos);
    return points;
  }
  /// Returns the rectangle around all vertices.
  static Rect bounds(Icon icon) {
    const std::vector<ImVec2> points = vertices(icon);
    const auto [left, right] = std::ranges::minmax(points, {}, &ImVec2::x);
    const auto [top, bottom] = std::ranges::minmax(points, {}, &ImVec2::y);
    return {left.x, top.y, right.x - left.x, bottom.y - top.y};
  }
};

TEST_F(Icons, TheLoopIsACircleWithAGapAndAnArrowhead) {
  constexpr float kRadius = 42.5f, kHalfLine = kRadius * 0.14f + 1.5f;  // with the smoothed edge
  const std::vector<ImVec2> points = vertices(Icon::loop);
  std::vector<double> angles;  // clockwise from the top's gap; 0 is the right
  for (const ImVec2& p : points) {
    if (std::abs(std::hypot(p.x, p.y) - kRadius) > kHalfLine) continue;
    const double angle = std::atan2(static_cast<double>(p.y), static_cast<double>(p.x)) * 180 / M_PI;
    angles.push_back(angle < -90 ? angle + 360 : angle);
  }
  ASSERT_GT(angles.size(), 40u);
  std::ranges::sort(angles);
  EXPECT_NEAR(angles.front(), -63, 2);
  EXPECT_NEAR(angles.back(), 243, 2);
  for (size_t i = 1; i < angles.size(); ++i) EXPECT_LT(angles[i] - angles[i - 1], 14) << "not round";
  for (const ImVec2 corner : {ImVec2{-4.2f, -61.6f}, ImVec2{23.4f, -38.2f}, ImVec2{-4.2f, -17.f}})
    EXPECT_TRUE(std::ranges::any_of(
        points, [&](const ImVec2& p) { return std::hypot(p.x - corner.x, p.y - corner.y) < 2; }))
        << corner.x << ' ' << corner.y;
}

TEST_F(Icons, OppositeIconsAreMirrored) {
  for (const auto& [one, other] :
       {std::pair(Icon::step_back, Icon::step_forward), std::pair(Icon::undo, Icon::redo),
        std::pair(Icon::chevron_left, Icon::chevron_right)}) {
    const Rect a = bounds(one), b = bounds(other);
    EXPECT_NEAR(a.x, -(b.x + b.w), 0.1f);
    EXPECT_NEAR(a.w, b.w, 0.1f);
    EXPECT_NEAR(a.y, b.y, 0.1f);
    EXPECT_NEAR(a.h, b.h, 0.1f);
    EXPECT_GT(std::abs(a.x + a.w / 2), 0.5f) << "the same on both sides";
  }
}

}  // namespace
}  // namespace lensd::ui
