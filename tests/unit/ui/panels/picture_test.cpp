// What is drawn over the picture: the bar's buttons, measured values, the probe, tracks, notices, statistics.
#include <gtest/gtest.h>

#include <new>
#include <string>

#include "core/base/clock.hpp"
#include "core/graph/graph.hpp"
#include "core/image/tracks.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {
namespace {

class OverPicture : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    model.volume = 37;  // the status must not have the texts of the zoom
    frames(3);
  }
  double shown_scale() { return place(model.picture, viewer.picture_rect(), viewer.view()).scale; }
};

TEST_F(OverPicture, ButtonsThatAreOnAreHighlighted) {
  constexpr ImU32 kOff = colour::gray(200);
  EXPECT_EQ(ink_of("Fit"), colour::accent);
  for (const char* label : {"1:1", "Compare", "RGB", "Probe", "Record", "Camera"})
    EXPECT_EQ(ink_of(label), kOff) << label;
  UiState& s = viewer.state();
  s.probe.on = true, s.channel = ChannelView::luma, s.compare.mode = CompareMode::split;
  model.recording = true, model.record_frames = 120, model.virtual_camera.wanted = true;
  frames(3);
  for (const char* label : {"Compare", "Luma", "Probe", "Stop 120", "Camera"})
    EXPECT_EQ(ink_of(label), colour::accent) << label;
  EXPECT_FALSE(drawn("Record"));
  EXPECT_EQ(ink_of("Split"), colour::accent);
  EXPECT_EQ(ink_of("Side"), kOff);
  EXPECT_EQ(ink_of("Heat"), kOff);
}

TEST_F(OverPicture, TheZoomIsInScreenPixelsPerPicturePixel) {
  click("view/actual");
  EXPECT_DOUBLE_EQ(shown_scale(), 1);
  EXPECT_EQ(ink_of("100 %"), colour::dim);
  EXPECT_EQ(ink_of("1:1"), colour::accent);
  EXPECT_EQ(ink_of("Fit"), colour::gray(200));
  viewer.state().view.zoom *= 2, frames(2);
  EXPECT_EQ(ink_of("200 %"), colour::dim);
  EXPECT_EQ(ink_of("1:1"), colour::gray(200));
  click("view/fit");
  EXPECT_TRUE(viewer.view().fits());
  EXPECT_LT(shown_scale(), 1);
}

TEST_F(OverPicture, ButtonsDoWhatTheirKeysDo) {
  EXPECT_TRUE(requests_of_click("view/snapshot").snapshot);
  EXPECT_TRUE(requests_of_click("view/record").toggle_record);
  EXPECT_TRUE(requests_of_click("view/virtual_camera").toggle_virtual_camera);
  EXPECT_FALSE(viewer.requests().toggle_record);
  click("view/probe");
  EXPECT_TRUE(viewer.state().probe.on);
  click("view/probe");
  EXPECT_FALSE(viewer.state().probe.on);
  click("view/compare");
  EXPECT_EQ(viewer.state().compare.mode, CompareMode::split);
  click("view/compare");
  EXPECT_EQ(viewer.state().compare.mode, CompareMode::off);
}

TEST_F(OverPicture, TooltipsTellWhatIsRecordedAndSent) {
  hover("view/record");
  EXPECT_TRUE(drawn_from("Record the output"));
  hover("view/virtual_camera");
  EXPECT_TRUE(drawn_from("Offer the output"));
  model.recording = true, model.record_frames = 120, model.record_path = "/clips/a.mkv";
  hover("view/record");
  EXPECT_TRUE(drawn_from("Stop recording: 120 frames"));
  model.virtual_camera.wanted = true, model.virtual_camera.path = "Desk";
  model.virtual_camera.state = "sending";
  hover("view/virtual_camera");
  EXPECT_TRUE(drawn_from("Withdraw the camera 'Desk': sending"));
}

TEST_F(OverPicture, TheComparisonIsMeasuredInDecibels) {
  viewer.state().compare.mode = CompareMode::split;
  model.compared = true;
  // The mean squared error is 1, so the ratio is 20·log10(255) dB.
  model.comparison = {.squares = {100, 70, 130},
                      .samples = 100,
                      .ssim_q24 = int64_t{3} << 24,
                      .windows = 4,
                      .channels = 3,
                      .white = 255};
  frames(3);
  EXPECT_EQ(ink_of("48.13 dB"), colour::text);
  EXPECT_EQ(ink_of("SSIM 0.7500"), colour::text);
  model.comparison.channels = 1, frames(2);
  EXPECT_TRUE(drawn("48.13 dB")) << "grey has one sum";
  model.comparison.white = 65535, frames(2);
  EXPECT_TRUE(drawn("96.33 dB"));
  model.comparison.squares[0] = 0, model.comparison.windows = 0, frames(2);
  EXPECT_TRUE(drawn("equal"));
  EXPECT_TRUE(drawn("SSIM n/a"));
}

