// The playlist: folders, order, and which file is next.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/viewer/sources/playlist.hpp"
#include "core/base/error.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

TEST(Playlist, FoldersAreReplacedByTheirMedia) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "sub");
  for (const char* name : {"b.mp4", "a.mkv", "notes.txt", ".hidden.mp4"}) std::ofstream(folder / name) << "x";
  const std::string root = std::filesystem::canonical(folder.path()).string();
  EXPECT_EQ(expand_sources({"first.mp4", folder.path(), "rtsp://camera/1"}),
            (std::vector<std::string>{"first.mp4", root + "/a.mkv", root + "/b.mp4", "rtsp://camera/1"}));
  EXPECT_EQ(expand_sources({"file:///a/b%20c.mp4", "file://nas/d.mp4"}),
            (std::vector<std::string>{"/a/b c.mp4", "file://nas/d.mp4"}));
  EXPECT_EQ(expand_sources({"missing.mp4"}), std::vector<std::string>{"missing.mp4"});
  try {
    expand_sources({folder / "sub"});
    ADD_FAILURE() << "an empty folder";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ExitCode::bad_source);
  }
}

TEST(Playlist, AFolderWithOneFileIsNotOneFile) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a.mkv") << "x";
  const auto one_file = [](const std::vector<std::string>& given) {
    return is_one_file(given, expand_sources(given));
  };
  EXPECT_TRUE(one_file({folder / "a.mkv"}));
  EXPECT_TRUE(one_file({"file://" + (folder / "a.mkv")}));
  EXPECT_FALSE(one_file({folder.path().string()}));
  EXPECT_FALSE(one_file({folder / "a.mkv", folder / "b.mkv"}));
}

TEST(Playlist, StepsEndAtTheEnds) {
  Playlist list;
  EXPECT_EQ(list.step(1), std::nullopt);
  EXPECT_EQ(list.step(-1), std::nullopt);
  list.set({"a", "b", "c"});
  EXPECT_EQ(list.step(-1), std::nullopt);
  EXPECT_EQ(list.step(1), "b");
  EXPECT_EQ(list.step(1), "c");
  EXPECT_EQ(list.step(1), std::nullopt);
  EXPECT_EQ(list.current(), 0u) << "no source plays yet";
  list.opened();
  EXPECT_EQ(list.current(), 2u);
  EXPECT_EQ(list.select(0), "a");
  EXPECT_EQ(list.select(3), std::nullopt);
  list.opened();
  EXPECT_EQ(list.current(), 0u);
}

TEST(Playlist, ASourceThatDoesNotPlayChangesNothing) {
  Playlist list;
  list.set({"a", "b", "c"});
  list.opened();
  EXPECT_EQ(list.step(1), "b");
  EXPECT_EQ(list.step(1), "c") << "two steps while b is being opened";
  EXPECT_EQ(list.current(), 0u);
  list.revert();
  EXPECT_EQ(list.step(1), "b") << "steps start at the source that plays";
  list.revert();

  list.set({"x", "y"});
  EXPECT_EQ(list.sources()->size(), 3u) << "the list of the source that plays is shown";
  list.set({"z"});
  list.revert();
  EXPECT_EQ(*list.sources(), (std::vector<std::string>{"a", "b", "c"})) << "no new source plays";
  EXPECT_EQ(list.current(), 0u);
  list.set({"x", "y"});
  EXPECT_EQ(list.step(1), "y");
  list.playing("y");
  list.revert();
  EXPECT_EQ(*list.sources(), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(list.current(), 1u);
}

TEST(Playlist, AnInsertedSourceFollowsTheCurrentOne) {
  Playlist list;
  list.set({"a", "b", "c"});
  list.select(1);
  list.opened();
  list.insert("x");
  EXPECT_EQ(list.sources()->size(), 3u) << "it does not play yet";
  list.revert();
  list.insert("x");
  list.playing("x");
  EXPECT_EQ(*list.sources(), (std::vector<std::string>{"a", "b", "x", "c"}));
  EXPECT_EQ(list.current(), 2u);
  EXPECT_EQ(list.step(1), "c");
  list.revert();
  list.insert("a");
  list.playing("a");
  EXPECT_EQ(list.sources()->size(), 4u) << "it is in the list";
  EXPECT_EQ(list.current(), 0u);

  list.set({"only"});
  list.opened();
  list.insert("x");
  list.playing("x");
  EXPECT_EQ(*list.sources(), std::vector<std::string>{"x"}) << "one source is no list";
}

TEST(Playlist, AnInsertedSourceForgetsAListThatDoesNotPlay) {
  Playlist list;
  list.set({"only"});
  list.opened();
  EXPECT_FALSE(list.several());
  list.set({"x", "y"});
  EXPECT_TRUE(list.several()) << "step() moves in the new list";
  list.insert("y");
  EXPECT_FALSE(list.several());
  list.playing("y");
  EXPECT_EQ(*list.sources(), std::vector<std::string>{"y"}) << "only y was chosen";
}

TEST(Playlist, TwoPathsOfAFileAreOneSource) {
  Playlist list;
  list.set({"a.mp4", "b.mp4", "test:demo"});
  list.opened();
  const std::string b = std::filesystem::absolute("b.mp4").string();
  list.insert(b);
  list.playing(b);
  EXPECT_EQ(list.sources()->size(), 3u);
  EXPECT_EQ(list.current(), 1u);
  list.insert("sub/../a.mp4");
  list.playing("sub/../a.mp4");
  EXPECT_EQ(list.sources()->size(), 3u);
  EXPECT_EQ(list.current(), 0u);
  list.insert(std::filesystem::absolute("test:demo").string());
  list.playing(std::filesystem::absolute("test:demo").string());
  EXPECT_EQ(list.sources()->size(), 4u) << "a file with the name of a test source";
}

TEST(Playlist, TheShownListIsChosenFromWhileAnotherOneIsBeingOpened) {
  Playlist list;
  list.set({"a", "b", "c"});
  list.opened();
  list.insert("x");
  EXPECT_EQ(list.select_shown(2), "c") << "not x or b, which the inserted source moves";
  list.playing("c");
  EXPECT_EQ(*list.sources(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(list.current(), 2u);
  list.set({"x", "y"});
  EXPECT_EQ(list.select_shown(1), "b");
  list.set({"x", "y", "z", "w"});
  EXPECT_EQ(list.select_shown(3), std::nullopt) << "the shown list has three";
  list.opened();
  EXPECT_EQ(list.sources()->size(), 4u) << "the new list is still being opened";
}

TEST(Playlist, FollowsWhatPlays) {
  Playlist list;
  list.set({"a", "b", "a"});
  list.select(2);
  list.playing("a");
  EXPECT_EQ(list.current(), 2u) << "the same file twice";
  list.playing("b");
  EXPECT_EQ(list.current(), 1u);
  list.playing("other");
  EXPECT_EQ(*list.sources(), std::vector<std::string>{"other"});
  EXPECT_EQ(list.current(), 0u);
}

}  // namespace
}  // namespace lensd
