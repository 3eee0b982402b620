// The texts of the status, the log, the playlist and the graph's lines, with their colours. Needs no display.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/ui/graph_panel_driver.hpp"

namespace lensd::ui {
namespace {

class StatusTexts : public GraphPanel {
 protected:
  void SetUp() override {
    GraphPanel::SetUp();
    show_all_panels();
  }
  /// Returns the colour of a text that begins inside a widget; 0: it was not drawn there.
  ImU32 ink_in(const std::string& text, const std::string& widget) const {
    const Rect area = rect(widget);
    for (const DrawnText& one : drawn_texts())
      if (one.text == text && area.contains(one.x + 1, one.y + 4)) return one.colour;
    return 0;
  }
};

TEST_F(StatusTexts, TheBackendAndTheDisplayAreNamed) {
  model.device.clear(), model.backend = "processor", model.backend_reason = "no device";
  model.screen.clear(), model.display_path = "pixel buffers", model.display_reason = "no interop";
  model.volume = 73;
  frames(2);
  for (const char* value : {"processor", "pixel buffers", "73 %", "412.3 fps", "84.4 MiB of GPU memory"})
    EXPECT_EQ(ink_of(value), colour::text) << value;
  for (const char* reason : {"no device", "no interop"}) EXPECT_EQ(ink_of(reason), colour::dim) << reason;
  for (const char* name : {"backend", "display", "memory"}) EXPECT_EQ(ink_of(name), colour::dim) << name;
  const auto name = drawn("backend"), value = drawn("processor");
  ASSERT_TRUE(name && value);
  EXPECT_NEAR(name->y, value->y, 0.5f);
  EXPECT_GT(value->x, name->end);
  model.muted = true, model.graph_memory = 0;
  frames(2);
  EXPECT_EQ(ink_of("muted"), colour::text);
  EXPECT_FALSE(there("status/memory"));
  EXPECT_FALSE(there("status/state")) << "a file";
}

TEST_F(StatusTexts, FramesAreCounted) {
  EXPECT_EQ(ink_of("375 processed"), colour::text);
  EXPECT_EQ(ink_of("374"), colour::text);
  model.counts.replaced_source = 6, model.counts.late = 3;
  frames(2);
  EXPECT_EQ(ink_of("6 at the source, 3 late"), colour::dim);
  EXPECT_EQ(ink_of("9"), colour::text);
  model.counts = {};
  model.counts.recorder = 1, model.counts.stream = 2;
  frames(2);
  EXPECT_TRUE(drawn_from("1 not recorded, 2 not"));
  model.counts.camera_broken = 4, model.counts.camera_missed = 5;
  frames(2);
  EXPECT_TRUE(drawn_from("4 damaged, 5 missed"));
}

TEST_F(StatusTexts, TheLatencyIsThatOfTheWorkAndNeedsBothSums) {
  EXPECT_EQ(ink_of("1.200 ms, p99 1.548"), colour::text);
  for (const char* stage : {"work", "total"}) {
    const std::vector<PassStats> all = model.timings;
    for (PassStats& row : model.timings)
      if (row.node == kLatencyRow && row.pass == stage) row.count = 0;
    redraw();
    EXPECT_FALSE(there("status/latency")) << stage;
    model.timings = all;
  }
  redraw();
  EXPECT_TRUE(there("status/latency"));
}

TEST_F(StatusTexts, ALiveSourceHasRateAndDelay) {
  model.live = true;
  LiveStatus& live = model.live_status;
  live.live = true, live.state = LiveState::playing;
  live.rate = 29.5, live.nominal_rate = 30, live.latency_ns = 23'400'000;
  model.counts.received = 380;
  live.reconnects = 2, live.stalls = 1, live.attempts = 3;
  frames(2);
  EXPECT_TRUE(drawn_from("2 reconnects, 1 stall"));
  EXPECT_TRUE(there("status/state"));
  for (const char* value : {"29.50 of 30 fps", "23.40 ms", "380 received, 375 processed"})
    EXPECT_EQ(ink_of(value), colour::text) << value;
  live.nominal_rate = 0, frames(2);
  EXPECT_EQ(ink_of("29.50 fps"), colour::text);
  live.rate = 0, live.latency_ns = 0, frames(2);
  EXPECT_FALSE(there("status/rate"));
  EXPECT_EQ(ink_of("0.000 ms"), colour::text);
  live.latency_ns = -1, frames(2);
  EXPECT_FALSE(there("status/delay")) << "not known";
}

TEST_F(StatusTexts, TheSpeedIsMarkedIfItIsNotNormal) {
  EXPECT_EQ(ink_of("1.00×"), colour::dim);
  model.speed = 0.5, frames(2);
  EXPECT_EQ(ink_of("0.50×"), colour::accent);
}

TEST_F(StatusTexts, LinesOfTheLogHaveTheColourOfTheirLevel) {
  viewer.state().log.open = true, frames(2);
  EXPECT_EQ(ink_of("12:30:01 info: backend cuda: chosen by --backend=auto"), colour::text);
  EXPECT_EQ(ink_of("12:30:02 warning: the clip is damaged"), colour::accent);
  EXPECT_EQ(ink_of("12:30:03 error: no trace: the disk is full"), colour::problem);
  EXPECT_EQ(ink_of("All"), colour::accent);
  EXPECT_EQ(ink_of("Warnings"), colour::dim);
  viewer.state().log.level = 1, frames(2);
  EXPECT_EQ(ink_of("All"), colour::dim);
  EXPECT_EQ(ink_of("Warnings"), colour::accent);
  EXPECT_FALSE(drawn("No messages of this level so far."));
  model.log.clear(), frames(2);
  EXPECT_EQ(ink_of("No messages of this level so far."), colour::dim);
}

TEST_F(StatusTexts, TheCurrentSourceOfAPlaylistIsBright) {
  model.playlist = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"/v/one.mp4", "/v/two.mp4", "/v/three.mp4"});
  model.playlist_at = 1;
  frames(3);
  EXPECT_EQ(ink_of("2 of 3"), colour::dim);
  EXPECT_EQ(ink_in("one.mp4", "playlist/1"), colour::dim);
  EXPECT_EQ(ink_in("two.mp4", "playlist/2"), colour::text);
  EXPECT_EQ(ink_in("three.mp4", "playlist/3"), colour::dim);
  model.playlist = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"/v/one.mp4"});
  model.playlist_at = 0;
  frames(2);
  EXPECT_FALSE(there("playlist/count")) << "one source is no list";
}

