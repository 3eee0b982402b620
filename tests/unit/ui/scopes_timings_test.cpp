// Scopes and timings: when they are measured, where they are shown, their number format. Needs no display.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/ui/panel_driver.hpp"
#include "ui/panels/timings/timings.hpp"
#include "ui/widgets/scope_paint.hpp"

namespace lensd::ui {
namespace {

using Panels = PanelDriver;

/// Returns the counts of a 320×240 picture with a single grey value.
ScopeReading grey_reading(ScopeKind kind, PixelFormat format) {
  ScopeReading r;
  r.scope.kind = kind, r.frame = 1, r.image = {format, {320, 240}};
  r.counts.resize(scope_counts(kind, r.image));
  const auto levels = static_cast<size_t>(scope_levels(format)), middle = levels / 2;
  const size_t columns = kind == ScopeKind::waveform ? 256 : kind == ScopeKind::parade ? 768 : 0;
  for (size_t c = 0; c < columns; ++c) r.counts[c * levels + middle] = 300;
  for (size_t c = 0; c < 4 && kind == ScopeKind::histogram; ++c) r.counts[c * levels + middle] = 320 * 240;
  if (kind == ScopeKind::vectorscope) r.counts[middle * levels + middle] = 320 * 240;
  return r;
}

TEST_F(Panels, ScopesAreRequestedWhileVisible) {
  const auto follow = [&](const std::vector<Command>& commands) {
    int sets = 0;
    for (const Command& command : commands)
      if (const auto* set = std::get_if<SetScopes>(&command)) model.scopes = set->scopes, ++sets;
    return sets;
  };
  EXPECT_EQ(follow(frame()), 0);
  EXPECT_GE(follow(click("scopes/fold")), 1);
  EXPECT_EQ(model.scopes, (std::vector<ScopeRequest>{{"", ScopeKind::histogram}}));
  EXPECT_EQ(follow(frame()), 0) << "requested once";
  EXPECT_GE(follow(click("scopes/vectorscope")), 1);
  EXPECT_EQ(model.scopes, (std::vector<ScopeRequest>{{"", ScopeKind::vectorscope}}));
  follow(click("scopes/node"));
  EXPECT_GE(follow(click("scopes/node/edges")), 1);
  EXPECT_EQ(model.scopes, (std::vector<ScopeRequest>{{"edges", ScopeKind::vectorscope}}));
  EXPECT_EQ(follow(press({.key = Key::tab})), 1) << "hidden";
  EXPECT_TRUE(model.scopes.empty());
  EXPECT_EQ(follow(type('h')), 1) << "h shows the panels again";
  EXPECT_TRUE(viewer.state().panels);
  test::drop_node(model, "edges");  // back to the output
  follow(frame()), follow(frame());
  EXPECT_EQ(model.scopes, (std::vector<ScopeRequest>{{"", ScopeKind::vectorscope}}));
  EXPECT_EQ(follow(type('h')), 1);
  EXPECT_TRUE(model.scopes.empty());
}

std::vector<std::pair<ScopeKind, PixelFormat>> kinds_and_formats() {
  std::vector<std::pair<ScopeKind, PixelFormat>> all;
  for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::rgba16})
    for (const ScopeKind kind :
         {ScopeKind::histogram, ScopeKind::waveform, ScopeKind::parade, ScopeKind::vectorscope})
      all.emplace_back(kind, format);
  return all;
}