TEST_F(OverPicture, TheProbeHasOneRowPerNode) {
  viewer.state().probe.on = true;
  model.probe_x = 300, model.probe_y = 200;
  model.probe = {{"soft", false, false, {10, 94, 3, 255}},
                 {"lines", true, false, {67, 67, 67, 255}},
                 {"bright", false, true, {65535, 32896, 0, 65535}}};
  point_at_pixel(300, 200), frames(3);
  EXPECT_EQ(ink_of("x 300"), colour::accent);
  EXPECT_EQ(ink_of("y 200"), colour::accent);
  EXPECT_EQ(ink_of("YCbCr 601"), colour::faint);
  const auto row = [&](const char* node, const char* value, const char* hex) {
    const auto name = drawn(node), number = drawn(value), digits = drawn(hex);
    ASSERT_TRUE(name && number && digits) << node;
    EXPECT_EQ(name->colour, colour::dim) << node;
    EXPECT_EQ(number->colour, colour::text) << node;
    EXPECT_EQ(digits->colour, colour::dim) << node;
    EXPECT_NEAR(number->y, name->y, 0.5f) << node;
    EXPECT_NEAR(digits->y, name->y, 0.5f) << node;
    EXPECT_GT(number->x, name->end) << node;
    EXPECT_GT(digits->x, number->end) << node;
  };
  row("soft", "94", "#0a5e03");
  row("lines", "67", "#43");
  EXPECT_EQ(ink_of("grey"), colour::faint);
  const auto bright = drawn("#ffff80800000");
  ASSERT_TRUE(bright);
  EXPECT_EQ(bright->colour, colour::dim);
  EXPECT_GT(bright->y, drawn("#43").value_or(DrawnText{}).y + 5) << "the rows are below each other";
  EXPECT_FALSE(points_of(IM_COL32(10, 94, 3, 255)).empty()) << "a sample of the colour";
  EXPECT_FALSE(points_of(IM_COL32(255, 128, 0, 255)).empty()) << "16 bits as 8";
}

TEST_F(OverPicture, BypassAndSoloAreNoticesToo) {
  const int64_t now = now_ns();
  model.notices = {{now - 7'000'000'000, false, "old message"}, {now - 7'000'000'000, true, "old problem"}};
  viewer.state().editor.toggle_solo("median"), frames(2);
  EXPECT_EQ(ink_of("Solo: the graph up to median"), colour::text);
  EXPECT_FALSE(drawn("old message")) << "5 s";
  EXPECT_TRUE(drawn("old problem")) << "10 s";
  for (const char* text : {"one", "two", "three", "four"}) model.notices.push_back({now, false, text});
  frames(2);
  EXPECT_TRUE(drawn("two"));
  EXPECT_FALSE(drawn("one")) << "four with the solo";
  InputState held;
  held.hold(U'b', true, false);
  frame(held), frame(held);
  EXPECT_TRUE(drawn("Graph bypassed while b is held"));
  EXPECT_FALSE(drawn("two"));
}

TEST_F(OverPicture, StatisticsAreSentencesInANarrowWindow) {
  viewer.state().stats = true;
  viewer.state().left = viewer.state().right = Fold::folded;
  frames(3);
  EXPECT_TRUE(drawn("375 made"));
  ImGui::GetIO().DisplaySize = {430, 900};
  frames(4);
  EXPECT_FALSE(drawn("375 made"));
  for (const char* part : {"fps:", "375 made,", "374 shown,", "cuda,"})
    EXPECT_EQ(ink_of(part), colour::text) << part;
  EXPECT_EQ(ink_of("p50,"), colour::dim) << "the heading of the latencies";
  EXPECT_FALSE(drawn("received from the source"));
  model.live_status.live = true, model.live_status.state = LiveState::playing, frames(2);
  EXPECT_TRUE(drawn("received from the source"));
}

class TrackUnderPointer : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    const Registry& all = lensd::registry();
    model.registry = &all;
    model.graph = resolved(parse_chain("klt", all), all);
    model.nodes = {node_view(model.graph.nodes[0], all.find("klt")->schema())};
    ++model.graph_version;
    model.tracks.resize(track_table_bytes(3));
    auto* table = new (model.tracks.data()) TrackTable{.capacity = 3, .alive = 2, .picture = model.picture};
    table->tracks()[0] = Track{.id = 41, .status = TrackStatus::lost_drift, .x = 300, .y = 200};
    table->tracks()[1] = Track{.id = 42,
                               .status = TrackStatus::tracked,
                               .x = 300,
                               .y = 200,
                               .previous_x = 298.5f,
                               .previous_y = 202.25f,
                               .age = 12,
                               .residual = 3.25f,
                               .return_error = 0.125f};
    table->tracks()[2] = Track{.id = 44, .status = TrackStatus::fresh, .x = 500, .y = 400};
    frames(3);
  }
};

TEST_F(TrackUnderPointer, IsDescribed) {
  point_at_pixel(300, 200), frames(2);
  EXPECT_EQ(ink_of("track 42"), colour::accent) << "not the lost one at the same place";
  for (const char* value : {"x 300.00", "y 200.00", "motion +1.50, -2.25 px", "age 12 frames",
                            "residual 3.25 levels", "forward-backward 0.125 px"})
    EXPECT_EQ(ink_of(value), colour::text) << value;
  point_at_pixel(500, 400), frames(2);
  EXPECT_TRUE(drawn("track 44"));
  viewer.state().tracks.overlay = false, frames(2);
  EXPECT_FALSE(drawn("track 44"));
}

TEST_F(TrackUnderPointer, IsAtMostTwelvePixelsAway) {
  point_at_pixel(500, 400);
  const ImVec2 at = ImGui::GetIO().MousePos;
  for (const float distance : {-10.f, 10.f}) {
    point(at.x + distance, at.y), frames(4);
    EXPECT_TRUE(drawn("track 44")) << distance;
    point(at.x, at.y + distance), frames(4);
    EXPECT_TRUE(drawn("track 44")) << distance;
  }
  for (const float distance : {-14.f, 14.f}) {
    point(at.x + distance, at.y), frames(4);
    EXPECT_FALSE(drawn("track 44")) << distance;
    point(at.x, at.y + distance), frames(4);
    EXPECT_FALSE(drawn("track 44")) << distance;
  }
}

}  // namespace
}  // namespace lensd::ui