TEST_F(StatusTexts, NodesShowTheirFilterTheirPlaceAndTheirTime) {
  EXPECT_EQ(ink_in("median", "graph/median/title"), colour::text);
  EXPECT_EQ(ink_in("0.412", "graph/median/title"), colour::dim);
  EXPECT_EQ(ink_in("edges", "graph/edges/title"), colour::text);
  EXPECT_EQ(ink_in("canny", "graph/edges/title"), colour::dim) << "the node has another name";
  EXPECT_EQ(ink_in("1.308", "graph/edges/title"), colour::dim) << "all passes of the node";
  EXPECT_EQ(ink_in("convolve", "graph/convolve/title"), colour::faint) << "off";
  model.graph.output = "edges", ++model.graph_version, frames(2);
  EXPECT_EQ(ink_in("canny, output", "graph/edges/title"), colour::dim);
  EXPECT_EQ(ink_in("output", "graph/median/title"), 0u);
  for (NodeView& node : model.nodes)
    if (node.id == "median") node.format.clear();  // as of a node that is not planned
  frames(2);
  EXPECT_EQ(ink_in("unused", "graph/median/title"), colour::dim);
}

TEST_F(StatusTexts, TheMachineIsDescribedInTheDetails) {
  viewer.state().timings_view.details = true;
  model.cpu_copy_rate = 12.34e9, model.gpu_copy_rate = 2.6e12, model.cpu_clock.mhz = 3456;
  redraw();
  for (const char* value : {"12.3 GB/s", "2600.0 GB/s", "84.4 MiB", "3456 MHz"})
    EXPECT_EQ(ink_of(value), colour::text) << value;
  EXPECT_EQ(ink_of("GPU clock"), colour::dim);
}

TEST_F(StatusTexts, AComparisonThatIsNotMeasuredSaysSo) {
  viewer.state().compare.mode = CompareMode::split;
  frames(3);
  EXPECT_EQ(ink_of("PSNR n/a"), colour::faint);
  model.compared = true, frames(2);
  EXPECT_FALSE(drawn("PSNR n/a"));
}

TEST(FrameCountLines, EveryReasonHasItsNumber) {
  FrameCounts c;
  c.camera_broken = 6, c.camera_missed = 4;
  c.received = 100, c.replaced_source = 5, c.replaced_graph = 3, c.skipped = 2, c.processed = 90;
  c.shown = 80, c.not_shown = 10, c.repeated = 7, c.recorder = 1, c.late = 4;
  c.placeholders = 6, c.rerun = 9;
  EXPECT_EQ(c.replaced(), 8u);
  EXPECT_EQ(c.drops(), 23u);
  const std::string live = frame_count_lines(c, true), file = frame_count_lines(c, false);
  for (const char* line :
       {"100  received", "5  dropped at the source", "3  dropped before the graph", "2  skipped",
        "6  damaged", "4  missed by the camera", "10  finished but not shown", "7  repeated", "1  missing",
        "6  placeholders", "9  processed again"})
    EXPECT_NE(live.find(line), std::string::npos) << line;
  EXPECT_EQ(file.find("received"), std::string::npos);
  EXPECT_NE(file.find("4  shown late"), std::string::npos);
  EXPECT_EQ(live.find("shown late"), std::string::npos);
  EXPECT_EQ(live.find("not sent"), std::string::npos);
  c.recorder = 0, c.stream = 8;
  EXPECT_EQ(frame_count_lines(c, false).find("missing"), std::string::npos);
  EXPECT_NE(frame_count_lines(c, false).find("8  not sent"), std::string::npos);
}

}  // namespace
}  // namespace lensd::ui
