// Viewing files: the timeline, aspect ratios, the picture's menu, the playlist.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/unit/ui/panel_driver.hpp"
#include "ui/keys.hpp"

namespace lensd::ui {
namespace {

class Preview : public PanelDriver {
 protected:
  void right_click_on_picture() {
    frames(3);
    const Rect area = rect("picture");
    point(area.x + area.w / 2, area.y + area.h / 3), frames(2);
    button(true, 1), frame();
    button(false, 1), frames(3);
  }
};

TEST_F(Preview, HomeAndEndSeek) {
  EXPECT_EQ(only<Seek>(press({.key = Key::home}))->position_ns, 0);
  const Commands sent = press({.key = Key::end});
  EXPECT_EQ(only<Seek>(sent)->position_ns, model.duration_ns);
  EXPECT_FALSE(only<Seek>(sent)->relative);
  model.seekable = false;
  EXPECT_TRUE(press({.key = Key::end}).empty());
}

TEST_F(Preview, TheWheelSeeksOnTheTimeLineOnly) {
  frames(3);
  point_at("transport/seek");
  wheel(1);
  const Commands sent = frame();
  ASSERT_TRUE(only<Seek>(sent));
  EXPECT_EQ(only<Seek>(sent)->position_ns, 5'000'000'000);
  EXPECT_TRUE(only<Seek>(sent)->relative);
  wheel(-3);
  const Commands several = frame();
  ASSERT_TRUE(only<Seek>(several));
  EXPECT_EQ(only<Seek>(several)->position_ns, -15'000'000'000) << "three clicks in one display frame";
  wheel(0.2f);
  EXPECT_EQ(only<Seek>(frame())->position_ns, 5'000'000'000) << "a touchpad";
  frame();
  EXPECT_TRUE(viewer.view().fits()) << "the picture was zoomed";
  point_at("transport/pause");
  wheel(1);
  EXPECT_TRUE(frame().empty());
}

TEST_F(Preview, TheTimelineHasAQuarterOfAnyWindow) {
  press({.key = Key::tab});
  for (const float width : {480.f, 560.f, 640.f, 700.f, 720.f, 800.f, 900.f, 1000.f, 1280.f, 1920.f}) {
    ImGui::GetIO().DisplaySize.x = width;
    point(width / 2, ImGui::GetIO().DisplaySize.y - 5), frames(3);
    EXPECT_GE(rect("transport/seek").w, 0.24f * width) << width;
  }
}

TEST_F(Preview, TheKeysCoverTheThumbnail) {
  frames(3);
  point_at("transport/seek");
  frames(3);
  EXPECT_GE(viewer.state().thumbnail.wanted_ns, 0);
  type('?');
  frames(3);
  EXPECT_EQ(viewer.state().thumbnail.wanted_ns, -1);
}

TEST_F(Preview, ADragOfTheTimelineEndsWithItsSource) {
  frames(3);
  point_at("transport/seek", 0.5f);
  button(true);
  EXPECT_TRUE(only<Seek>(frame()));
  EXPECT_TRUE(viewer.state().seek_held);
  const Rect bar = rect("transport/seek");
  point(bar.x + bar.w + 20, bar.y + bar.h / 2);
  ASSERT_TRUE(only<Seek>(frame()));
  EXPECT_EQ(only<Seek>(frame()), nullptr) << "the pointer rests";
  ++model.pipeline, model.duration_ns += 1'000'000'000;  // the next source of a playlist
  const auto seeks = [&] {
    const Commands& sent = frame();
    return std::any_of(sent.begin(), sent.end(), [](const Command& c) { return std::get_if<Seek>(&c); });
  };
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(seeks()) << "the handle is still held";
  EXPECT_FALSE(viewer.state().seek_held);
  point(bar.x + bar.w / 2, bar.y + bar.h / 2);
  EXPECT_FALSE(seeks());
  button(false), frames(2);
  button(true);
  EXPECT_TRUE(seeks()) << "a new drag";
  button(false), frame();
  EXPECT_FALSE(viewer.state().seek_held);
}

TEST_F(Preview, ADragIsForgottenIfTheNextSourceHasNoSeekBar) {
  frames(3);
  point_at("transport/seek", 0.75f);
  button(true), frame();
  button(false), frame();
  EXPECT_GE(viewer.state().seek_ns, 0) << "until the pipeline has seeked";
  ++model.pipeline, model.seekable = false, model.live = true;
  frame();
  EXPECT_EQ(viewer.state().seek_ns, -1) << "the bar shows the position of the new source";
}

TEST_F(Preview, SourcesThatAreReadOnceSayThatTheyHaveNoSound) {
  model.sound = SoundState::playing;
  frames(3);
  EXPECT_TRUE(there("transport/volume"));
  EXPECT_FALSE(there("transport/no_sound"));
  model.sound = SoundState::refused;
  frames(3);
  EXPECT_FALSE(there("transport/volume"));
  EXPECT_LE(rect("transport/no_sound").w, 56 + 1);
}

TEST_F(Preview, TheFirstLShowsAMark) {
  frames(3);
  EXPECT_FALSE(there("transport/loop_A"));
  const Commands sent = type('l');
  ASSERT_TRUE(only<SetLoop>(sent));
  model.loop_a_ns = only<SetLoop>(sent)->a_ns;
  ASSERT_EQ(viewer.requests().messages.size(), 1u);
  frame();
  EXPECT_TRUE(there("transport/loop_A"));
  EXPECT_FALSE(there("transport/loop_B"));
  model.loop_b_ns = model.duration_ns;
  frame();
  EXPECT_NEAR(rect("transport/loop_B").x, rect("transport/seek").x + rect("transport/seek").w, 2);
}

TEST_F(Preview, AspectRatiosReplaceTheSources) {
  model.pixel_aspect = 1.5;
  frame();
  EXPECT_DOUBLE_EQ(viewer.view().pixel_aspect, 1.5);
  type('A'), frame();
  EXPECT_NEAR(viewer.view().pixel_aspect * 768 / 576, 16.0 / 9, 1e-9);
  for (size_t i = 2; i < aspect_choices().size(); ++i) type('A');
  frame();
  EXPECT_DOUBLE_EQ(viewer.view().pixel_aspect, 1) << "square pixels";
  type('A'), frame();
  EXPECT_DOUBLE_EQ(viewer.view().pixel_aspect, 1.5);
  EXPECT_DOUBLE_EQ(chosen_pixel_aspect({"4:3", 4.0 / 3}, 1.5, {}), 1.5) << "no picture yet";
}

TEST_F(Preview, ABypassShowsTheSourceInItsShape) {
  model.pixel_aspect = 0.75, model.source_aspect = 1.25;
  InputState held;
  held.held_letters = 1u << ('b' - 'a');
  frame(held), frame(held);
  EXPECT_DOUBLE_EQ(viewer.view().pixel_aspect, 1.25);
  frames(2);
  EXPECT_DOUBLE_EQ(viewer.view().pixel_aspect, 0.75);
}

TEST_F(Preview, ARightClickOpensTheMenuOfThePicture) {
  model.source_path = "/videos/clip.mp4";
  right_click_on_picture();
  ASSERT_TRUE(there("menu/copy_path"));
  EXPECT_TRUE(viewer.state().tracks.overlay);
  click("menu/tracks");
  EXPECT_TRUE(viewer.state().tracks.overlay) << "there are no tracks";
  EXPECT_TRUE(there("menu/copy_path"));
  click("menu/copy_path");
  EXPECT_STREQ(ImGui::GetClipboardText(), "/videos/clip.mp4");
  EXPECT_FALSE(there("menu/copy_path")) << "the menu stays open";
  right_click_on_picture();
  EXPECT_TRUE(requests_of_click("menu/fullscreen").toggle_fullscreen);
}

TEST_F(Preview, VideoTracksAreChosenByKeyAndInTheMenu) {
  model.video_tracks = {"320×240 h264", "640×480 hevc, ger"}, model.video_track = 2;
  frame();
  press({.character = '_'});
  EXPECT_EQ(viewer.requests().video_track, 1) << "the first one follows the last one";
  frame();
  model.video_tracks.pop_back(), model.video_track = 1;
  press({.character = '_'});
  EXPECT_EQ(viewer.requests().video_track, std::nullopt);
}

TEST_F(Preview, ARightClickOnAControlOpensNoMenu) {
  click("graph/edges/low", 1);
  EXPECT_FALSE(there("menu/copy_path"));
}

TEST_F(Preview, ThePlaylistIsAListInThePanel) {
  frames(2);
  EXPECT_FALSE(there("playlist/count"));
  model.playlist = std::make_shared<const std::vector<std::string>>(
      std::vector<std::string>{"/videos/a.mp4", "/videos/b.mp4", "/videos/c.mp4"});
  point(640, 300), frames(3);
  ASSERT_TRUE(there("playlist/3"));
  EXPECT_EQ(requests_of_click("playlist/3").play_index, 2u);
  EXPECT_EQ(requests_of_click("playlist/previous").play_step, -1);
  EXPECT_EQ(requests_of_click("playlist/next").play_step, 1);
  type('>');
  EXPECT_EQ(viewer.requests().play_step, 1);
  type('<');
  EXPECT_EQ(viewer.requests().play_step, -1);
  click("playlist/fold"), frame();
  EXPECT_FALSE(there("playlist/3"));
  EXPECT_TRUE(there("playlist/next"));
}

TEST_F(Preview, OfALongPlaylistOnlyVisibleRowsAreDrawn) {
  std::vector<std::string> files;
  for (int i = 1; i <= 5000; ++i) files.push_back(fmt::format("/videos/{}.mp4", i));
  model.playlist = std::make_shared<const std::vector<std::string>>(std::move(files));
  model.playlist_at = 4000;
  point(640, 300), frames(4);
  EXPECT_TRUE(there("playlist/4001")) << "the list scrolls to the current one";
  EXPECT_FALSE(there("playlist/1"));
  EXPECT_FALSE(there("playlist/5000"));
  model.playlist_at = 4999, frames(4);
  const Rect last = rect("playlist/5000"), before = rect("playlist/4999");
  EXPECT_NEAR(last.y, before.y + before.h, 0.5f);
}

TEST_F(Preview, AnotherPlaylistIsScrolledToItsCurrentSource) {
  const auto list = [](const char* folder) {
    std::vector<std::string> files;
    for (int i = 1; i <= 100; ++i) files.push_back(fmt::format("{}/{}.mp4", folder, i));
    return std::make_shared<const std::vector<std::string>>(std::move(files));
  };
  model.playlist = list("/videos");
  point(640, 300), frames(4);
  point_at("playlist/3");
  for (int i = 0; i < 10; ++i) wheel(-2), frames(2);
  EXPECT_FALSE(there("playlist/1"));
  model.playlist = list("/other"), frames(4);
  EXPECT_TRUE(there("playlist/1"));
}

TEST_F(Preview, AnIdlePointerOverTheBarePictureIsHidden) {
  const auto idle = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1050));
    frames(2);
    return ImGui::GetMouseCursor() == ImGuiMouseCursor_None;
  };
  frames(2);
  const Rect area = rect("picture");
  point(area.x + area.w / 2, area.y + area.h / 2), frames(2);
  EXPECT_FALSE(idle()) << "the panels are shown";
  viewer.state().panels = false, frames(2);
  EXPECT_TRUE(idle());
  point(area.x + area.w / 2 + 5, area.y + area.h / 2), frame();
  EXPECT_EQ(ImGui::GetMouseCursor(), ImGuiMouseCursor_Arrow) << "a movement shows it";
  viewer.state().probe.on = true;
  EXPECT_FALSE(idle()) << "the probe is at the pointer";
}

TEST_F(Preview, ANodeAtTheOutputCyclesThroughItsValues) {
  frames(2);
  GraphEditor& editor = viewer.state().editor;
  const std::string output = editor.graph().output;
  const auto cycle = [&] { editor.cycle_at_output("median", "turn", "border", {"reflect", "wrap"}); };
  const auto border = [&] {
    const NodeDesc* node = editor.graph().find("turn");
    return node ? to_string(value_of(*node, *model.registry->find("median")->schema().find("border"))) : "";
  };
  cycle();
  EXPECT_EQ(border(), "reflect");
  EXPECT_EQ(editor.graph().output, "turn");
  EXPECT_EQ(editor.graph().find("turn")->inputs.front(), output);
  cycle();
  EXPECT_EQ(border(), "wrap");
  cycle();
  EXPECT_EQ(border(), "");
  EXPECT_EQ(editor.graph().output, output);
  EXPECT_TRUE(editor.history().can_undo());
}

TEST(Placement, HalvesHaveAGapOfTwo) {
  const auto [left, right] = halves({10, 20, 101, 50});
  EXPECT_EQ(left.x, 10);
  EXPECT_EQ(left.w, 49);
  EXPECT_EQ(right.x, 62);
  EXPECT_EQ(right.w, 49);
  EXPECT_EQ(right.y, 20);
  EXPECT_EQ(right.h, 50);
  EXPECT_EQ(halves({0, 0, 1, 1}).first.w, 1);
}

TEST(Placement, TheFittingScaleIsTheSmallerOne) {
  EXPECT_DOUBLE_EQ(fit_scale({100, 50}, {0, 0, 200, 200}), 2);
  EXPECT_DOUBLE_EQ(fit_scale({50, 100}, {0, 0, 200, 200}), 2);
  EXPECT_DOUBLE_EQ(fit_scale({100, 50}, {0, 0, 200, 200}, 2), 1);
  EXPECT_DOUBLE_EQ(fit_scale({0, 50}, {0, 0, 200, 200}), 1) << "no picture";
  EXPECT_DOUBLE_EQ(fit_scale({100'000, 1}, {0, 0, 1, 1}), 1e-4);
}

TEST(Placement, ZoomHasLimitsAndSnapsToTheFit) {
  const Rect area{0, 0, 640, 480};
  const auto zoomed = [&](Extent picture, double from, double to) {
    return zoomed_at(picture, area, {.zoom = from}, 320, 240, to / from).zoom;
  };
  EXPECT_DOUBLE_EQ(zoomed({640, 480}, 0.5, 0.01), 0.1);
  EXPECT_DOUBLE_EQ(zoomed({640, 480}, 2, 1000), 64);
  EXPECT_DOUBLE_EQ(zoomed({16, 16}, 0.5, 0.001), 1 / 30.) << "1:1";
  EXPECT_DOUBLE_EQ(zoomed({16, 16}, 2, 1000), 64 / 30.);
  EXPECT_DOUBLE_EQ(zoomed({640, 480}, 1.1, 1.019), 1);
  EXPECT_DOUBLE_EQ(zoomed({640, 480}, 0.9, 0.981), 1);
  EXPECT_NEAR(zoomed({640, 480}, 1.1, 1.021), 1.021, 1e-12);
  EXPECT_NEAR(zoomed({640, 480}, 1.01, 1.015), 1.015, 1e-12) << "small steps leave the fit";
}

TEST(Placement, PicturesMoveUpToTheirEdge) {
  const Rect area{0, 0, 640, 480};
  EXPECT_DOUBLE_EQ(panned({640, 480}, area, {}, 64, 0).centre_x, 0.4);
  EXPECT_DOUBLE_EQ(panned({640, 480}, area, {}, 0, 48).centre_y, 0.4);
  EXPECT_DOUBLE_EQ(panned({640, 480}, area, {.zoom = 2}, -64, 0).centre_x, 0.55);
  EXPECT_DOUBLE_EQ(panned({640, 480}, area, {}, 1000, -1000).centre_x, 0);
  EXPECT_DOUBLE_EQ(panned({640, 480}, area, {}, 1000, -1000).centre_y, 1);
}

TEST(Placement, AChosenAspectGivesTheShapeOfPixels) {
  const auto choices = aspect_choices();
  ASSERT_EQ(choices.size(), 5u);
  EXPECT_DOUBLE_EQ(chosen_pixel_aspect(choices[0], 1.5, {720, 576}), 1.5);
  EXPECT_DOUBLE_EQ(chosen_pixel_aspect(choices[1], 1.5, {720, 576}), 16.0 / 9 * 576 / 720);
  EXPECT_DOUBLE_EQ(chosen_pixel_aspect(choices[1], 1.5, {}), 1.5) << "no picture";
  EXPECT_DOUBLE_EQ(chosen_pixel_aspect(choices[4], 1.5, {720, 576}), 1);
}

}  // namespace
}  // namespace lensd::ui
