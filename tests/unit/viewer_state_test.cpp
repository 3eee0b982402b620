// What the viewer remembers from run to run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "app/viewer/state/viewer_state.hpp"
#include "core/base/whole_file.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace lensd {
namespace {

TEST(ViewerState, ReadsBackWhatWasSaved) {
  const TemporaryFolder folder;
  ViewerState state;
  state.window_width = 1500, state.window_height = 900, state.left_width = 300.5, state.right_width = 280;
  state.left = "folded", state.bottom = "open", state.panels = false;
  state.scopes = state.tracks = true, state.scope = "waveform";
  state.last_preset = "/home/me/ü \"x\".toml", state.graph_preset = "/home/me/other.toml";
  for (const char* url : {"/a.mp4", "rtsp://camera/1", "/b.mp4", "/a.mp4"}) remember_source(state, url);
  EXPECT_EQ(state.recent_sources, (std::vector<std::string>{"/a.mp4", "/b.mp4", "rtsp://camera/1"}));
  const std::string path = folder / "state/state.toml";
  save_viewer_state(path, state);
  EXPECT_EQ(load_viewer_state(path), state);
}

TEST(ViewerState, ForgetsSecretsAndOldSources) {
  ViewerState state;
  remember_source(state, "rtsp://me:secret@camera/1"), remember_source(state, "-"),
      remember_source(state, "");
  EXPECT_TRUE(state.recent_sources.empty());
  for (int i = 0; i < 100; ++i) remember_source(state, fmt::format("/{}", i));
  EXPECT_EQ(state.recent_sources.size(), kMostRecentSources);
  EXPECT_EQ(state.recent_sources.front(), "/99");
}

TEST(ViewerState, IgnoresDamagedFiles) {
  const TemporaryFolder folder;
  for (const char* text :
       {"", "[[[", "window = 3", "[window]\nwidth = -5\nheight = 1e9", "recent_sources = [1, [2]]",
        "[panels]\nleft = 3\nleft_width = nan\nleft = \"open\""})
    EXPECT_EQ(parse_viewer_state(text), ViewerState()) << text;
  EXPECT_EQ(load_viewer_state(folder / "nowhere"), ViewerState());
  EXPECT_EQ(load_viewer_state(folder.path()), ViewerState()) << "a folder";
}

}  // namespace
}  // namespace lensd