TEST_F(Panels, ScopesArePaintedWhereTheCountsAre) {
  viewer.state().scopes.open = true;
  ScopesState& s = viewer.state().scopes;
  for (const auto& [kind, format] : kinds_and_formats()) {
    s.kind = kind;
    model.scope = grey_reading(kind, format), ++model.scope_version, model.scopes = {{"", kind}};
    const uint64_t before = s.paintings;
    EXPECT_TRUE(frame().empty());
    EXPECT_TRUE(frame().empty());
    EXPECT_EQ(s.paintings, before + (kind == ScopeKind::histogram ? 0 : 1)) << "painted once";
    if (kind == ScopeKind::histogram) continue;
    size_t lit = 0;
    for (size_t i = 0; i < s.pixels.size(); ++i) {
      if (s.pixels[i] >> 24 == 0) continue;
      ++lit;
      EXPECT_EQ(i / static_cast<size_t>(s.size.width), 127u)
          << "row of the value 128, or 512 to 515, from the top";
    }
    EXPECT_EQ(lit, kind == ScopeKind::vectorscope ? 1u : static_cast<size_t>(s.size.width));
  }
}

TEST(ScopePaint, FourLevelsOf16BitsAreOneRow) {
  for (const ScopeKind kind : {ScopeKind::waveform, ScopeKind::parade, ScopeKind::vectorscope}) {
    ScopeReading shallow, deep;
    shallow.scope.kind = deep.scope.kind = kind;
    shallow.image = {PixelFormat::rgba8, {300, 20}}, deep.image = {PixelFormat::rgba16, {300, 20}};
    shallow.counts.resize(scope_counts(kind, shallow.image));
    deep.counts.resize(scope_counts(kind, deep.image));
    const bool chroma = kind == ScopeKind::vectorscope;
    for (size_t i = 0; i < deep.counts.size(); ++i) {
      deep.counts[i] = static_cast<uint32_t>(i * 2654435761u >> 28) % 5;
      const size_t row = i / 1024, level = i % 1024 / 4;
      shallow.counts[(chroma ? row / 4 : row) * 256 + level] += deep.counts[i];
    }
    std::vector<uint32_t> expected, pixels;
    EXPECT_EQ(paint_scope(deep, pixels), paint_scope(shallow, expected));
    EXPECT_EQ(pixels, expected) << name(kind);
  }
}

