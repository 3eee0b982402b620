// Keys with simulated input: loops, undo and redo, speed, volume, seeking, removal of nodes, Escape.
#include <gtest/gtest.h>

#include "core/image/tracks.hpp"
#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {
namespace {

constexpr int64_t kSeconds = 1'000'000'000;

class PressedKeys : public PanelDriver {
 protected:
  SetLoop loop(char32_t key) {
    const SetLoop* sent = only<SetLoop>(type(key));
    EXPECT_TRUE(sent);
    return sent ? *sent : SetLoop{};
  }
  double speed(char32_t key) {
    const SetSpeed* sent = only<SetSpeed>(type(key));
    EXPECT_TRUE(sent);
    return sent ? sent->speed : 0;
  }
  void add_chapters() {
    for (const int64_t start : {0, 20, 40, 60}) model.chapters.push_back({start * kSeconds, ""});
  }
  /// Presses `key`. Returns the target of the seek in seconds; -1 if there is none.
  int64_t step(Key key) {
    const Seek* seek = only<Seek>(press({.key = key}));
    return seek ? seek->position_ns / kSeconds : -1;
  }
  bool enabled(const char* node) { return viewer.state().editor.graph().find(node)->enabled; }
};

TEST(HeldKeys, CapitalsAndShortcutsAreOtherKeys) {
  InputState input;
  input.hold(U'b', true, true);
  EXPECT_FALSE(input.held('b')) << "B or Ctrl+b";
  input.hold(U'b', true, false), input.hold(U'é', true, false), input.hold(U'7', true, false);
  EXPECT_TRUE(input.held('b'));
  EXPECT_EQ(input.held_letters, 1u << 1);
  input.hold(U'b', false, true);
  EXPECT_FALSE(input.held('b')) << "released after Shift was pressed";
}

TEST_F(PressedKeys, BothCasesOfIShowTheStatistics) {
  for (const char32_t key : {U'i', U'I'}) {
    type(key);
    EXPECT_TRUE(viewer.state().stats);
    type(key);
    EXPECT_FALSE(viewer.state().stats);
  }
}

TEST_F(PressedKeys, LoopingTheFileKeepsAAndB) {
  model.loop_a_ns = 1'000'000'000, model.loop_b_ns = 3'000'000'000;
  for (const bool on : {false, true}) {
    model.loop_file = on;
    const SetFileLoop* sent = only<SetFileLoop>(type('L'));
    ASSERT_TRUE(sent);
    EXPECT_EQ(sent->on, !on);
  }
}

TEST_F(PressedKeys, TheABLoopHasNoEndAtItsStart) {
  model.position_ns = model.loop_a_ns = 5'000'000'000, model.loop_b_ns = -1;
  EXPECT_TRUE(type('l').empty()) << "B would be A";
  ASSERT_EQ(viewer.requests().messages.size(), 1u);
  EXPECT_NE(viewer.requests().messages.front().second.find("B must be after A"), std::string::npos);
  model.position_ns = 5'040'000'000;
  EXPECT_EQ(loop('l').b_ns, 5'040'000'000);
}

TEST_F(PressedKeys, TheABLoopIsSetInThreeStepsAndKeepsTheFileLoop) {
  model.loop_file = true, model.loop_a_ns = model.loop_b_ns = -1;
  model.position_ns = 5'000'000'000;
  SetLoop sent = loop('l');
  EXPECT_TRUE(sent.file);
  EXPECT_EQ(sent.a_ns, 5'000'000'000);
  EXPECT_EQ(sent.b_ns, -1);

  model.loop_a_ns = 5'000'000'000, model.position_ns = 8'000'000'000;
  sent = loop('l');
  EXPECT_EQ(sent.a_ns, 5'000'000'000);
  EXPECT_EQ(sent.b_ns, 8'000'000'000);

  model.position_ns = 2'000'000'000;  // before A
  sent = loop('l');
  EXPECT_EQ(sent.a_ns, 2'000'000'000);
  EXPECT_EQ(sent.b_ns, 5'000'000'000);

  model.loop_b_ns = 8'000'000'000;
  sent = loop('l');
  EXPECT_TRUE(sent.file);
  EXPECT_EQ(sent.a_ns, -1);
  EXPECT_EQ(sent.b_ns, -1);
}

TEST_F(PressedKeys, UndoAndBothKeysOfRedo) {
  frames(2);
  for (const KeyPress redo :
       {KeyPress{.character = 'y', .ctrl = true}, KeyPress{.character = 'z', .ctrl = true, .shift = true}}) {
    viewer.state().editor.set_enabled("edges", false);
    frame();
    ASSERT_FALSE(enabled("edges"));
    press({.character = 'z', .ctrl = true}), frame();
    EXPECT_TRUE(enabled("edges"));
    press(redo), frame();
    EXPECT_FALSE(enabled("edges"));
    press({.character = 'z', .ctrl = true}), frame();
    EXPECT_TRUE(enabled("edges"));
  }
}

TEST_F(PressedKeys, SpeedStepsSnapToNormalAndStayInTheirLimits) {
  model.speed = 1;
  EXPECT_DOUBLE_EQ(speed(']'), 1.1);
  EXPECT_NEAR(speed('['), 1 / 1.1, 1e-12);
  model.speed = 1.1 * 0.99;
  EXPECT_DOUBLE_EQ(speed('['), 1) << "snaps to normal speed";
  model.speed = kMaxSpeed;
  EXPECT_DOUBLE_EQ(speed(']'), kMaxSpeed);
  model.speed = kMinSpeed;
  EXPECT_DOUBLE_EQ(speed('['), kMinSpeed);
  model.live = true;
  EXPECT_TRUE(type(']').empty()) << "the next file would play at that speed";
}

TEST_F(PressedKeys, VolumeStepsStayInTheirLimitsAndMToggles) {
  model.volume = 50;
  EXPECT_EQ(only<SetVolume>(type('*'))->percent, 52);
  EXPECT_EQ(only<SetVolume>(type('/'))->percent, 48);
  model.volume = kMaxVolume;
  EXPECT_EQ(only<SetVolume>(type('*'))->percent, kMaxVolume);
  model.volume = 1;
  EXPECT_EQ(only<SetVolume>(type('/'))->percent, 0);
  EXPECT_TRUE(only<SetMute>(type('m'))->on);
  model.muted = true;
  EXPECT_FALSE(only<SetMute>(type('m'))->on);
}

/// As on a slow display.
TEST_F(PressedKeys, EveryPressWithinAFrameCounts) {
  const auto press_twice = [&](char32_t c) {
    InputState input;
    input.presses.assign(2, {.character = c});
    return frame(input);
  };
  model.speed = 1, model.volume = 50, model.muted = model.paused = model.loop_file = false;
  EXPECT_DOUBLE_EQ(std::get<SetSpeed>(press_twice(']').back()).speed, 1.1 * 1.1);
  EXPECT_EQ(std::get<SetVolume>(press_twice('*').back()).percent, 54);
  EXPECT_FALSE(std::get<SetMute>(press_twice('m').back()).on);
  ASSERT_EQ(viewer.requests().messages.size(), 2u);
  EXPECT_EQ(viewer.requests().messages[0].second, "Sound: muted");
  EXPECT_EQ(viewer.requests().messages[1].second, "Sound: on");
  EXPECT_FALSE(std::get<Pause>(press_twice(' ').back()).paused);
  EXPECT_FALSE(std::get<SetFileLoop>(press_twice('L').back()).on);
}

TEST_F(PressedKeys, TheKeysOfBothLoopsCountWithinAFrame) {
  const auto press_both = [&](char32_t first, char32_t second) {
    InputState input;
    input.presses = {KeyPress{.character = first}, KeyPress{.character = second}};
    return frame(input);
  };
  model.loop_file = false, model.loop_a_ns = model.loop_b_ns = -1;
  model.position_ns = 5'000'000'000;
  const SetLoop begun = std::get<SetLoop>(press_both('L', 'l').back());
  EXPECT_TRUE(begun.file) << "L before it has set this";
  EXPECT_EQ(begun.a_ns, 5'000'000'000);
  EXPECT_TRUE(std::get<SetFileLoop>(press_both('l', 'L').back()).on);

  model.loop_a_ns = 2'000'000'000;
  const auto set_and_cleared = press_both('l', 'l');
  ASSERT_EQ(set_and_cleared.size(), 2u);
  EXPECT_EQ(std::get<SetLoop>(set_and_cleared.front()).b_ns, 5'000'000'000);
  EXPECT_EQ(std::get<SetLoop>(set_and_cleared.back()).a_ns, -1);

  model.loop_b_ns = 3'000'000'000;
  const auto cleared_and_begun = press_both('l', 'l');
  ASSERT_EQ(cleared_and_begun.size(), 2u);
  EXPECT_EQ(std::get<SetLoop>(cleared_and_begun.front()).a_ns, -1);
  EXPECT_EQ(std::get<SetLoop>(cleared_and_begun.back()).a_ns, 5'000'000'000);
}

TEST_F(PressedKeys, ArrowsSeekOnlyWhereTheSourceCan) {
  EXPECT_EQ(only<Seek>(press({.key = Key::right}))->position_ns, 5'000'000'000);
  EXPECT_TRUE(only<Seek>(press({.key = Key::right}))->relative);
  EXPECT_EQ(only<Seek>(press({.key = Key::down}))->position_ns, -60'000'000'000);
  EXPECT_EQ(only<Seek>(press({.key = Key::end}))->position_ns, model.duration_ns);
}

TEST_F(PressedKeys, ASourceThatCannotSeekGetsANoticeInstead) {
  model.seekable = false, model.duration_ns = 0;
  for (const KeyPress key : {KeyPress{.key = Key::right},
                             {.key = Key::up},
                             {.key = Key::home},
                             {.key = Key::end},
                             {.character = ','},
                             {.character = 'l'},
                             {.character = 'L'}}) {
    EXPECT_TRUE(press(key).empty());
    ASSERT_EQ(viewer.requests().messages.size(), 1u);
    EXPECT_NE(viewer.requests().messages.front().second.find("This source cannot"), std::string::npos);
  }
  EXPECT_TRUE(only<Pause>(type(' '))->paused);
  model.ended = true;
  EXPECT_TRUE(type(' ').empty()) << "it cannot be played again";
  EXPECT_EQ(viewer.requests().messages.size(), 1u);
}

/// The picture of a seek may come later than the next press.
TEST_F(PressedKeys, StepsToChaptersAddUp) {
  add_chapters();
  model.position_ns = 5 * kSeconds;
  EXPECT_EQ(step(Key::page_up), 20);
  EXPECT_EQ(step(Key::page_up), 40);
  model.position_ns = 41 * kSeconds;
  EXPECT_EQ(step(Key::page_up), 60);
  EXPECT_EQ(step(Key::page_up), -1) << "the last one";
  model.position_ns = 65 * kSeconds;
  EXPECT_EQ(step(Key::page_down), 40) << "from the start of the last chapter";
  ++model.pipeline, model.opened_with = viewer.state().editor.graph();
  EXPECT_EQ(step(Key::page_down), 60) << "of another source";
}

TEST_F(PressedKeys, StepsToChaptersStartFromLaterSeeks) {
  add_chapters();
  model.position_ns = 45 * kSeconds;
  EXPECT_EQ(step(Key::page_up), 60);
  EXPECT_EQ(press({.key = Key::home}).size(), 1u);
  model.position_ns = 0;
  EXPECT_EQ(step(Key::page_up), 20) << "from the start, not from the last step";
  EXPECT_EQ(press({.key = Key::left}).size(), 1u);
  EXPECT_EQ(step(Key::page_up), 20) << "from 15 s, whose picture is not shown yet";
  EXPECT_EQ(press({.key = Key::right}).size(), 1u);
  EXPECT_EQ(step(Key::page_up), 40) << "from 25 s";
  model.position_ns = 41 * kSeconds;
  EXPECT_EQ(press({.key = Key::left}).size(), 1u);
  model.position_ns = 36 * kSeconds;
  EXPECT_EQ(step(Key::page_up), 40) << "from the shown position";
}

TEST_F(PressedKeys, EndNeedsAKnownEnd) {
  model.duration_ns = 0;
  EXPECT_TRUE(press({.key = Key::end}).empty()) << "would jump to the start";
  EXPECT_EQ(viewer.requests().messages.size(), 1u);
  model.duration_ns = 10'000'000'000, model.position_ns = 12'000'000'000;
  EXPECT_TRUE(press({.key = Key::end}).empty()) << "the file has grown, so this would jump back";
  EXPECT_EQ(viewer.requests().messages.size(), 1u);
}

TEST_F(PressedKeys, EndOfAStillPictureDoesNothing) {
  model.image = true, model.duration_ns = 0;
  EXPECT_TRUE(press({.key = Key::end}).empty());
  EXPECT_TRUE(viewer.requests().messages.empty());
}

TEST_F(PressedKeys, TracksAreHiddenOnlyIfThereAreSome) {
  type('t');
  EXPECT_TRUE(viewer.state().tracks.overlay) << "tracks of a later klt node would be missing";
  EXPECT_EQ(viewer.requests().messages.size(), 1u);
  model.tracks.resize(track_table_bytes(1));
  type('t');
  EXPECT_FALSE(viewer.state().tracks.overlay);
  EXPECT_TRUE(viewer.requests().messages.empty());
}

TEST_F(PressedKeys, EndPausesInAPlaylist) {
  model.playlist = std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"a", "b"});
  const Commands sent = press({.key = Key::end});
  ASSERT_EQ(sent.size(), 2u);
  ASSERT_TRUE(std::get_if<Pause>(&sent[0]));
  EXPECT_TRUE(std::get_if<Pause>(&sent[0])->paused);
  ASSERT_TRUE(std::get_if<Seek>(&sent[1]));
  EXPECT_EQ(std::get_if<Seek>(&sent[1])->position_ns, model.duration_ns);
  model.loop_file = true;
  EXPECT_TRUE(only<Seek>(press({.key = Key::end}))) << "a loop stays in this source";
}

TEST_F(PressedKeys, SpacePlaysAFileWithoutAnnouncedLengthAgain) {
  model.duration_ns = 0, model.ended = true;
  EXPECT_FALSE(only<Pause>(type(' '))->paused);
}

TEST_F(PressedKeys, LayoutsWithoutLatinLettersUseTheSecondCharacter) {
  const auto typed = [&](char32_t c, char32_t second, bool ctrl = false) {
    return press({.character = c, .second_character = second, .ctrl = ctrl});
  };
  EXPECT_TRUE(only<SetMute>(typed(U'ь', 'm')));
  EXPECT_TRUE(only<Step>(typed('.', '/'))) << "the layout's own character comes first";
  typed(U'Я', 'q');
  EXPECT_TRUE(viewer.requests().quit);
  frames(2);
  viewer.state().editor.set_enabled("edges", false), frame();
  typed(0, 'z', true), frame();
  EXPECT_TRUE(enabled("edges")) << "Ctrl+z in a layout whose key has another letter";
  EXPECT_TRUE(typed(U'ы', 0).empty());
}

TEST_F(PressedKeys, RemovingTheSelectedNodeSelectsTheNext) {
  frames(2);
  std::string& selected = viewer.state().graph.selected;
  selected = "edges";
  press({.key = Key::remove}), frame();
  EXPECT_EQ(selected, "convolve");
  press({.key = Key::remove}), frame();
  EXPECT_EQ(selected, "median") << "there is no next node";
  press({.key = Key::remove}), frame();
  EXPECT_EQ(selected, "");
  EXPECT_TRUE(viewer.state().editor.graph().nodes.empty());
}

TEST_F(PressedKeys, EscapeClosesWindowsBeforeItLeavesFullscreen) {
  frames(2);
  viewer.state().help = viewer.state().log.open = true;
  press({.key = Key::escape});
  EXPECT_FALSE(viewer.state().help);
  EXPECT_TRUE(viewer.state().log.open);
  EXPECT_FALSE(viewer.requests().leave_fullscreen);
  press({.key = Key::escape});
  EXPECT_FALSE(viewer.state().log.open);
  EXPECT_FALSE(viewer.requests().leave_fullscreen);
  press({.key = Key::escape});
  EXPECT_TRUE(viewer.requests().leave_fullscreen);
}

}  // namespace
}  // namespace lensd::ui
