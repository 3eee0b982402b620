// Snapshots: file names, complete files, error messages.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "app/viewer/display/snapshots.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

namespace fs = std::filesystem;

/// A temporary folder, which is also $HOME.
class SnapshotFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("HOME", folder.path().c_str(), 1);
    unsetenv("XDG_CONFIG_HOME");
  }
  void touch(const std::string& name) const { std::ofstream(folder / name) << "x"; }

  /// Waits until `count` snapshots are written or have failed. Returns their notices.
  static std::vector<Notice> wait_for(Snapshots& snapshots, size_t count) {
    std::vector<Notice> all;
    while (all.size() < count) {
      for (Notice& notice : snapshots.poll()) all.push_back(std::move(notice));
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return all;
  }

  TemporaryFolder folder;
};

Image grey(Extent size) {
  Image image({PixelFormat::rgba8, size});
  std::fill(image.pixels.begin(), image.pixels.end(), uint8_t{128});
  return image;
}

TEST(SnapshotNames, SignsOfTheTemplate) {
  const int64_t time = 3'723'045'000'000;  // 1:02:03.045
  EXPECT_EQ(expand_template("lensd-%F-%P", "clip.final.mp4", time, 7), "lensd-clip.final-01-02-03.045");
  EXPECT_EQ(expand_template("%p_%f", "clip.mp4", time, 7), "01-02-03_000007");
  EXPECT_EQ(expand_template("100%%-%n.png", "", 0, 0), "100%-%n.png");
  EXPECT_EQ(expand_template("%F", "a.b%20c.mp4", 0, 0), "a.b%20c");
  EXPECT_EQ(expand_template("%F-%n", "50%nits.mp4", 0, 0), "50-nits-%n") << "%n is for the number";
  EXPECT_EQ(expand_template("%z", "", 0, 0), "%z");
  EXPECT_EQ(expand_template("%", "", 0, 0), "%");
  EXPECT_EQ(expand_template("%t", "", 0, 0), "");
  EXPECT_TRUE(std::regex_match(expand_template("%tY-%tm", "", 0, 0), std::regex("20\\d\\d-[01]\\d")));
}

/// The file name from any source has no path separator and no colon.
TEST(SnapshotNames, OfEverySourceAreOnePartOfAPath) {
  for (const char* source : {"test:testsrc2=size=320x240:rate=25", "rtsp://host:554/live/main?a=b",
                             "/dev/video0", "-", "img_%04d.png", "..", ""}) {
    const std::string name = expand_template("%F", source, 0, 0);
    EXPECT_EQ(name.find('/'), std::string::npos) << source;
    EXPECT_EQ(name.find(':'), std::string::npos) << source;
  }
}

/// Names have at most 255 bytes, also with a number and an extension.
TEST(SnapshotNames, LongSourceNamesAreShortened) {
  const std::string long_name(251, 'a');
  const std::string name = expand_template("lensd-%F-%P.png", long_name + ".mp4", 0, 0);
  EXPECT_EQ(name.size(), 240u);
  EXPECT_TRUE(name.starts_with("lensd-aaa") && name.ends_with("-00-00-00.000.png")) << name;
  std::string cyrillic;
  for (int i = 0; i < 125; ++i) cyrillic += "ж";
  const std::string shorter = expand_template("%F.png", cyrillic, 0, 0);
  EXPECT_EQ(shorter.size(), 2 * 118 + 4u) << "whole characters";
  const std::string path = expand_template("/" + std::string(100, 'd') + "/%F/%F-%F.png", long_name, 0, 0);
  for (size_t at = 0, end = 0; end != std::string::npos; at = end + 1) {
    end = path.find('/', at);
    EXPECT_LE(path.substr(at, end - at).size(), 240u) << path;
  }
  EXPECT_EQ(expand_template(std::string(300, 'x') + "%F", "clip.mp4", 0, 0), std::string(300, 'x'));
}

TEST_F(SnapshotFiles, UnknownPathsAreTried) {
  const std::string too_long = folder / std::string(300, 'x');
  EXPECT_EQ(unused_path(too_long), too_long) << "writing reports the error";
  const std::string long_name = std::string(251, 'y') + ".png";
  touch(long_name);
  EXPECT_EQ(unused_path(folder / long_name), folder / (std::string(251, 'y') + "-2.png"));
  setenv("HOME", too_long.c_str(), 1);
  EXPECT_EQ(pictures_folder(), too_long);
  if (geteuid() == 0) return;  // every folder is open to root
  fs::create_directories(folder / "closed/Pictures");
  fs::permissions(folder / "closed", fs::perms::none);
  setenv("HOME", (folder / "closed").c_str(), 1);
  EXPECT_EQ(pictures_folder(), folder / "closed");
  EXPECT_EQ(unused_path(folder / "closed/a.png"), folder / "closed/a.png");
  fs::permissions(folder / "closed", fs::perms::owner_all);
}

