// Placement, texts, keys and panels. Needs no display: ImGui runs without a backend.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/clock.hpp"
#include "tests/unit/panel_hand.hpp"
#include "ui/timings.hpp"

namespace lensd::ui {
namespace {

using Panels = PanelHand;

TEST_F(Panels, ClickOnCheckboxSwitchesTheNode) {
  const auto commands = click("graph/median/enabled");
  const auto* set = only<SetEnabled>(commands);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->node, "median");
  EXPECT_FALSE(set->enabled);
}

TEST_F(Panels, ClickOnSliderSetsTheParameterInRange) {
  const auto commands = click("graph/edges/low", 0, 0.75f);
  ASSERT_FALSE(commands.empty());
  const auto* set = std::get_if<SetParam>(&commands.front());
  ASSERT_TRUE(set);
  EXPECT_EQ(set->node, "edges");
  EXPECT_EQ(set->param, "low");
  EXPECT_NEAR(std::get<double>(set->value), 750, 30);
}

TEST_F(Panels, OddSliderGivesOddNumbers) {
  for (const float at : {0.1f, 0.4f, 0.6f, 0.95f})
    for (const Command& command : click("graph/edges/aperture", 0, at))
      if (const auto* set = std::get_if<SetParam>(&command)) {
        EXPECT_EQ(std::get<int64_t>(set->value) % 2, 1);
      }
}

TEST_F(Panels, RightClickRestoresTheDefault) {
  test::set_value(model, "edges", "low", 400.0);
  const auto commands = click("graph/edges/low", 1);
  const auto* set = only<SetParam>(commands);
  ASSERT_TRUE(set);
  EXPECT_EQ(set->value, ParamValue(50.0));
}

TEST_F(Panels, ParametersOfADisabledNodeAreInert) {
  EXPECT_TRUE(click("graph/convolve/gain", 0, 0.8f).empty());
}

TEST_F(Panels, PauseButtonAndSeekBar) {
  const auto pause = click("transport/pause");
  ASSERT_TRUE(only<Pause>(pause));
  EXPECT_TRUE(only<Pause>(pause)->paused);
  const auto seek = click("transport/seek", 0, 0.5f);
  ASSERT_TRUE(only<Seek>(seek)) << seek.size();
  EXPECT_NEAR(to_s(only<Seek>(seek)->position_ns), to_s(model.duration_ns) / 2, 0.5);
  EXPECT_FALSE(only<Seek>(seek)->relative);
}

TEST_F(Panels, KeysBecomeCommands) {
  EXPECT_TRUE(only<Pause>(type(' ')));
  EXPECT_EQ(only<Step>(type('.'))->frames, 1);
  EXPECT_EQ(only<Step>(type(','))->frames, -1);
  EXPECT_EQ(only<Seek>(press({.key = Key::left}))->position_ns, -5'000'000'000);
  EXPECT_EQ(only<Seek>(press({.key = Key::up}))->position_ns, 60'000'000'000);
  EXPECT_DOUBLE_EQ(only<SetSpeed>(type(']'))->speed, 1.1);
  EXPECT_DOUBLE_EQ(only<SetSpeed>(press({.key = Key::backspace}))->speed, 1);
  EXPECT_TRUE(only<SetLoop>(type('L'))->file);
  EXPECT_EQ(only<SetLoop>(type('l'))->a_ns, model.position_ns);
  EXPECT_TRUE(only<Quit>(type('q')));
  EXPECT_TRUE(viewer.requests().quit);
}

TEST_F(Panels, DigitsCountTheUsersNodesOnly) {
  frame();
  const auto commands = type('2');  // the second is the conversion that the plan added
  ASSERT_TRUE(only<SetEnabled>(commands));
  EXPECT_EQ(only<SetEnabled>(commands)->node, "edges");
  EXPECT_TRUE(type('9').empty());
}

TEST_F(Panels, HeldKeysActOnceButSteppingRepeats) {
  EXPECT_TRUE(press({.character = ' ', .repeat = true}).empty());
  EXPECT_TRUE(only<Step>(press({.character = '.', .repeat = true})));
}

TEST_F(Panels, BypassLastsWhileHeld) {
  InputState input;
  input.held_letters = 1u << ('b' - 'a');
  frame(input);
  EXPECT_TRUE(viewer.compare_look().second_only);
  frame();
  EXPECT_FALSE(viewer.compare_look().second_only);
}

TEST_F(Panels, TabGivesThePictureTheWholeWindow) {
  frame();
  const Rect beside = viewer.picture_rect();
  EXPECT_LT(beside.w, 1280);
  press({.key = Key::tab});
  EXPECT_EQ(viewer.picture_rect().w, 1280);
  EXPECT_EQ(viewer.picture_rect().h, 720);
  press({.key = Key::tab});
  EXPECT_EQ(viewer.picture_rect().w, beside.w);
}

TEST_F(Panels, SidesFoldAndUnfold) {
  frame();
  const float before = viewer.picture_rect().w;
  click("panels/fold_left"), click("panels/fold_right");
  EXPECT_GT(viewer.picture_rect().w, before + 400);
  click("panels/unfold_left"), click("panels/unfold_right");
  EXPECT_EQ(viewer.picture_rect().w, before);
  const float height = viewer.picture_rect().h;
  click("panels/fold_bottom");
  EXPECT_GT(viewer.picture_rect().h, height);
  click("panels/unfold_bottom");
  EXPECT_EQ(viewer.picture_rect().h, height);
}

TEST_F(Panels, WheelZoomsAndDragMovesThePictureOnly) {
  frame();
  const Rect area = viewer.picture_rect();
  point(area.x + area.w / 2, area.y + area.h / 2);
  frame();
  wheel(2);
  frames(2);
  const double zoom = viewer.view().zoom;
  EXPECT_NEAR(zoom, 1.15 * 1.15, 0.02);
  button(true);
  frame();
  point(area.x + area.w / 2 + 60, area.y + area.h / 2);
  frames(2);
  button(false);
  frame();
  EXPECT_LT(viewer.view().centre_x, 0.5);
  type('0');
  EXPECT_TRUE(viewer.view().fits());
  point(20, 300);  // over the graph panel
  frames(2);
  wheel(2);
  frames(2);
  EXPECT_TRUE(viewer.view().fits());
}

TEST_F(Panels, HelpClosesWithEscapeBeforeFullscreenDoes) {
  type('?');
  EXPECT_TRUE(viewer.state().help);
  press({.key = Key::escape});
  EXPECT_FALSE(viewer.state().help);
  EXPECT_FALSE(viewer.requests().leave_fullscreen);
  press({.key = Key::escape});
  EXPECT_TRUE(viewer.requests().leave_fullscreen);
}

TEST_F(Panels, DrawInEveryStateAndSize) {
  viewer.state().help = viewer.state().stats = true;
  model.notices = {{now_ns(), true, "edges.low = 2000 is not allowed"}, {now_ns(), false, "saved"}};
  for (const ImVec2 size : {ImVec2{1920, 1080}, ImVec2{640, 480}, ImVec2{200, 120}, ImVec2{1, 1}}) {
    ImGui::GetIO().DisplaySize = size;
    EXPECT_TRUE(frame().empty());
    for (const Fold fold : {Fold::open, Fold::folded}) {
      viewer.state().left = viewer.state().right = viewer.state().bottom = fold;
      EXPECT_TRUE(frame().empty());
      EXPECT_GE(viewer.picture_rect().w, 1);
    }
  }
  model = ViewerModel();
  model.live = true;
  EXPECT_TRUE(frame().empty());
}

TEST_F(Panels, AreDrawnInAMillisecond) {
  frames(30);
  int64_t best = INT64_MAX;
  for (int i = 0; i < 30; ++i) {
    const int64_t start = now_ns();
    frame();
    best = std::min(best, now_ns() - start);
  }
#ifdef __OPTIMIZE__
  EXPECT_LT(to_ms(best), 1.0);
#else
  EXPECT_LT(to_ms(best), 20.0);
#endif
}

/// A picture of 320×240 pixels, all grey.
ScopeReading grey_reading(ScopeKind kind) {
  ScopeReading r;
  r.tap.kind = kind, r.frame = 1, r.image = {PixelFormat::rgba8, {320, 240}};
  r.counts.resize(scope_counts(kind, 320));
  const size_t columns = kind == ScopeKind::waveform ? 256 : kind == ScopeKind::parade ? 768 : 0;
  for (size_t c = 0; c < columns; ++c) r.counts[c * 256 + 128] = 300;
  if (kind == ScopeKind::histogram) r.counts[128] = r.counts[384] = r.counts[640] = r.counts[896] = 320 * 240;
  if (kind == ScopeKind::vectorscope) r.counts[128 * 256 + 128] = 320 * 240;
  return r;
}

TEST_F(Panels, ScopesAreAskedForWhileTheyAreSeen) {
  const auto follow = [&](const std::vector<Command>& commands) {
    int sets = 0;
    for (const Command& command : commands)
      if (const auto* set = std::get_if<SetTaps>(&command)) model.taps = set->taps, ++sets;
    return sets;
  };
  EXPECT_EQ(follow(frame()), 0);
  EXPECT_GE(follow(click("scopes/fold")), 1);
  EXPECT_EQ(model.taps, (std::vector<Tap>{{"", ScopeKind::histogram}}));
  EXPECT_EQ(follow(frame()), 0) << "asked for once";
  EXPECT_GE(follow(click("scopes/vectorscope")), 1);
  EXPECT_EQ(model.taps, (std::vector<Tap>{{"", ScopeKind::vectorscope}}));
  follow(click("scopes/node"));
  EXPECT_GE(follow(click("scopes/node/edges")), 1);
  EXPECT_EQ(model.taps, (std::vector<Tap>{{"edges", ScopeKind::vectorscope}}));
  EXPECT_EQ(follow(press({.key = Key::tab})), 1) << "hidden";
  EXPECT_TRUE(model.taps.empty());
  EXPECT_EQ(follow(type('h')), 1) << "h brings the panels back";
  EXPECT_TRUE(viewer.state().panels);
  model.nodes.erase(model.nodes.begin() + 2);  // the node goes away: back to the output
  follow(frame()), follow(frame());
  EXPECT_EQ(model.taps, (std::vector<Tap>{{"", ScopeKind::vectorscope}}));
  EXPECT_EQ(follow(type('h')), 1);
  EXPECT_TRUE(model.taps.empty());
}

TEST_F(Panels, ScopesArePaintedWhereTheCountsAre) {
  viewer.state().scopes.open = true;
  ScopesState& s = viewer.state().scopes;
  for (const ScopeKind kind :
       {ScopeKind::histogram, ScopeKind::waveform, ScopeKind::parade, ScopeKind::vectorscope}) {
    s.kind = kind;
    model.scope = grey_reading(kind), ++model.scope_version, model.taps = {{"", kind}};
    const uint64_t before = s.paintings;
    EXPECT_TRUE(frame().empty());
    EXPECT_TRUE(frame().empty());
    EXPECT_EQ(s.paintings, before + (kind == ScopeKind::histogram ? 0 : 1)) << "painted once";
    if (kind == ScopeKind::histogram) continue;
    size_t lit = 0;
    for (size_t i = 0; i < s.pixels.size(); ++i) {
      if (s.pixels[i] >> 24 == 0) continue;
      ++lit;
      EXPECT_EQ(i / static_cast<size_t>(s.size.width), 127u) << "row of the value 128 from the top";
    }
    EXPECT_EQ(lit, kind == ScopeKind::vectorscope ? 1u : static_cast<size_t>(s.size.width));
  }
}

TEST_F(Panels, DigitsHaveOneWidth) {
  for (ImFont* font : {look.text, look.strong, look.small})
    for (ImWchar c = '1'; c <= '9'; ++c) EXPECT_EQ(font->GetCharAdvance(c), font->GetCharAdvance('0')) << c;
}

TEST(Placement, FitsAndCentres) {
  const Placement p = place({640, 480}, {100, 0, 1280, 480}, {});
  EXPECT_DOUBLE_EQ(p.scale, 1);
  EXPECT_EQ(p.picture.x, 420);
  EXPECT_EQ(p.picture.y, 0);
  EXPECT_EQ(p.picture.w, 640);
  EXPECT_EQ(place({1, 16384}, {0, 0, 100, 100}, {}).picture.w, 1);
}

TEST(Placement, ZoomKeepsThePointUnderThePointer) {
  const Extent picture{640, 480};
  const Rect area{10, 20, 1000, 700};
  const float x = 300, y = 200;
  PictureView view;
  const Rect before = place(picture, area, view).picture;
  for (int i = 0; i < 6; ++i) view = zoomed_at(picture, area, view, x, y, 1.3);
  const Rect after = place(picture, area, view).picture;
  // Within the pixel that place() rounds to, at either size.
  EXPECT_NEAR((x - before.x) / before.w, (x - after.x) / after.w, 1.5 / before.w);
  EXPECT_NEAR((y - before.y) / before.h, (y - after.y) / after.h, 1.5 / before.h);
}

TEST(Placement, ZoomIsBoundedAndFineStepsLeaveASnap) {
  const Rect area{0, 0, 640, 480};
  PictureView view;
  for (int i = 0; i < 100; ++i) view = zoomed_at({640, 480}, area, view, 5, 5, 2);
  EXPECT_LE(place({640, 480}, area, view).scale, 64);
  view = {};
  for (int i = 0; i < 10; ++i) view = zoomed_at({640, 480}, area, view, 320, 240, 1.01);
  EXPECT_GT(view.zoom, 1.05);
  EXPECT_DOUBLE_EQ(place({1000, 1000}, area, actual_size({1000, 1000}, area, {})).scale, 1);
}

TEST(Texts, TimesAndMilliseconds) {
  EXPECT_EQ(clock_text(12'480'000'000, false), "00:12.480");
  EXPECT_EQ(clock_text(3'723'480'000'000, false), "1:02:03.480");
  EXPECT_EQ(clock_text(-5, false), "00:00.000");
  EXPECT_EQ(ms_text(412'000), "0.412");
  EXPECT_EQ(ms_text(9'999'600), "10.00");
  EXPECT_EQ(ms_text(99'996'000), "100.0");
}

TEST_F(Panels, TraceByKeyAndButton) {
  type('g');
  EXPECT_TRUE(viewer.requests().trace);
  frame();
  EXPECT_FALSE(viewer.requests().trace) << "a request lasts one frame";
  // The button acts when the mouse is released.
  frame();
  point_at("timings/trace");
  button(true), frame();
  button(false), frame();
  EXPECT_TRUE(viewer.requests().trace);
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
  model.nodes[1].id = "median.gray", model.timings[1].node = "median.gray";  // converts what median gives
  frame();
  EXPECT_LT(y_of("timings/median/median"), y_of("timings/median.gray/to-gray"));
  EXPECT_LT(y_of("timings/median.gray/to-gray"), y_of("timings/edges/blur"));
  std::swap(model.nodes[0], model.nodes[2]);
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
  viewer.state().held_at_ns = 0;  // numbers are taken over at once
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
  viewer.state().held_at_ns = 0;
  frames(4);
  const TimingsState& s = viewer.state().timings_view;
  EXPECT_GT(s.details_height, 720) << "longer than the window, which is scrolled in";
  const Rect close = viewer.widget_rects().at("timings/close");
  EXPECT_GE(close.y, 0);
  EXPECT_LE(close.y + close.h, 720);
}

TEST_F(Panels, EveryKeyIsInSight) {
  type('?');
  for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{1920, 1080}, ImVec2{2560, 1440}, ImVec2{900, 600}}) {
    ImGui::GetIO().DisplaySize = size;
    frames(4);
    const Rect all = viewer.widget_rects().at("keys");
    for (const KeyHelp& line : key_help()) {
      const auto found = viewer.widget_rects().find(fmt::format("keys/{}", line.keys));
      ASSERT_NE(found, viewer.widget_rects().end()) << line.keys;
      EXPECT_LE(found->second.y + found->second.h, all.y + all.h) << line.keys << " at " << size.x;
    }
    EXPECT_GE(all.x, 0);
    EXPECT_LE(all.x + all.w, size.x);
    EXPECT_LE(all.y + all.h, size.y);
  }
}

TEST_F(Panels, TheKeysHaveAButton) {
  frames(2);  // until the bar has found its place
  click("view/keys");
  EXPECT_TRUE(viewer.state().help);
  frame();
  click("view/keys");
  EXPECT_FALSE(viewer.state().help) << "the same button closes them";
}

TEST_F(Panels, BarsFitOverNarrowPictures) {
  viewer.state().compare.mode = CompareMode::split;
  for (const float width : {1280.f, 900.f, 700.f, 640.f}) {
    ImGui::GetIO().DisplaySize = {width, 480};
    frames(4);
    const Rect area = viewer.widget_rects().at("picture");
    for (const auto& [name, r] : viewer.widget_rects()) {
      if (name.rfind("view/", 0) != 0 && name.rfind("compare/", 0) != 0) continue;
      EXPECT_GE(r.x, area.x) << name << " at " << width;
      EXPECT_LE(r.x + r.w, area.x + area.w) << name << " at " << width;
    }
  }
}

TEST_F(Panels, SmallValuesDoNotShowAsNothing) {
  ParamSpec spec{.name = "min_eigen", .unit = "", .doc = "", .type = ParamType::real, .min = 0, .max = 1};
  spec.default_value = 1e-4;
  EXPECT_EQ(shown_value(spec, 1e-4), "0.0001");
  EXPECT_EQ(shown_value(spec, 0.5), "0.5000");
  EXPECT_EQ(shown_value(spec, 2e-7), "2.0e-07");
  EXPECT_EQ(shown_value(spec, 0.0), "0.0000");
  spec.default_value = 0.7;
  EXPECT_EQ(shown_value(spec, 0.7), "0.700");
}

TEST_F(Panels, SharesAreNotMadeUp) {
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

TEST_F(Panels, LogByKeyWithLevels) {
  type('e');
  frame();
  ASSERT_TRUE(viewer.state().log.open);
  EXPECT_EQ(filtered_log(model.log, viewer.state().log.level).size(), 3u);
  click("log/warning");
  EXPECT_EQ(filtered_log(model.log, viewer.state().log.level).size(), 2u);
  click("log/error");
  EXPECT_EQ(filtered_log(model.log, viewer.state().log.level).size(), 1u);
  click("log/copy");
  EXPECT_STREQ(ImGui::GetClipboardText(), "12:30:03 error: no trace: the disk is full\n");
  click("log/close");
  EXPECT_FALSE(viewer.state().log.open);
  EXPECT_EQ(log_level("no time"), 0);
  EXPECT_EQ(log_level("12:30:03 critical: x"), 2);
}

}  // namespace
}  // namespace lensd::ui
