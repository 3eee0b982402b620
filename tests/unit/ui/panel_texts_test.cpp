// The texts, bars and lines that the panels draw, with their colours and places. Needs no display.
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "core/base/clock.hpp"
#include "core/image/tracks.hpp"
#include "tests/unit/ui/panel_driver.hpp"
#include "ui/panel.hpp"
#include "ui/widgets/text_row.hpp"

namespace lensd::ui {
namespace {

class PanelTexts : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    show_all_panels();
  }
};

TEST_F(PanelTexts, TheTransportBarShowsPositionAndRate) {
  EXPECT_EQ(ink_of("00:12.480"), colour::text);
  EXPECT_EQ(ink_of("/ 01:19.500"), colour::faint);
  EXPECT_EQ(ink_of("frame 374"), colour::dim);
  model.frame_estimated = true;
  frames(2);
  EXPECT_EQ(ink_of("frame ~374"), colour::dim);
  const auto right_end = [&](double fps, const char* text) {
    model.display_fps = fps, redraw();
    EXPECT_EQ(ink_of(text), colour::dim);
    return drawn(text).value_or(DrawnText{}).end;
  };
  const float narrow = right_end(7.5, "7.5 fps");
  EXPECT_NEAR(right_end(177.5, "177.5 fps"), narrow, 1.5) << "aligned on the right";
}

TEST_F(PanelTexts, DropsAreCountedInTheTransportBar) {
  EXPECT_EQ(ink_of("0 drops"), colour::dim);
  model.counts.late = 1, frames(2);
  EXPECT_EQ(ink_of("1 drop"), colour::accent);
  model.counts.replaced_source = 11, frames(2);
  EXPECT_EQ(ink_of("12 drops"), colour::accent);
}

TEST_F(PanelTexts, TheVolumeIsBesideTheMuteButton) {
  model.sound = SoundState::playing;
  frames(2);
  const Rect mute = rect("transport/mute"), volume = rect("transport/volume");
  EXPECT_GE(volume.x, mute.x + mute.w);
  EXPECT_NEAR(volume.y + volume.h / 2, mute.y + mute.h / 2, 6);
}

TEST_F(PanelTexts, TheSourcesNameIsBeforeItsButton) {
  EXPECT_TRUE(drawn("vtest.avi"));
  const Rect name = rect("source/name"), open = rect("source/open");
  EXPECT_GT(name.w, 10);
  EXPECT_LE(name.x + name.w, open.x);
  EXPECT_NEAR(name.y, open.y, 10);
}

TEST_F(PanelTexts, TheGraphsTimeIsComparedWithTheFrameDuration) {
  EXPECT_EQ(ink_of("1.741 of 33.37 ms"), colour::text);
  EXPECT_FLOAT_EQ(rect("timings/budget").h, 10);
  EXPECT_EQ(ink_of("60 fps"), colour::faint) << "the bar is longer than 1/60 s";
  model.frame_duration_ns = 1'000'000, redraw();
  EXPECT_EQ(ink_of("1.741 of 1.000 ms"), colour::problem);
  EXPECT_FALSE(drawn("60 fps"));
  model.frame_duration_ns = 1'741'000, redraw();
  EXPECT_EQ(ink_of("1.741 of 1.741 ms"), colour::text) << "not more than the frame's duration";
  model.frame_duration_ns = 0, redraw();
  EXPECT_EQ(ink_of("1.741 ms"), colour::text);
}

TEST_F(PanelTexts, TheHistoryMarksTheFrameDurationNearTheLongestTime) {
  const auto line = [&](int64_t longest_ns) {
    model.graph_history_ns = {longest_ns}, redraw();
    return !points_of(colour::accent_soft).empty();
  };
  model.frame_duration_ns = 20'000'000;
  EXPECT_FALSE(line(10'000'000)) << "half of it";
  EXPECT_TRUE(line(10'000'001));
  EXPECT_TRUE(line(20'000'000));
  const size_t problems = points_of(colour::problem).size();
  EXPECT_TRUE(line(20'000'001));
  EXPECT_GT(points_of(colour::problem).size(), problems) << "a frame that took longer";
  model.frame_duration_ns = 0;
  EXPECT_FALSE(line(40'000'000));
}

