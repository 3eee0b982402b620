// ViewerMemory: several viewers at once, and paths whose files cannot be accessed.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "app/viewer/state/viewer_memory.hpp"
#include "core/base/whole_file.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

using Names = std::vector<std::string>;
constexpr int64_t kSecondNs = 1'000'000'000;

/// The state folder is in a temporary folder.
class SharedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("XDG_STATE_HOME")) before_ = value;
    setenv("XDG_STATE_HOME", folder.path().c_str(), 1);
  }
  void TearDown() override {
    before_.empty() ? unsetenv("XDG_STATE_HOME") : setenv("XDG_STATE_HOME", before_.c_str(), 1);
  }
  static void save(ViewerMemory& memory, int width = 800) { memory.save(ui::UiState(), {width, 600}, true); }
  static SourceControls controls(const std::string& camera, int64_t gain) {
    SourceControls controls;
    controls.device = camera, controls.version = 1;
    controls.wanted = {{"gain", gain}};
    return controls;
  }
  std::string state_file() const { return folder / "lensd/state.toml"; }

  TemporaryFolder folder;
  ui::UiState ui;

 private:
  std::string before_;
};

TEST_F(SharedMemory, TwoViewersKeepEachOthersEntries) {
  ViewerMemory first(ui);
  first.add_recent("/old.mp4"), first.add_recent("/gone.mp4");
  save(first);
  ViewerMemory second(ui);
  second.add_recent("/film.mp4");
  second.keep_position("/film.mp4", 40 * kSecondNs, 100 * kSecondNs);
  second.keep_controls(controls("usb-B", 2));
  second.remove_recent("/gone.mp4");
  save(second);
  first.keep_controls(controls("usb-A", 1));
  first.add_recent("/clip.mp4");
  first.keep_position("/clip.mp4", 30 * kSecondNs, 100 * kSecondNs);
  save(first, 1000);
  EXPECT_EQ(first.recent_sources(), (Names{"/clip.mp4", "/film.mp4", "/old.mp4"}));
  const ViewerMemory next(ui);
  EXPECT_EQ(next.recent_sources(), first.recent_sources());
  EXPECT_EQ(next.position_of("/film.mp4"), 40 * kSecondNs);
  EXPECT_EQ(next.position_of("/clip.mp4"), 30 * kSecondNs);
  EXPECT_EQ(next.kept_controls().size(), 2u);
  EXPECT_EQ(next.width(Config()), 1000);
}

TEST_F(SharedMemory, ASequenceIsFoundFromAnotherFolderToo) {
  ViewerMemory memory(ui);
  memory.add_recent("img_%04d.png");
  memory.add_recent("test:demo=%02d");
  EXPECT_EQ(memory.recent_sources(),
            (Names{"test:demo=%02d", std::filesystem::absolute("img_%04d.png").string()}));
}

TEST_F(SharedMemory, AnEntryThatWasRemovedStaysRemoved) {
  ViewerMemory first(ui);
  first.add_recent("/a.mp4");
  first.keep_position("/a.mp4", 30 * kSecondNs, 100 * kSecondNs);
  save(first);
  ViewerMemory second(ui);
  second.remove_recent("/a.mp4");
  second.keep_position("/a.mp4", 99 * kSecondNs, 100 * kSecondNs);  // watched to the end
  save(second);
  save(first, 1000);
  EXPECT_TRUE(ViewerMemory(ui).recent_sources().empty());
  EXPECT_EQ(ViewerMemory(ui).position_of("/a.mp4"), 0);
}

TEST_F(SharedMemory, OptionsOfTheSoundAreForOneRun) {
  Config config;
  config.audio_mute = true, config.audio_volume = 30;
  config.given = {"audio.mute", "audio.volume"};
  ViewerMemory memory(ui);
  memory.keep_sound(Config(), 80, false);
  save(memory);
  ViewerMemory muted(ui);
  muted.keep_sound(config, muted.volume(config), muted.muted(config));
  EXPECT_TRUE(muted.muted(config));
  save(muted, 900);
  EXPECT_FALSE(ViewerMemory(ui).muted(Config()));
  EXPECT_EQ(ViewerMemory(ui).volume(Config()), 80);
  muted.keep_sound(config, 60, false), muted.keep_sound(config, 30, true);
  save(muted, 1000);
  EXPECT_TRUE(ViewerMemory(ui).muted(Config())) << "the user has chosen it";
  EXPECT_EQ(ViewerMemory(ui).volume(Config()), 30);
}

