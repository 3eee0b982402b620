// app/serve/output_folder: files are complete or not written, and no path leaves the folder.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "app/serve/output_folder.hpp"
#include "core/base/error.hpp"
#include "tests/unit/common/simple_file_system.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

TEST(OutputFolder, NoPathLeadsOutOfIt) {
  const TemporaryFolder folder;
  const std::string root = folder / "captures";
  const OutputFolder captures(root);
  const std::string bytes = "hello";
  EXPECT_EQ(captures.write("a.png", bytes, "snapshot"), root + "/a.png");
  EXPECT_EQ(fs::file_size(root + "/a.png"), 5u);
  fs::create_directory(root + "/sub");
  EXPECT_EQ(captures.write("sub/b.png", bytes, "snapshot"), root + "/sub/b.png");

  std::ofstream(folder / "outside") << "safe";
  fs::create_symlink(folder / "outside", root + "/link");
  fs::create_directory_symlink("..", root + "/up");
  for (const char* bad : {"../x.png", "/tmp/x.png", "up/x.png", "sub/../../x.png", "sub/..", "", ".",
                          "nowhere/x.png", "a\nb.png", "\x1b[2J.png", "su\tb/x.png"}) {
    EXPECT_THROW(captures.write(bad, bytes, "snapshot"), Error) << bad;
    EXPECT_THROW(captures.check(bad), Error) << bad;
  }
  EXPECT_THROW(captures.check("link"), Error);
  EXPECT_THROW(captures.write("link", bytes, "snapshot"), Error);
  EXPECT_EQ(fs::file_size(folder / "outside"), 4u);
  EXPECT_FALSE(fs::exists(folder / "x.png"));
  for (const auto& entry : fs::directory_iterator(root))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << "no temporary file is left";
}

TEST(OutputFolder, IsCreatedWhenThatBecomesPossible) {
  const TemporaryFolder folder;
  std::ofstream(folder / "disk") << "in the way";
  const OutputFolder captures(folder / "disk/captures");
  EXPECT_THROW(captures.check("a.mkv"), Error);
  fs::remove(folder / "disk");
  EXPECT_EQ(captures.write("a.png", "x", "snapshot"), folder / "disk/captures/a.png");
}

TEST(OutputFolder, IsNotCreatedAgainWhenItsDiskIsUnmounted) {
  const TemporaryFolder folder;
  const std::string root = folder / "disk/captures";
  const OutputFolder captures(root);
  EXPECT_EQ(captures.check("a.mkv"), root + "/a.mkv");
  EXPECT_TRUE(fs::exists(root));
  fs::remove_all(folder / "disk");
  captures.create();
  EXPECT_THROW(captures.check("a.mkv"), Error);
  EXPECT_THROW(captures.write("a.png", "x", "snapshot"), Error);
  EXPECT_FALSE(fs::exists(folder / "disk")) << "files would fill the disk below the mount point";
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// true: the file system has no links and no extended attributes, and renames without flags only.
class FolderFiles : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override { test::simple_file_system = GetParam(); }
  void TearDown() override { test::simple_file_system = false; }
};
INSTANTIATE_TEST_SUITE_P(FileSystems, FolderFiles, testing::Bool(),
                         [](const auto& p) { return p.param ? "simple" : "usual"; });

TEST_P(FolderFiles, AreReplacedIfLensdWroteThemAsTheSameKind) {
  const TemporaryFolder folder;
  const OutputFolder captures(folder.path().string());
  captures.write("a.png", "one", "snapshot");
  captures.write("a.png", "two", "snapshot");
  EXPECT_EQ(text_of(folder / "a.png"), "two");
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().filename(), "a.png") << "no temporary file is left";
  EXPECT_THROW(captures.write("a.png", "three", "trace"), Error);
  EXPECT_EQ(text_of(folder / "a.png"), "two");

  for (const char* name : {"rec.mkv", "photo.png", "notes.json"}) {
    std::ofstream(folder / name) << "precious";
    EXPECT_THROW(captures.write(name, "x", "snapshot"), Error) << name;
    EXPECT_THROW(captures.write(name, "x", "trace"), Error) << name;
    EXPECT_THROW(captures.check(name), Error) << name;
    EXPECT_EQ(text_of(folder / name), "precious") << name;
  }
  EXPECT_THROW(captures.check("a.png"), Error) << "a recording";
  test::simple_file_system = false;
  fs::create_hard_link(folder / "a.png", folder / "b.png");
  EXPECT_THROW(captures.write("b.png", "x", "snapshot"), Error);
  EXPECT_EQ(text_of(folder / "a.png"), "two");
  // The name of a ring's journal: a forged journal would make lensd delete files.
  EXPECT_THROW(captures.write(".rec.ring", "x", "trace"), Error);
  EXPECT_FALSE(fs::exists(folder / ".rec.ring"));
}

TEST_P(FolderFiles, OfOtherProgramsMayHaveTheInodesOfDeletedFiles) {
  const TemporaryFolder folder;
  const OutputFolder captures(folder.path().string());
  std::ofstream(folder / "taken.png") << "precious";
  for (int i = 0; i < 5; ++i) {
    captures.write("a.png", "replaces the last one", "snapshot");
    EXPECT_THROW(captures.write("taken.png", "discarded", "snapshot"), Error);
    for (const char* end : {"", "-2"}) {  // some file systems give them the inodes of the two deleted files
      const std::string name = fmt::format("b{}{}.png", i, end);
      std::ofstream(folder / name) << "precious";
      EXPECT_THROW(captures.write(name, "x", "snapshot"), Error) << name;
      EXPECT_EQ(text_of(folder / name), "precious") << name;
    }
  }
}

TEST_P(FolderFiles, WithAutomaticNamesAreNeverReplaced) {
  const TemporaryFolder folder;
  const OutputFolder captures(folder.path().string());
  // Three images have the same frame index, and are saved within a second.
  const std::string one = captures.write_new(0, ".png", "one", "snapshot");
  const std::string two = captures.write_new(0, ".png", "two", "snapshot");
  const std::string three = captures.write_new(0, ".png", "three", "snapshot");
  EXPECT_EQ(text_of(one), "one");
  EXPECT_EQ(text_of(two), "two");
  EXPECT_EQ(text_of(three), "three");
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << "no temporary file is left";
}

TEST(OutputFolder, FilesLeftByAKilledProcessDoNotBlockAName) {
  const TemporaryFolder folder;
  const OutputFolder captures(folder.path().string());
  // Process and thread ids repeat in containers, and the counter starts at 0.
  std::vector<std::string> left;
  for (int i = 0; i < 1000; ++i) left.push_back(fmt::format(".a.png.{}-{}", getpid(), i));
  left.push_back(fmt::format(".a.png.{}-{}", getpid(), gettid()));
  for (const std::string& name : left) std::ofstream(folder / name) << "left";
  captures.write("a.png", "one", "snapshot");
  captures.write("a.png", "two", "snapshot");
  EXPECT_EQ(text_of(folder / "a.png"), "two");
  for (const std::string& name : left) EXPECT_EQ(text_of(folder / name), "left") << name;
}

}  // namespace
}  // namespace lensd