TEST_F(PanelTexts, SumsOfTheLatencyAreBrighterThanItsStages) {
  for (PassStats& row : model.timings) {
    if (row.node != kLatencyRow) continue;
    if (row.pass == "pace") row.p50_ns = 7'771'000, row.p95_ns = 7'772'000, row.p99_ns = 7'773'000;
    if (row.pass == "total") row.p50_ns = 8'881'000, row.p95_ns = 8'882'000, row.p99_ns = 8'883'000;
  }
  viewer.state().timings_view.details = true;
  redraw();
  EXPECT_EQ(ink_of("waiting until due"), colour::dim);
  EXPECT_EQ(ink_of("decode to present"), colour::text);
  for (const char* number : {"7.771", "7.772", "7.773"}) EXPECT_EQ(ink_of(number), colour::dim) << number;
  for (const char* number : {"8.881", "8.882", "8.883"}) EXPECT_EQ(ink_of(number), colour::text) << number;
}

TEST_F(PanelTexts, ThePercentilesOfALatencyAreInColumns) {
  for (PassStats& row : model.timings)
    if (row.node == kLatencyRow && row.pass == "pace")
      row.p50_ns = 7'771'000, row.p95_ns = 7'772'000, row.p99_ns = 7'773'000;
  viewer.state().timings_view.details = true;
  redraw();
  const auto label = drawn("waiting until due");
  ASSERT_TRUE(label);
  float end = label->end;
  for (const char* number : {"7.771", "7.772", "7.773"}) {
    const auto cell = drawn(number);
    ASSERT_TRUE(cell) << number;
    EXPECT_NEAR(cell->y, label->y, 0.5f) << number << ": in the stage's row";
    EXPECT_GT(cell->x, end) << number << ": in the next column";
    end = cell->end;
  }
}

TEST_F(PanelTexts, TheTooltipOfAPassHasItsTimesIfItWasMeasured) {
  viewer.state().timings_view.details = true;
  redraw();
  point_at("details/median/median"), frames(40);
  EXPECT_TRUE(drawn_from("median / median"));
  EXPECT_TRUE(drawn_from("last 0.416"));
  EXPECT_FALSE(drawn_from("not measured yet"));
  point_at("details/convolve/convolve"), frames(40);
  EXPECT_TRUE(drawn_from("convolve / convolve"));
  EXPECT_TRUE(drawn_from("not measured yet"));
  EXPECT_FALSE(drawn_from("last 0."));
}

TEST_F(PanelTexts, AnEmptyListOfFilesSaysWhy) {
  SourceChoices choices = test::sample_choices();
  choices.files.entries.clear();
  model.source_folder = "/videos";
  const auto publish = [&] {
    model.choices = std::make_shared<const SourceChoices>(choices);
    frames(3);
  };
  const auto open = [&] { press({.character = 'o', .ctrl = true}), frames(3); };
  publish(), open();
  EXPECT_EQ(ink_of("No videos or images in this folder."), colour::dim);
  choices.files.problem = "denied", publish();
  EXPECT_EQ(ink_of("Cannot read this folder: denied"), colour::dim);
  choices.files.problem.clear(), publish();
  type("zzz"), frames(2);
  EXPECT_EQ(ink_of("No name in this folder matches."), colour::dim);
  press({.key = Key::escape}), frames(3);
  open();
  type("rtsp://cam"), frames(2);
  EXPECT_EQ(ink_of("Enter opens this address."), colour::dim);
}

/// Makes a table of 6 slots with 4 live tracks. After the last slot is another track, which is not counted.
void add_tracks(ViewerModel& model) {
  model.tracks.resize(track_table_bytes(7));
  auto* table = new (model.tracks.data()) TrackTable{.frame = 1, .capacity = 6, .alive = 4, .median_age = 77};
  const std::pair<TrackStatus, uint32_t> slots[] = {
      {TrackStatus::tracked, 149}, {TrackStatus::fresh, 0},      {TrackStatus::lost_outside, 60},
      {TrackStatus::tracked, 7},   {TrackStatus::tracked, 1000}, {TrackStatus::empty, 60},
      {TrackStatus::tracked, 60}};
  for (size_t i = 0; i < std::size(slots); ++i)
    table->tracks()[i] = Track{.id = 1, .status = slots[i].first, .age = slots[i].second};
}