TEST_F(SharedMemory, ChangesAreWrittenAfterAFailure) {
  ViewerMemory memory(ui);
  std::filesystem::create_directories(state_file());  // in the way
  memory.add_recent("/a.mp4");
  save(memory);
  std::filesystem::remove(state_file());
  ViewerMemory other(ui);
  other.add_recent("/b.mp4");
  save(other);
  save(memory, 1000);
  EXPECT_EQ(ViewerMemory(ui).recent_sources(), (Names{"/a.mp4", "/b.mp4"}));
}

TEST_F(SharedMemory, AFileThatIsDamagedMeanwhileIsReplaced) {
  ViewerMemory memory(ui);
  memory.add_recent("/a.mp4");
  save(memory);
  write_whole_file(state_file(), std::string_view("[["), Flush::none);
  memory.add_recent("/b.mp4");
  save(memory);
  EXPECT_EQ(ViewerMemory(ui).recent_sources(), (Names{"/b.mp4", "/a.mp4"}));
}

TEST_F(SharedMemory, ADamagedGraphIsKeptOnce) {
  const std::string graph = folder / "lensd/last-graph.toml";
  write_whole_file(graph, std::string_view("[["), Flush::none);
  ViewerMemory first(ui);
  EXPECT_EQ(read_whole_file(graph + ".broken", 100), "[[");
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(graph + ".broken", old);
  ViewerMemory second(ui);
  EXPECT_LT(std::filesystem::last_write_time(graph + ".broken"), old + std::chrono::minutes(1));
  write_whole_file(graph, std::string_view("[[["), Flush::none);
  ViewerMemory third(ui);
  EXPECT_EQ(read_whole_file(graph + ".broken", 100), "[[[");
}

TEST_F(SharedMemory, AHugeFileIsNotCopied) {
  for (const auto& [bytes, copied] : {std::pair(1 << 20, true), std::pair(17 << 20, false)}) {
    write_whole_file(state_file(), std::string_view("x"), Flush::none);
    std::filesystem::resize_file(state_file(), static_cast<size_t>(bytes));
    ViewerMemory memory(ui);
    EXPECT_EQ(std::filesystem::exists(state_file() + ".broken"), copied) << bytes;
    memory.add_recent("/a.mp4");
    save(memory);
    std::filesystem::remove(state_file() + ".broken");
    EXPECT_EQ(ViewerMemory(ui).recent_sources(), Names{"/a.mp4"});
  }
}

/// The first viewer's own state does not change.
TEST_F(SharedMemory, AtTheEndAFilmThatWasWatchedLosesThePositionOfAnotherViewer) {
  ViewerMemory first(ui);
  first.add_recent("/film.mp4");
  save(first);
  ViewerMemory second(ui);
  second.keep_position("/film.mp4", 40 * kSecondNs, 100 * kSecondNs);
  save(second);
  first.keep_position("/film.mp4", 100 * kSecondNs, 100 * kSecondNs);
  save(first);
  EXPECT_EQ(ViewerMemory(ui).position_of("/film.mp4"), 0);
}

/// A file on a dead network folder must not be accessed on the UI thread.
TEST_F(SharedMemory, PositionsAreFoundByPathAlone) {
  ViewerMemory memory(ui);
  memory.keep_position("/nowhere/film.mp4", 40 * kSecondNs, 100 * kSecondNs);
  EXPECT_EQ(memory.position_of("/nowhere/../nowhere/./film.mp4"), 40 * kSecondNs);
  const std::string here = std::filesystem::current_path().string();
  memory.keep_position(here + "/missing.mp4", 30 * kSecondNs, 100 * kSecondNs);
  EXPECT_EQ(memory.position_of("missing.mp4"), 30 * kSecondNs);
  EXPECT_EQ(memory.position_of("rtsp://camera/1"), 0);
  EXPECT_EQ(memory.position_of(""), 0);
}

}  // namespace
}  // namespace lensd