TEST_F(SnapshotFiles, NamesOf255BytesAreWritten) {
  const std::string path = folder / (std::string(251, 'z') + ".png");
  Snapshots snapshots;
  snapshots.take(grey({4, 4}), {}, path);
  const Notice notice = wait_for(snapshots, 1).front();
  EXPECT_FALSE(notice.problem) << notice.text;
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(SnapshotFiles, NothingIsOverwritten) {
  EXPECT_EQ(unused_path(folder / "a.png"), folder / "a.png");
  touch("a.png");
  EXPECT_EQ(unused_path(folder / "a.png"), folder / "a-2.png");
  touch("a-2.png");
  EXPECT_EQ(unused_path(folder / "a.png"), folder / "a-3.png");
  EXPECT_EQ(unused_path(folder / "a.png", {folder / "a-3.png"}), folder / "a-4.png") << "being written";
  EXPECT_EQ(unused_path(folder / "shot%n.png"), folder / "shot0001.png");
  touch("shot0001.png"), touch("shot0002.png");
  EXPECT_EQ(unused_path(folder / "shot%n.png"), folder / "shot0003.png");
}

TEST_F(SnapshotFiles, TheUsersFoldersAreFound) {
  EXPECT_EQ(pictures_folder(), folder.path().string()) << "home where there is none";
  fs::create_directories(folder / "Pictures");
  EXPECT_EQ(pictures_folder(), folder / "Pictures");
  fs::create_directories(folder / "Bilder");
  fs::create_directories(folder / ".config");
  std::ofstream(folder / ".config/user-dirs.dirs")
      << "# comment\nXDG_VIDEOS_DIR=\"$HOME/gone\"\nXDG_PICTURES_DIR=\"$HOME/Bilder\"\n";
  EXPECT_EQ(pictures_folder(), folder / "Bilder");
  EXPECT_EQ(videos_folder(), folder.path().string()) << "named but not there";
  setenv("XDG_CONFIG_HOME", (folder / "elsewhere").c_str(), 1);
  EXPECT_EQ(pictures_folder(), folder / "Pictures");
  setenv("XDG_CONFIG_HOME", "elsewhere", 1);
  EXPECT_EQ(pictures_folder(), folder / "Bilder") << "a relative folder is ignored";
  for (const char* home : {"", "relative"}) {
    setenv("HOME", home, 1);
    EXPECT_TRUE(pictures_folder().starts_with('.')) << pictures_folder();
  }
}

TEST_F(SnapshotFiles, AreWrittenAsideInOrder) {
  Snapshots snapshots;
  EXPECT_TRUE(snapshots.poll().empty());
  snapshots.take(grey({320, 240}), {}, folder / "new/folder/one.png");
  snapshots.take(grey({2, 2}), {}, folder / "two.jpg");
  EXPECT_EQ(snapshots.unfinished(),
            (std::vector<std::string>{folder / "new/folder/one.png", folder / "two.jpg"}));
  const std::vector<Notice> notices = wait_for(snapshots, 2);
  EXPECT_TRUE(snapshots.unfinished().empty());
  for (size_t i = 0; i < 2; ++i) {
    const std::string file = folder / (i == 0 ? "new/folder/one.png" : "two.jpg");
    EXPECT_FALSE(notices[i].problem);
    EXPECT_NE(notices[i].text.find(file), std::string::npos) << notices[i].text;
    EXPECT_GT(fs::file_size(file), 60u);
  }
}

TEST_F(SnapshotFiles, WhatCannotBeWrittenIsTold) {
  touch("file");
  Snapshots snapshots;
  snapshots.take(grey({4, 4}), {}, folder / "file/one.png");  // a file is not a folder
  const Notice notice = wait_for(snapshots, 1).front();
  EXPECT_TRUE(notice.problem);
  EXPECT_NE(notice.text.find(folder / "file"), std::string::npos) << notice.text;
  EXPECT_FALSE(fs::exists(folder / "file/one.png"));
}

}  // namespace
}  // namespace lensd