TEST_F(PanelTexts, LiveTracksAreCountedByAge) {
  add_tracks(model);
  viewer.state().tracks.open = true;
  viewer.state().tracks.colour = TrackColour::motion;
  frames(3);
  EXPECT_EQ(ink_of("4 of 6"), colour::text);
  EXPECT_EQ(ink_of("77 frames"), colour::text);
  const std::vector<ImVec2> bars = points_of(colour::gray(140));  // four corners each
  ASSERT_EQ(bars.size(), 4u * 30);
  for (size_t i = 0; i < 30; ++i) {
    const float expected = i == 29 ? 40 : i < 2 ? 20 : 0;
    EXPECT_NEAR(bars[4 * i + 2].y - bars[4 * i].y, expected, 0.01f) << "ages from " << 5 * i;
    EXPECT_GT(bars[4 * i + 2].x, bars[4 * i].x) << i;
  }
}

TEST_F(PanelTexts, TheLegendOfTracksHasFourColours) {
  constexpr ImU32 kFirst = IM_COL32(73, 89, 219, 255), kSecond = IM_COL32(33, 173, 198, 255);
  constexpr ImU32 kThird = IM_COL32(117, 214, 91, 255), kLast = IM_COL32(252, 219, 56, 255);
  add_tracks(model);
  TracksState& look_of = viewer.state().tracks;
  look_of.open = true;
  look_of.colour = TrackColour::motion, frames(3);
  EXPECT_EQ(ink_of("10 px/frame and more"), colour::dim);
  const std::vector<ImVec2> first = points_of(kFirst), second = points_of(kSecond);
  const std::vector<ImVec2> third = points_of(kThird), last = points_of(kLast);
  ASSERT_EQ(first.size(), 2u);
  ASSERT_EQ(second.size(), 4u);
  ASSERT_EQ(third.size(), 4u);
  ASSERT_EQ(last.size(), 2u);
  const float width = last[0].x - first[0].x;
  EXPECT_GT(width, 100);
  for (const ImVec2& point : second) EXPECT_NEAR(point.x - first[0].x, width / 3, 0.1f);
  for (const ImVec2& point : third) EXPECT_NEAR(point.x - first[0].x, width * 2 / 3, 0.1f);
  look_of.colour = TrackColour::residual, frames(2);
  EXPECT_EQ(ink_of("12 levels and more"), colour::dim);
  look_of.colour = TrackColour::age, frames(2);
  EXPECT_EQ(ink_of("150 frames and more"), colour::dim);
  EXPECT_EQ(points_of(kFirst).size(), 6u) << "the bar of new tracks has the colour of their age";
  EXPECT_EQ(points_of(kLast).size(), 6u);
  EXPECT_TRUE(points_of(colour::gray(140)).empty());
}

TEST_F(PanelTexts, LossesOfTracksAreCountedByReason) {
  add_tracks(model);
  viewer.state().tracks.open = true;
  const std::pair<TrackStatus, const char*> reasons[] = {
      {TrackStatus::lost_outside, "left the picture"},
      {TrackStatus::lost_texture, "too little texture"},
      {TrackStatus::lost_residual, "patches differ"},
      {TrackStatus::lost_return, "failed the backward check"},
      {TrackStatus::lost_drift, "drifted"},
      {TrackStatus::lost_crowded, "met an older track"},
      {TrackStatus::lost_cut, "a cut or a seek"}};
  for (const auto& [status, label] : reasons)
    model.tracks_lost[static_cast<size_t>(status)] = 1000 + static_cast<uint32_t>(status);
  frames(3);
  for (const auto& [status, label] : reasons) {
    const auto name = drawn(label), count = drawn(std::to_string(1000 + static_cast<uint32_t>(status)));
    ASSERT_TRUE(name && count) << label;
    EXPECT_EQ(name->colour, colour::dim) << label;
    EXPECT_EQ(count->colour, colour::text) << label;
    EXPECT_NEAR(count->y, name->y, 0.5f) << label;
    EXPECT_GT(count->x, name->end) << label;
  }
  model.tracks_lost = {};
  model.tracks_lost[static_cast<size_t>(TrackStatus::lost_cut)] = 1, frames(2);
  const auto drift = drawn("drifted");
  ASSERT_TRUE(drift);
  for (const DrawnText& one : drawn_texts())
    if (one.text == "0" && std::abs(one.y - drift->y) < 0.5f) {
      EXPECT_EQ(one.colour, colour::faint);
      return;
    }
  ADD_FAILURE() << "no number of tracks that drifted";
}

