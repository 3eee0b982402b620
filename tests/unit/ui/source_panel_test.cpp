// The source row and the dialog with simulated input, without a display: offered choices and requests.
#include <gtest/gtest.h>

#include "core/base/clock.hpp"
#include "tests/unit/ui/panel_driver.hpp"
#include "ui/panels/source/source_list.hpp"

namespace lensd::ui {
namespace {

using Kind = FolderEntry::Kind;

class SourcePanel : public PanelDriver {
 protected:
  void SetUp() override {
    PanelDriver::SetUp();
    model.source_folder = "/videos";
    publish();
    frames(3);
  }
  void publish() { model.choices = std::make_shared<const SourceChoices>(choices); }
  void follow(const Commands&) override {
    const ViewerRequests& r = viewer.requests();
    if (r.open) requests.push_back(*r.open);
    if (!r.remove_recent.empty()) forgotten.push_back(r.remove_recent);
    cancelled += r.cancel_open ? 1 : 0;
  }
  void press(KeyPress key) { PanelDriver::press(key), frame(); }
  void open_dialog() {
    press({.character = 'o', .ctrl = true});
    frames(2);
    ASSERT_TRUE(there("source/path"));
  }
  /// Simulates the success of a request: the number of the pipeline changes.
  void play() { ++model.pipeline, frames(3); }

  SourceChoices choices = test::sample_choices();
  std::vector<SourceRequest> requests;
  std::vector<std::string> forgotten;
  int cancelled = 0;
};

TEST_F(SourcePanel, TheButtonIsThereWhetherTheSideIsOpenOrFolded) {
  EXPECT_TRUE(there("source/name"));
  click("source/open");
  frame();
  EXPECT_TRUE(there("source/path"));
  press({.key = Key::escape});
  frame();
  EXPECT_FALSE(there("source/path"));
  viewer.state().left = Fold::folded;
  frames(2);
  click("source/open");
  frame();
  EXPECT_TRUE(there("source/path"));
  press({.key = Key::escape});
  viewer.state().panels = false;
  frames(2);
  open_dialog();
}

TEST_F(SourcePanel, EnterOpensWhatWasTypedAndTheDialogGoesWhenItPlays) {
  open_dialog();
  type("rtsp://camera.local/stream");
  EXPECT_FALSE(viewer.requests().quit) << "letters are text";
  press({.key = Key::enter});
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "rtsp://camera.local/stream");
  EXPECT_FALSE(requests[0].wait);
  EXPECT_TRUE(there("source/path")) << "until it plays";
  play();
  EXPECT_FALSE(there("source/path"));
}

TEST_F(SourcePanel, TheDialogStaysWhenTheNextSourceOfAPlaylistPlays) {
  open_dialog();
  type("rtsp://cam");
  play();
  ASSERT_TRUE(there("source/path"));
  type("q");
  EXPECT_FALSE(viewer.requests().quit);
  EXPECT_EQ(viewer.state().source.text, "rtsp://camq");
  press({.key = Key::enter});
  model.progress.failures = 1, model.progress.problem = "no answer";
  frames(2);
  play();
  EXPECT_TRUE(there("source/path")) << "the request has failed";
  const auto drop = [&](const char* path) {
    InputState input;
    input.dropped_files = {path};
    frame(input);
  };
  drop("/graphs/soft.toml"), play();
  EXPECT_TRUE(there("source/path")) << "a preset is no source";
  drop("/videos/missing.mp4");
  for (const char* opening : {"missing.mp4", ""}) model.progress.opening = opening, frame();
  play();
  EXPECT_TRUE(there("source/path")) << "the dropped file could not be opened";
  drop("/videos/clip.mp4"), play();
  EXPECT_FALSE(there("source/path")) << "the dropped file plays";
}

TEST_F(SourcePanel, EnterIsProcessedAfterTheTextBeforeIt) {
  open_dialog();
  type_at_once("missing");
  press({.key = Key::enter});
  frames(30);
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "/videos/missing");
}

