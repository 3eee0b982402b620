// The timings section: the graph's bar, tooltips, sorting by name, and the table as CSV.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {
namespace {

class TimedPasses : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    show_all_panels();
  }
};

TEST_F(TimedPasses, TheGraphsBarHasASegmentPerNode) {
  constexpr ImU32 kSecond = IM_COL32(178, 129, 60, 255), kSecondOver = IM_COL32(178, 82, 73, 255);
  model.timings[0].p50_ns = 8'000'000;  // median; the conversion takes 0.021 ms, the edges take 1.308 ms
  redraw();
  EXPECT_EQ(points_of(kSecond).size(), 4u);
  EXPECT_TRUE(points_of(kSecondOver).empty());
  hover("timings/budget", 0.1f);
  EXPECT_TRUE(drawn("median: 8.000 ms"));
  hover("timings/budget", 0.26f);
  EXPECT_TRUE(drawn("edges: 1.308 ms")) << "all its passes";
  hover("timings/budget", 0.9f);
  EXPECT_FALSE(drawn_from("edges: ")) << "the rest of the frame's duration";
  model.frame_duration_ns = 5'000'000, redraw();
  EXPECT_TRUE(points_of(kSecond).empty());
  EXPECT_EQ(points_of(kSecondOver).size(), 4u) << "longer than a frame's duration";
}

TEST_F(TimedPasses, ScopesAreBesideTheGraphsNodes) {
  NodeView scope;
  scope.id = "output.histogram", scope.filter = "histogram", scope.automatic = scope.scope = true;
  model.nodes.push_back(scope);
  PassStats row = model.timings[0];
  row.node = "output.histogram", row.pass = "histogram", row.p50_ns = 20'000'000;
  model.timings.push_back(row);
  redraw();
  hover("timings/budget", 0.5f);
  EXPECT_TRUE(drawn("scopes and comparison: 20.00 ms more"));
  EXPECT_EQ(ink_of("1.741 of 33.37 ms"), colour::text) << "the graph's time is without them";
}

TEST_F(TimedPasses, ATooltipHasThroughputAndShares) {
  viewer.state().timings_view.details = true;
  model.timings[0].operations = 824e6;
  redraw();
  hover("details/median/median");
  EXPECT_TRUE(drawn_from("mean 0.420 ms over 256 of 374"));
  EXPECT_TRUE(drawn_from("3.54 MB a frame, 8.6 GB/s"));
  EXPECT_TRUE(drawn_from("0 % of the machine's"));
  EXPECT_TRUE(drawn_from("2000.0 Gop/s"));
  model.gpu_copy_rate = 768.0 * 576 * 8 / 412e-6 * 4, hover("details/median/median");
  EXPECT_TRUE(drawn_from("25 % of the machine's"));
  model.gpu_copy_rate = 0, hover("details/median/median");
  EXPECT_TRUE(drawn_from("share of the machine's copy rate: n/a"));
  hover("details/edges/hysteresis");
  EXPECT_TRUE(drawn_from("edges / hysteresis"));
  EXPECT_FALSE(drawn_from("share of the machine's")) << "it declares no bytes";
}

TEST_F(TimedPasses, ThreeClicksOnTheFirstColumnSortByName) {
  const auto y_of = [&](const char* row) { return rect(std::string("timings/") + row).y; };
  click("timings/sort/ms");
  EXPECT_LT(y_of("convolve/convolve"), y_of("decode/decode"));
  EXPECT_LT(y_of("decode/decode"), y_of("edges/blur"));
  EXPECT_LT(y_of("edges/blur"), y_of("edges/hysteresis"));
  EXPECT_LT(y_of("edges/hysteresis"), y_of("median/median"));
  click("timings/sort/ms");
  EXPECT_GT(y_of("convolve/convolve"), y_of("decode/decode"));
  EXPECT_GT(y_of("edges/blur"), y_of("edges/hysteresis"));
  click("timings/sort/ms");
  EXPECT_LT(y_of("median/median"), y_of("edges/blur")) << "the graph's order";
  EXPECT_LT(y_of("edges/blur"), y_of("convolve/convolve"));
}

TEST_F(TimedPasses, TheCsvHasMillisecondsAndPercent) {
  const std::string csv = timings_csv(model, model.timings);
  EXPECT_NE(csv.find("\nmedian,median,gpu,374,0.416120,0.420240,0.412000,0.465560,0.531480,0.704520,3538944,"
                     "8.590,0.330,1.235\n"),
            std::string::npos)
      << csv;
  EXPECT_NE(csv.find("\ndecode,decode,cpu,374,"), std::string::npos);
  model.timings[0].active = false;
  EXPECT_EQ(timings_csv(model, model.timings).find("\nmedian,"), std::string::npos) << "of an earlier plan";
}

}  // namespace
}  // namespace lensd::ui