TEST_F(PanelTexts, TheNewestFourNoticesAreOnThePicture) {
  const int64_t now = now_ns();
  model.notices.push_back({now - 3600 * int64_t{1'000'000'000}, true, "expired"});
  for (const char* text : {"one", "two", "three", "four", "five"})
    model.notices.push_back({now, false, text});
  frames(2);
  EXPECT_FALSE(drawn("expired"));
  EXPECT_FALSE(drawn("one"));
  float below = viewer.picture_rect().y + viewer.picture_rect().h;
  for (const char* text : {"five", "four", "three", "two"}) {
    const auto notice = drawn(text);
    ASSERT_TRUE(notice) << text;
    EXPECT_EQ(notice->colour, colour::text) << text;
    EXPECT_LT(notice->y, below - 10) << text << ": the newest is the lowest";
    below = notice->y;
  }
  const size_t without = points_of(colour::problem).size();
  model.notices.back().problem = true, frames(2);
  EXPECT_GT(points_of(colour::problem).size(), without) << "a problem has a mark";
  model.notices.clear(), frames(2);
  EXPECT_FALSE(drawn("five"));
}

TEST_F(PanelTexts, AConnectionThatIsLostIsExplainedOnThePicture) {
  model.live = model.live_status.live = true;
  model.live_status.reason = "connection refused", model.live_status.since_ns = now_ns();
  model.live_status.state = LiveState::playing, frames(2);
  EXPECT_FALSE(there("live/state"));
  model.live_status.state = LiveState::reconnecting, frames(2);
  EXPECT_TRUE(there("live/state"));
  EXPECT_TRUE(drawn_from("Reconnecting for ")) << "with a capital letter";
  EXPECT_TRUE(drawn("connection refused"));
  model.live = model.live_status.live = false, model.live_status.state = LiveState::playing;
  frames(2);
  EXPECT_FALSE(there("live/state"));
  model.stalled_since_ns = now_ns(), frames(2);
  EXPECT_TRUE(drawn_from("Stalled for ")) << "a file whose next picture does not arrive";
  EXPECT_EQ(ink_of("The next picture has not arrived."), colour::dim);
}

TEST_F(PanelTexts, TheStatisticsHaveEveryCount) {
  viewer.state().stats = true;
  model.counts.not_shown = 5, model.counts.repeated = 7, model.counts.late = 3;
  redraw();
  for (const char* value : {"source 29.97", "graph 412.3", "shown 30.0", "375 made", "374 shown",
                            "5 not shown", "3 drops", "3 late", "7 repeated", "768×576"})
    EXPECT_TRUE(drawn(value)) << value;
  EXPECT_EQ(ink_of("375 made"), colour::text);
  EXPECT_EQ(ink_of("latency, ms"), colour::dim);
}

TEST(Texts, LimitsOfTimesAndNumbers) {
  constexpr int64_t kSec = 1'000'000'000;
  EXPECT_EQ(brief_time(-5 * kSec), "0:00");
  EXPECT_EQ(brief_time(59 * kSec), "0:59");
  EXPECT_EQ(brief_time(3599 * kSec), "59:59");
  EXPECT_EQ(brief_time(3600 * kSec), "1:00:00");
  EXPECT_EQ(clock_text(60 * kSec - 1'000'000, false), "00:59.999");
  EXPECT_EQ(clock_text(60 * kSec, false), "01:00.000");
  EXPECT_EQ(clock_text(3600 * kSec - 1'000'000, false), "59:59.999");
  EXPECT_EQ(clock_text(3600 * kSec, false), "1:00:00.000");
  EXPECT_EQ(clock_text(5 * kSec, true), "0:00:05.000");
  EXPECT_EQ(ms_text(9'999'000), "9.999");
  EXPECT_EQ(ms_text(99'994'000), "99.99");
  EXPECT_EQ(ms_text(999'900'000), "999.9");
  EXPECT_EQ(ms_text(999'960'000), "1000");
  EXPECT_EQ(memory_text(size_t{3} << 19), "1.5 MiB");
  EXPECT_EQ(count_text(0, "drop"), "0 drops");
  EXPECT_EQ(count_text(1, "drop"), "1 drop");
  EXPECT_EQ(count_text(2, "drop"), "2 drops");
}

TEST_F(PanelTexts, TextInOneLineIsValidAndHasNoLineBreak) {
  frame();
  EXPECT_EQ(elided("a\nb\xe9.mp4", 1000), "a b\xEF\xBF\xBD.mp4");
  EXPECT_EQ(elided_front("a\nb\xe9.mp4", 1000), "a b\xEF\xBF\xBD.mp4");
  EXPECT_EQ(label_text("a####b"), "a# # # #b");
}

}  // namespace
}  // namespace lensd::ui