TEST_F(SourcePanel, TypingNarrowsTheListAndEnterOpensItsBestLine) {
  open_dialog();
  EXPECT_TRUE(there("source/file/clip.mp4"));
  EXPECT_FALSE(there("source/file/notes.txt")) << "no media: only where it is typed";
  type("sec");
  EXPECT_FALSE(there("source/file/clip.mp4"));
  press({.key = Key::enter});
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "/videos/second.mkv");
}

TEST_F(SourcePanel, TheFileThatIsShownIsChosen) {
  model.source_path = "/videos/second.mkv", model.source_folder = "/elsewhere";
  frames(3);
  const Rect area = rect("picture");
  point(area.x + area.w / 2, area.y + area.h / 3), frames(2);
  button(true, 1), frame();
  button(false, 1), frames(3);
  click("menu/folder"), frames(3);
  EXPECT_TRUE(there("source/file/second.mkv"));
  press({.key = Key::enter});
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "/videos/second.mkv");
  press({.key = Key::escape});
  model.source_path.clear();
  open_dialog();
  press({.key = Key::enter});
  EXPECT_EQ(requests.size(), 1u) << "nothing is chosen";
}

TEST_F(SourcePanel, AFileOfAnotherKindIsFoundByItsName) {
  open_dialog();
  type("notes.txt");
  press({.key = Key::enter});
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "/videos/notes.txt");
}

TEST_F(SourcePanel, ANameThatIsNotListedIsOfTheShownFolder) {
  open_dialog();
  type("'nothing.mp4'");
  press({.key = Key::enter});
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "/videos/nothing.mp4");
}

TEST_F(SourcePanel, InALargeFolderTheFinderSearchesTheTypedName) {
  const SourceState& s = viewer.state().source;
  open_dialog();
  type("las");
  EXPECT_EQ(s.listed_part, "") << "the list is complete";
  choices.files.cut = true;
  publish();
  frames(2);
  EXPECT_EQ(s.listed_part, "las");
  press({.key = Key::enter});
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "/videos/las") << "no listed name matches yet";

  choices.files.part = "las", choices.files.cut = false;
  choices.files.entries = {{Kind::file, "last-one.mp4", 5, 0}};
  publish();
  frames(2);
  EXPECT_EQ(s.listed_part, "las") << "all names would be too many";
  EXPECT_TRUE(there("source/file/last-one.mp4"));
  click("source/up"), frames(2);
  EXPECT_EQ(s.listed_part, "") << "another folder";
}

TEST_F(SourcePanel, ArrowsChooseAndFoldersAreEntered) {
  open_dialog();
  press({.key = Key::down});
  press({.key = Key::enter});
  EXPECT_TRUE(requests.empty());
  frame();
  EXPECT_EQ(viewer.state().source.listed, "/videos/old/");
  EXPECT_FALSE(there("source/file/clip.mp4")) << "the list is of another folder";
  choices.files = {"/videos/old/", "/videos/old", "", {{Kind::file, "oldest.avi", 5, 0}}, false, ""};
  publish();
  frames(2);
  click("source/file/oldest.avi");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "/videos/old/oldest.avi");
  click("source/up");
  EXPECT_EQ(viewer.state().source.listed, "/videos/");
}

TEST_F(SourcePanel, TheParentIsThatOfTheListedFolder) {
  open_dialog();
  type("/videos/link/../");
  EXPECT_EQ(viewer.state().source.listed, "/videos/link/../");
  choices.files = {"/videos/link/../", "/disk/films", "", {{Kind::file, "film.avi", 5, 0}}, false, ""};
  publish();
  frames(2);
  click("source/up");
  EXPECT_EQ(viewer.state().source.listed, "/disk/");
}