TEST(Texts, TimesAndMilliseconds) {
  EXPECT_EQ(clock_text(12'480'000'000, false), "00:12.480");
  EXPECT_EQ(clock_text(3'723'480'000'000, false), "1:02:03.480");
  EXPECT_EQ(clock_text(-5, false), "00:00.000");
  EXPECT_EQ(ms_text(412'000), "0.412");
  EXPECT_EQ(ms_text(9'999'600), "10.00");
  EXPECT_EQ(ms_text(99'996'000), "100.0");
}

TEST_F(Panels, MessagesBreakAtBlanksAndSlashesOnly) {
  frame();
  const auto width = [](const std::string& s) { return ImGui::CalcTextSize(s.c_str()).x; };
  const std::string text = "trace: ~/.local/state/lensd/a.b.c.json; open it in ui.perfetto.dev";
  EXPECT_EQ(wrapped(text, width(text) + 1), text);
  EXPECT_EQ(wrapped(text, width("~/.local/state/lensd/a.b.c.json; ")),
            "trace:\n~/.local/state/lensd/a.b.c.json;\nopen it in ui.perfetto.dev");
  EXPECT_EQ(wrapped("/one/two.three/four", width("/one/two.three/f")), "/one/two.three/\nfour");
  EXPECT_EQ(wrapped("a\nb", 1000), "a\nb");
  EXPECT_EQ(wrapped("äöü", 1), "ä\nö\nü") << "whole characters";
  EXPECT_EQ(wrapped("", 100), "");
}

TEST_F(Panels, TraceByKeyAndButton) {
  type('g');
  EXPECT_TRUE(viewer.requests().trace);
  frame();
  EXPECT_FALSE(viewer.requests().trace) << "a request lasts one frame";
  // The button acts when the mouse is released.
  frame();
  EXPECT_TRUE(requests_of_click("timings/trace").trace);
}

TEST_F(Panels, TimingsSortByColumn) {
  const auto y_of = [&](const char* row) { return viewer.widget_rects().at(row).y; };
  frame();
  EXPECT_LT(y_of("timings/median/median"), y_of("timings/edges/blur")) << "the graph's order";
  EXPECT_LT(y_of("timings/edges/blur"), y_of("timings/decode/decode"));
  click("timings/sort/p50");
  EXPECT_LT(y_of("timings/decode/decode"), y_of("timings/edges/hysteresis")) << "the slowest first";
  EXPECT_LT(y_of("timings/edges/hysteresis"), y_of("timings/median/median"));
  click("timings/sort/p50");
  EXPECT_LT(y_of("timings/median/median"), y_of("timings/edges/hysteresis"));
  click("timings/sort/p50");
  EXPECT_LT(y_of("timings/median/median"), y_of("timings/edges/blur")) << "the graph's order again";
  for (const auto& [name, rect] : viewer.widget_rects())
    EXPECT_EQ(name.find("timings/latency"), std::string::npos) << "no pass: " << name;
}

TEST_F(Panels, TimingsStayInsideTheSide) {
  for (const float width : {324.f, 200.f}) {
    viewer.state().right_width = width;
    frames(3);
    for (const auto& [name, r] : viewer.widget_rects()) {
      if (name.rfind("timings/", 0) == 0) {
        EXPECT_LE(r.x + r.w, 1280) << name << " at " << width;
        EXPECT_GE(r.x, 1280 - width) << name << " at " << width;
      }
    }
  }
}

TEST_F(Panels, TimingsDetailsHaveEveryColumn) {
  click("timings/details");
  frames(2);
  for (const char* column : {"last", "p50", "p95", "p99", "max", "GB/s", "copy %", "frame %"})
    EXPECT_TRUE(viewer.widget_rects().count(std::string("details/sort/") + column)) << column;
  EXPECT_TRUE(viewer.widget_rects().count("latency/total"));
  press({.key = Key::escape});
  EXPECT_FALSE(viewer.state().timings_view.details);
  EXPECT_FALSE(viewer.requests().leave_fullscreen) << "the window is closed first";
}

TEST_F(Panels, TimingsFollowTheGraphsOrder) {
  const auto y_of = [&](const char* row) { return viewer.widget_rects().at(row).y; };
  model.nodes[1].id = "median.gray", model.timings[1].node = "median.gray";  // converts median's output
  ++model.timings_version;
  frame();
  EXPECT_LT(y_of("timings/median/median"), y_of("timings/median.gray/to-gray"));
  EXPECT_LT(y_of("timings/median.gray/to-gray"), y_of("timings/edges/blur"));
  std::swap(model.nodes[0], model.nodes[2]);
  ++model.timings_version;
  frame();
  EXPECT_LT(y_of("timings/edges/blur"), y_of("timings/median/median")) << "the node was moved up";
  EXPECT_LT(y_of("timings/median/median"), y_of("timings/median.gray/to-gray"));
}

TEST_F(Panels, AScopeMovesNothingInTheTimings) {
  frame();
  const float decode = viewer.widget_rects().at("timings/decode/decode").y;
  ui::NodeView scope;
  scope.id = "output.histogram", scope.filter = "histogram", scope.automatic = scope.scope = true;
  model.nodes.push_back(scope);
  PassStats row = model.timings[0];
  row.node = "output.histogram", row.pass = "histogram", row.p50_ns = 224'000;
  model.timings.push_back(row);
  ++model.timings_version;
  frame();
  EXPECT_EQ(viewer.widget_rects().at("timings/decode/decode").y, decode);
  EXPECT_FALSE(viewer.widget_rects().count("timings/output.histogram/histogram"));
  click("timings/details");
  frame();
  EXPECT_TRUE(viewer.widget_rects().count("details/output.histogram/histogram"))
      << "the details have every row";
}

TEST_F(Panels, NumbersKeepTheirPlacesWhenTheSideBecomesLong) {
  frames(2);
  const Rect before = viewer.widget_rects().at("timings/budget");
  ImGui::GetIO().DisplaySize = {1280, 300};
  frames(3);
  EXPECT_TRUE(viewer.state().numbers_scroll);
  const Rect after = viewer.widget_rects().at("timings/budget");
  EXPECT_EQ(after.x, before.x);
  EXPECT_EQ(after.w, before.w) << "the scroll bar takes no room";
}

TEST_F(Panels, TimingsDetailsStayInTheWindow) {
  click("timings/details");
  for (int i = 0; i < 40; ++i) {
    PassStats row = model.timings[0];
    row.pass = "pass " + std::to_string(i);
    model.timings.push_back(row);
  }
  ++model.timings_version;
  frames(4);
  const TimingsState& s = viewer.state().timings_view;
  EXPECT_GT(s.details_height, 720) << "longer than the window, which is scrolled in";
  const Rect close = viewer.widget_rects().at("timings/close");
  EXPECT_GE(close.y, 0);
  EXPECT_LE(close.y + close.h, 720);
}

TEST_F(Panels, TimingsDetailsFollowAWindowThatBecomesSmaller) {
  ImGui::GetIO().DisplaySize = {1920, 1080};
  frames(3);
  viewer.state().timings_view.details = true;
  for (const ImVec2 size : {ImVec2{1920, 1080}, ImVec2{1000, 600}, ImVec2{640, 360}}) {
    ImGui::GetIO().DisplaySize = size;
    frames(4);
    const Rect close = viewer.widget_rects().at("timings/close");
    EXPECT_GE(close.x, 0) << size.x;
    EXPECT_LE(close.x + close.w, size.x);
    EXPECT_LE(close.y + close.h, size.y);
  }
}

TEST_F(Panels, UnknownSharesAreNotShown) {
  const PassStats& median = model.timings[0];
  EXPECT_NEAR(budget_share(model, median), 0.412 / 33.37, 1e-3);
  EXPECT_NEAR(roofline_share(model, median), 768.0 * 576 * 8 / 412e-6 / 2.6e12, 1e-6);
  const PassStats& unmeasured = model.timings[5];
  ASSERT_EQ(unmeasured.count, 0u);
  EXPECT_LT(budget_share(model, unmeasured), 0);
  EXPECT_LT(roofline_share(model, unmeasured), 0);
  EXPECT_LT(roofline_share(model, model.timings[4]), 0) << "it declares no bytes";
  PassStats on_cpu = median;
  on_cpu.gpu = false;
  EXPECT_LT(roofline_share(model, on_cpu), 0) << "the CPU's copy rate was not measured";
  model.frame_duration_ns = 0;
  EXPECT_LT(budget_share(model, median), 0) << "no rate, no budget";
}

TEST_F(Panels, CsvHasEveryRowAndColumn) {
  frame();
  model.timings[0].node = "a \"b\", c";
  const std::string csv = timings_csv(model, model.timings);
  const auto lines = std::count(csv.begin(), csv.end(), '\n');
  EXPECT_EQ(static_cast<size_t>(lines), model.timings.size() + 1);
  EXPECT_NE(csv.find("\"a \"\"b\"\", c\",median,gpu,374,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("convolve,convolve,gpu,0,n/a,n/a,n/a,n/a,n/a,n/a,0,n/a,n/a,n/a\n"), std::string::npos);
  const std::string header = csv.substr(0, csv.find('\n'));
  const std::string edges = csv.substr(csv.find("\nedges,blur") + 1);
  EXPECT_EQ(std::count(header.begin(), header.end(), ','),
            std::count(edges.begin(), edges.begin() + static_cast<std::ptrdiff_t>(edges.find('\n')), ','));
  click("timings/csv");
  EXPECT_EQ(std::string(ImGui::GetClipboardText()).substr(0, 10), "node,pass,");
}

}  // namespace
}  // namespace lensd::ui
