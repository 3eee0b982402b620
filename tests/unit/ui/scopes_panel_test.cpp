// The controls of the scopes panel. Needs no display.
#include <gtest/gtest.h>

#include "tests/unit/ui/panel_driver.hpp"

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

TEST_F(Panels, TheScaleOfAnotherScopeIsForgotten) {
  ScopesState& s = viewer.state().scopes;
  s.open = true, s.kind = ScopeKind::histogram;
  model.scope = {}, model.scope.scope = {"", ScopeKind::waveform};
  s.peak = 1000;
  frames(2);
  EXPECT_EQ(s.peak, 0) << "the reading belongs to another scope";
}

}  // namespace
}  // namespace lensd::ui
