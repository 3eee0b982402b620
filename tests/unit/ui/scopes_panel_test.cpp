// The controls of the scopes panel. Needs no display.
#include <gtest/gtest.h>

#include <imgui_internal.h>

#include <string>

#include "tests/unit/ui/panel_driver.hpp"
#include "ui/widgets/scope_tip.hpp"

namespace lensd::ui {
namespace {

using Panels = PanelDriver;

TEST_F(Panels, OnlyTheHistogramHasALogarithmicScale) {
  ScopesState& s = viewer.state().scopes;
  s.open = true;
  for (const ScopeKind kind :
       {ScopeKind::histogram, ScopeKind::waveform, ScopeKind::parade, ScopeKind::vectorscope}) {
    s.kind = kind;
    frames(2);
    EXPECT_EQ(there("scopes/log"), kind == ScopeKind::histogram) << name(kind);
    EXPECT_TRUE(there("scopes/node")) << name(kind);
  }
  s.kind = ScopeKind::histogram;
  frames(2);
  ASSERT_FALSE(s.log);
  click("scopes/log");
  EXPECT_TRUE(s.log);
  click("scopes/log");
  EXPECT_FALSE(s.log);
  const Rect node = rect("scopes/node"), log = rect("scopes/log");
  EXPECT_GE(log.x, node.x + node.w) << "beside the list of nodes";
}

TEST_F(Panels, OpenedScopesAreScrolledIntoView) {
  ImGui::GetIO().DisplaySize = {640, 480};
  viewer.state().right = Fold::folded, viewer.state().scopes.open = false;
  frames(15);
  type('h'), frames(4);
  ASSERT_TRUE(there("scopes/plot"));
  EXPECT_LE(rect("scopes/plot").y + rect("scopes/plot").h, rect("transport/pause").y);
}

TEST_F(Panels, TheScaleOfAnotherScopeIsForgotten) {
  ScopesState& s = viewer.state().scopes;
  s.open = true, s.kind = ScopeKind::histogram;
  model.scope = {}, model.scope.scope = {"", ScopeKind::waveform};
  s.peak = 1000;
  frames(2);
  EXPECT_EQ(s.peak, 0) << "the reading belongs to another scope";
}

ScopeReading empty_reading(ScopeKind kind, PixelFormat format) {
  ScopeReading r;
  r.scope.kind = kind, r.image = {format, {640, 100}};
  r.counts.resize(scope_counts(kind, r.image));
  return r;
}

TEST(ScopeTip, NamesTheLevelAndItsPixels) {
  ScopeReading r = empty_reading(ScopeKind::histogram, PixelFormat::rgba16);
  for (size_t c = 0; c < 4; ++c) r.counts[c * 1024 + 700] = static_cast<uint32_t>(c + 1);
  EXPECT_EQ(scope_tip(r, 700.5f / 1024, 0), "700 of 1023: R 1, G 2, B 3, luma 4 pixels");
  r = empty_reading(ScopeKind::histogram, PixelFormat::gray8);
  r.counts[3 * 256 + 9] = 5;
  EXPECT_EQ(scope_tip(r, 9.5f / 256, 0), "9: 5 pixels");

  r = empty_reading(ScopeKind::waveform, PixelFormat::rgba16);
  r.counts[2 * 1024 + 600] = 7;
  EXPECT_EQ(scope_tip(r, 2.5f / 256, 600.5f / 1024), "x 5 to 7: luma 600 of 1023: 7 pixels")
      << "column 2 has the pixels x with 256 x / 640 from 2 to 3";
  EXPECT_EQ(scope_tip(r, 2.5f / 256, 601.5f / 1024), "x 5 to 7: luma 601 of 1023: 0 pixels");
  r = empty_reading(ScopeKind::waveform, PixelFormat::gray8);
  r.counts[255 * 256 + 255] = 8;
  EXPECT_EQ(scope_tip(r, 1, 1), "x 638 to 639: luma 255: 8 pixels") << "the corner";

  r = empty_reading(ScopeKind::vectorscope, PixelFormat::rgba16);
  r.counts[512 * 1024 + 100] = 9;
  EXPECT_EQ(scope_tip(r, 100.5f / 1024, 512.5f / 1024), "Cb 100, Cr 512 of 1023: 9 pixels");
  r = empty_reading(ScopeKind::vectorscope, PixelFormat::rgba8);
  r.counts[128 * 256 + 100] = 9;
  EXPECT_EQ(scope_tip(r, 100.5f / 256, 128.5f / 256), "Cb 100, Cr 128: 9 pixels");

  r.counts.pop_back();
  EXPECT_EQ(scope_tip(r, 0.5f, 0.5f), "") << "incomplete";
  EXPECT_EQ(scope_tip({}, 0.5f, 0.5f), "");
}

TEST(ScopeTip, APaintedColumnOfAParadeIsTwoScopeColumns) {
  for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::rgba16}) {
    ScopeReading r = empty_reading(ScopeKind::parade, format);
    const auto levels = static_cast<size_t>(scope_levels(format));
    r.counts[(256 + 20) * levels + 50] = 3, r.counts[(256 + 21) * levels + 50] = 4;
    const std::string level = levels == 256 ? "50" : "50 of 1023";
    const float y = 50.5f / static_cast<float>(levels);
    EXPECT_EQ(scope_tip(r, (128 + 10.5f) / 384, y), "x 50 to 54: G " + level + ": 7 pixels");
    EXPECT_EQ(scope_tip(r, 10.5f / 384, y), "x 50 to 54: R " + level + ": 0 pixels");
    EXPECT_EQ(scope_tip(r, 1, y), "x 635 to 639: B " + level + ": 0 pixels");
  }
  ScopeReading narrow;
  narrow.scope.kind = ScopeKind::parade, narrow.image = {PixelFormat::gray8, {2, 4}};
  narrow.counts.resize(2 * 256 * 3);
  narrow.counts[256] = 4;
  EXPECT_EQ(scope_tip(narrow, 0.2f, 0), "x 1: R 0: 4 pixels");
}

TEST_F(Panels, ScopesShowACountUnderThePointer) {
  ScopesState& s = viewer.state().scopes;
  s.open = true;
  const auto tooltip_shown = [] {
    const ImGuiWindow* window = ImGui::FindWindowByName("##Tooltip_00");
    return window && window->Active && !window->Hidden;
  };
  for (const ScopeKind kind :
       {ScopeKind::histogram, ScopeKind::waveform, ScopeKind::parade, ScopeKind::vectorscope}) {
    s.kind = kind;
    model.scope = empty_reading(kind, PixelFormat::rgba16), ++model.scope_version;
    point(1, 1), frames(2);
    EXPECT_FALSE(tooltip_shown()) << name(kind);
    point_at("scopes/plot"), frames(60);
    EXPECT_TRUE(tooltip_shown()) << name(kind);
    model.scope.counts.clear(), frames(2);
    EXPECT_FALSE(tooltip_shown()) << name(kind) << " without counts";
  }
}

}  // namespace
}  // namespace lensd::ui