TEST_F(SourcePanel, TheChosenFileStaysChosenWhenTheFolderGetsAnother) {
  open_dialog();
  InputState input;
  input.presses.assign(4, {.key = Key::down});
  input.presses.resize(6, {.key = Key::up});  // as on a slow machine
  frame(input);
  press({.key = Key::down});
  EXPECT_EQ(viewer.state().source.choice, 2);
  choices.files.entries.insert(choices.files.entries.begin(), FolderEntry{Kind::folder, "new", 0, 0});
  publish();
  frames(2);
  press({.key = Key::enter});
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "/videos/clip.mp4");
}

TEST_F(SourcePanel, AFolderThatIsTypedIsListed) {
  open_dialog();
  type("/videos/old/ol");
  EXPECT_EQ(viewer.state().source.listed, "/videos/old/");
  press({.key = Key::enter});
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "/videos/old/ol") << "the folder is not listed yet: as typed";
}

TEST_F(SourcePanel, TabCompletesAsFarAsNamesAgree) {
  SourceList list;
  list.choices = model.choices;
  const FolderEntry a{Kind::file, "clip one.mp4"}, b{Kind::file, "clip two.mp4"}, c{Kind::folder, "old"};
  list.lines = {&a, &b};
  list.chosen = 0;
  EXPECT_EQ(completed(list, "/videos/c"), "/videos/clip ");
  EXPECT_EQ(completed(list, "/videos/clip "), "/videos/clip one.mp4") << "the selected one if they differ";
  list.lines = {&c}, list.chosen = 0;
  EXPECT_EQ(completed(list, "/videos/o"), "/videos/old/");
  EXPECT_EQ(completed(list, "l"), "old/") << "found in the middle of the name";
  EXPECT_EQ(completed(list, "rtsp://camera"), std::nullopt);
  list.lines.clear(), list.chosen = -1;
  EXPECT_EQ(completed(list, "/videos/x"), std::nullopt);
}

TEST_F(SourcePanel, RecentSourcesAreOpenedAndForgotten) {
  open_dialog();
  click("source/recent/lost.avi");
  ASSERT_EQ(requests.size(), 1u) << "it may exist again";
  EXPECT_EQ(requests[0].text, "/gone/lost.avi");
  click("source/forget/lost.avi");
  EXPECT_EQ(forgotten, std::vector<std::string>{"/gone/lost.avi"});
}

TEST_F(SourcePanel, NamesAreDrawnInOneLineAndWhole) {
  const std::string broken = "two\nlines.mp4";
  choices.recent = {{"/videos/clip.mp4", ""}, {"/videos/" + broken, ""}};
  publish();
  open_dialog();
  EXPECT_EQ(rect("source/recent/" + broken).h, rect("source/recent/clip.mp4").h);
  // ImGui ends a label at "##". As many vertices are drawn as for a name of the same length without it.
  const auto vertices = [&](const char* name) {
    choices.recent = {{std::string("/videos/") + name, ""}};
    publish();
    point(1, 1), frames(3);
    return ImGui::GetDrawData()->TotalVtxCount;
  };
  EXPECT_EQ(vertices("a##b.mp4"), vertices("a+=b.mp4"));
}

TEST_F(SourcePanel, ACamerasModesAreChosenByClicks) {
  open_dialog();
  click("source/camera/video0");
  EXPECT_FALSE(there("source/file/clip.mp4"));
  click("source/mode/MJPG/1920x1080/15");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "v4l2:/dev/v4l/by-id/usb-cam");
  EXPECT_EQ(requests[0].format, "mjpeg");
  EXPECT_EQ(requests[0].size, (Extent{1920, 1080}));
  EXPECT_EQ(requests[0].rate, 15);
  // Rates that do not fit into a line are on the next one.
  const Rect first = viewer.widget_rects().at("source/mode/YUYV/640x480/30");
  const Rect last = viewer.widget_rects().at("source/mode/YUYV/640x480/5");
  const Rect below = viewer.widget_rects().at("source/mode/YUYV/320x240");
  EXPECT_GE(last.y, first.y + first.h);
  EXPECT_GE(below.y, last.y + last.h);
  click("source/mode/MJPG/640x480");
  EXPECT_EQ(requests.back().rate, 0) << "unknown to the camera";
  click("source/camera_open");
  EXPECT_EQ(requests.back().format, "");
  choices.cameras.clear();
  publish();
  frames(3);
  EXPECT_TRUE(there("source/file/clip.mp4")) << "unplugged: the files are back";
  EXPECT_TRUE(there("source/no_camera"));
}

