// The viewer's persistent state.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "app/kept_controls.hpp"
#include "app/viewer/state/viewer_state.hpp"
#include "core/base/whole_file.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

TEST(ViewerState, ReadsBackWhatWasSaved) {
  const TemporaryFolder folder;
  ViewerState state;
  state.window_width = 1500, state.window_height = 900, state.left_width = 300.5, state.right_width = 280;
  state.left = "folded", state.bottom = "open";
  state.scopes = state.tracks = true, state.scope = "waveform";
  state.last_preset = "/home/me/ü \"x\".toml", state.graph_preset = "/home/me/other.toml";
  state.folded_nodes = {"edges", "ü \"x\""};
  state.volume = 42.5, state.muted = true;
  state.positions = {{"/a \"b\".mp4", 61.25}, {"/c.mp4", 12}};
  state.camera = true;
  remember_controls(state.controls, "usb-\"Cam\"-0",
                    {{"gain", int64_t{-5}}, {"mirror", true}, {"mode", std::string("A \"b\"")}});
  remember_controls(state.controls, "other", {{"gain", int64_t{1}}});
  remember_controls(state.controls, "other", {});
  EXPECT_EQ(state.controls.size(), 1u);
  for (const char* url : {"/a.mp4", "rtsp://camera/1", "/b.mp4", "/a.mp4"}) remember_source(state, url);
  EXPECT_EQ(state.recent_sources, (std::vector<std::string>{"/a.mp4", "/b.mp4", "rtsp://camera/1"}));
  const std::string path = folder / "state/state.toml";
  save_viewer_state(path, state);
  EXPECT_EQ(load_viewer_state(path), state);
}

TEST(ViewerState, ForgetsSecretsAndOldSources) {
  ViewerState state;
  for (const char* url : {"rtsp://me:secret@camera/1", "rtsp://me:secret@camera", "rtmp://host/app/key",
                          "http://camera/live?token=secret", "-", ""})
    remember_source(state, url);
  EXPECT_TRUE(state.recent_sources.empty());
  const ViewerState old = parse_viewer_state(R"(recent_sources = ["rtsp://me:secret@camera", "/a.mp4"])");
  EXPECT_EQ(old.recent_sources, std::vector<std::string>{"/a.mp4"});
  for (int i = 0; i < 100; ++i) remember_source(state, fmt::format("/{}", i));
  EXPECT_EQ(state.recent_sources.size(), kMaxRecentSources);
  EXPECT_EQ(state.recent_sources.front(), "/99");
}

TEST(ViewerState, KeepsPositionsInTheMiddleOfLongFiles) {
  ViewerState state;
  const auto kept = [&](double position_s, double duration_s) {
    remember_position(state, "/a.mp4", position_s, duration_s);
    return !state.positions.empty();
  };
  EXPECT_TRUE(kept(30, 100));
  EXPECT_FALSE(kept(5, 100)) << "the start";
  EXPECT_TRUE(kept(30, 100));
  EXPECT_FALSE(kept(95, 100)) << "the end";
  EXPECT_FALSE(kept(30, 50)) << "a short file";
  EXPECT_TRUE(kept(6800, 7200));
  EXPECT_FALSE(kept(7000, 7200)) << "the end of a long file";
  for (int i = 0; i < 100; ++i) remember_position(state, fmt::format("/{}", i), 30, 100);
  EXPECT_EQ(state.positions.size(), kMaxPositions);
  EXPECT_EQ(state.positions.front().first, "/99");
  EXPECT_TRUE(parse_viewer_state("positions = [[1, 2], [\"/a\"], [\"/a\", -3.0], \"x\"]").positions.empty());
}

/// Old disks and archives have such names.
TEST(ViewerState, KeepsNamesThatAreNotUtf8) {
  const TemporaryFolder folder;
  const std::string path = folder / "state.toml";
  ViewerState state;
  remember_source(state, "/other.mp4"), remember_source(state, "/caf\xE9 100%.mp4");
  remember_position(state, "/other.mp4", 30, 100), remember_position(state, "/caf\xE9 100%.mp4", 40, 100);
  state.last_preset = "/pr\xE9set.toml", state.volume = 42;
  save_viewer_state(path, state);
  EXPECT_EQ(load_viewer_state(path), state);
  ViewerState kept = state;
  state.graph_preset = "relative\xE9.toml", state.recent_sources.push_back("relative\xE9.mp4");
  state.folded_nodes = {"n\xE9", "edges"}, kept.folded_nodes = {"n\uFFFD", "edges"};
  remember_controls(state.controls, "cam\xE9ra", {{"gain", int64_t{1}}});
  remember_controls(state.controls, "camera", {{"g\xE9in", int64_t{1}}, {"gain", int64_t{2}}});
  remember_controls(kept.controls, "camera", {{"gain", int64_t{2}}});
  save_viewer_state(path, state);
  EXPECT_EQ(load_viewer_state(path), kept) << "the file stays readable";
  EXPECT_FALSE(std::filesystem::exists(path + ".broken"));
}

TEST(ViewerState, KeepsACopyOfADamagedFile) {
  const TemporaryFolder folder;
  const std::string path = folder / "state.toml", text = "recent_sources = [\"/a.mp4\",\n[win";
  write_whole_file(path, text, Flush::none);
  EXPECT_EQ(load_viewer_state(path), std::nullopt);
  save_viewer_state(path, {});
  EXPECT_EQ(read_whole_file(path + ".broken", 1000), text);
}

TEST(ViewerState, IgnoresDamagedFiles) {
  const TemporaryFolder folder;
  for (const char* text :
       {"", "[[[", "window = 3", "[window]\nwidth = -5\nheight = 1e9", "recent_sources = [1, [2]]",
        "[panels]\nleft = 3\nleft_width = nan\nleft = \"open\""})
    EXPECT_EQ(parse_viewer_state(text), ViewerState()) << text;
  EXPECT_EQ(load_viewer_state(folder / "nowhere"), std::nullopt);
  EXPECT_EQ(load_viewer_state(folder.path()), std::nullopt) << "a folder";
}

}  // namespace
}  // namespace lensd