TEST_F(SourcePanel, AnOpeningSourceIsShownAndCancelled) {
  model.progress.opening = "rtsp://camera.local/stream", model.progress.since_ns = now_ns();
  frames(2);
  click("source/cancel");
  EXPECT_EQ(cancelled, 1);
  open_dialog();
  click("source/give_up");
  EXPECT_EQ(cancelled, 2);
}

TEST_F(SourcePanel, AFailureIsShownAndALiveSourceCanBeWaitedFor) {
  open_dialog();
  type("udp://127.0.0.1:9");
  press({.key = Key::enter});
  model.progress.failures = 1, model.progress.problem = "udp://127.0.0.1:9: no picture came";
  model.progress.failed = requests.at(0), model.progress.may_wait = true;
  frames(3);
  ASSERT_TRUE(there("source/problem"));
  EXPECT_EQ(viewer.state().source.text, "udp://127.0.0.1:9") << "to be corrected";
  type("udp://127.0.0.1:7");
  EXPECT_EQ(viewer.state().source.text, "udp://127.0.0.1:7") << "or replaced by what is typed";
  press({.key = Key::enter});
  requests.erase(requests.begin());
  model.progress.failures = 2, model.progress.failed = requests.at(0);
  frames(3);
  click("source/wait");
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_TRUE(requests[1].wait);
  EXPECT_EQ(requests[1].text, "udp://127.0.0.1:7");
  play();
  open_dialog();
  EXPECT_FALSE(there("source/problem")) << "an old failure is not shown again";
}

TEST_F(SourcePanel, TheScreenIsRefusedWithoutADisplay) {
  open_dialog();
  click("source/screen");
  ASSERT_EQ(requests.size(), 1u);
  EXPECT_EQ(requests[0].text, "screen:");
  choices.screen_problem = "DISPLAY is not set";
  publish();
  frame();
  click("source/screen");
  EXPECT_EQ(requests.size(), 1u);
  click("source/test/Colour bars");
  EXPECT_EQ(requests.size(), 2u);
}

TEST_F(SourcePanel, StateOfALiveSourceIsInTheRow) {
  model.live = true;
  model.live_status = {.live = true,
                       .state = LiveState::reconnecting,
                       .reason = "connection refused",
                       .since_ns = now_ns(),
                       .reconnects = 2};
  frames(2);
  EXPECT_TRUE(there("source/live"));
  EXPECT_EQ(live_text(model.live_status, model.live_status.since_ns + 65'000'000'000),
            "reconnecting for 1:05 · 2 reconnects");
  model.live_status.state = LiveState::playing, model.live_status.latency_ns = 23'000'000;
  model.live_status.stalls = 1, model.live_status.reason.clear();
  EXPECT_EQ(live_text(model.live_status, model.live_status.since_ns),
            "playing for 0:00 · 23 ms behind · 2 reconnects · 1 stall");
  EXPECT_EQ(live_text_brief(model.live_status, model.live_status.since_ns), "playing · 23 ms behind");
  model.live_status.reason = "no signal";
  EXPECT_EQ(live_text_brief(model.live_status, model.live_status.since_ns), "playing · no signal");
}

TEST_F(SourcePanel, DrawsInEverySize) {
  open_dialog();
  for (const ImVec2 size : {ImVec2{1920, 1080}, ImVec2{640, 480}, ImVec2{200, 120}, ImVec2{1, 1}}) {
    ImGui::GetIO().DisplaySize = size;
    frames(3);
    viewer.state().source.camera = "/dev/video0";
    frames(2);
  }
  model.choices.reset();
  viewer.state().source.camera.clear();
  frames(2);
}

}  // namespace
}  // namespace lensd::ui
