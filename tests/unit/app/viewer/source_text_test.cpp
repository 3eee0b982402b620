// Source names as users type them, and the playable files of a folder.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/viewer/sources/playlist.hpp"
#include "core/base/text/source_text.hpp"
#include "core/media/media_folder.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

class SourceText : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* value = std::getenv("HOME")) before_ = value;
    setenv("HOME", "/home/ada/", 1);
  }
  void TearDown() override { setenv("HOME", before_.c_str(), 1); }
  std::string before_;
};

TEST_F(SourceText, WhatCopyingLeavesAroundANameGoes) {
  EXPECT_EQ(tidy_source("  /a/clip.mp4\n"), "/a/clip.mp4");
  EXPECT_EQ(tidy_source("'/a/my clip.mp4' "), "/a/my clip.mp4");
  EXPECT_EQ(tidy_source("\"/a/b\""), "/a/b");
  EXPECT_EQ(tidy_source("/a/first.mp4\r\n/a/second.mp4"), "/a/first.mp4");
  EXPECT_EQ(tidy_source("~/clip.mp4"), "/home/ada/clip.mp4");
  EXPECT_EQ(tidy_source("'~/clip.mp4'"), "/home/ada/clip.mp4");
  EXPECT_EQ(tidy_source("file:///a/my%20clip%2B.mp4"), "/a/my clip+.mp4");
  EXPECT_EQ(tidy_source("file://localhost/a/100%.mp4"), "/a/100%.mp4");
  EXPECT_EQ(tidy_source("file:/a/my%20clip.mp4"), "/a/my clip.mp4");
  EXPECT_EQ(tidy_source("file:a.mp4"), "file:a.mp4");
  EXPECT_EQ(tidy_source("FILE://LocalHost/a%zz%00%4"), "/a%zz%00%4");
  EXPECT_EQ(tidy_source("file://nas/a.mp4"), "file://nas/a.mp4");
  EXPECT_EQ(tidy_source("~other/clip.mp4"), "~other/clip.mp4");
  EXPECT_EQ(tidy_source("it's.mp4"), "it's.mp4");
  EXPECT_EQ(tidy_source("rtsp://a:b@c/d?e=f"), "rtsp://a:b@c/d?e=f");
  EXPECT_EQ(tidy_source(" \t\n"), "");
  EXPECT_EQ(tidy_source("'"), "'");
}

TEST_F(SourceText, AddressesOfFilesHoldAnyBytes) {
  std::string path = "/";
  for (int c = 1; c < 256; ++c) path += static_cast<char>(c);
  const std::string address = file_address(path);
  EXPECT_EQ(without_file_scheme(address), path);
  EXPECT_TRUE(std::all_of(address.begin(), address.end(), [](char c) { return c > ' ' && c < 127; }))
      << address;
  EXPECT_EQ(file_address("/caf\xE9 1.mp4"), "file:///caf%E9%201.mp4");
}

TEST_F(SourceText, APathThatIsTypedFallsIntoFolderAndRest) {
  const auto parts = [](const char* text) {
    const auto typed = typed_path(text);
    return typed ? typed->folder + "|" + typed->part : "none";
  };
  EXPECT_EQ(parts("~/vid"), "/home/ada/|vid");
  EXPECT_EQ(parts("~/videos/"), "/home/ada/videos/|");
  EXPECT_EQ(parts("'/a/my cl"), "/a/|my cl");
  EXPECT_EQ(parts("clip"), "|clip");
  EXPECT_EQ(parts(""), "|");
  for (const char* address :
       {"rtsp://a/b", "test:mandelbrot", "screen:", "v4l2:/dev/video0", "/dev/video0", "-"})
    EXPECT_EQ(parts(address), "none") << address;
}

TEST_F(SourceText, SourcesInShort) {
  EXPECT_EQ(shown_path("/home/ada/a"), "~/a");
  EXPECT_EQ(shown_path("/home/adam/a"), "/home/adam/a");
  EXPECT_EQ(brief_source("/a/b/clip.mp4"), "clip.mp4");
  EXPECT_EQ(brief_source("/a/b/"), "b/");
  EXPECT_EQ(brief_source("/"), "/");
  EXPECT_EQ(brief_source("rtsp://ada:secret@camera.local/stream?token=1"), "rtsp://camera.local/stream");
  EXPECT_EQ(brief_source("rtsp://ada:a/secret@camera.local/stream#2"), "rtsp://camera.local/stream");
  EXPECT_EQ(brief_source("rtmp://server/live/secret"), "rtmp://server/live/…");
  EXPECT_EQ(brief_source("test:testsrc2=size=1280x720"), "test:testsrc2");
}

class MediaFolder : public ::testing::Test {
 protected:
  void make(const std::string& name) { std::ofstream(folder_ / name) << "x"; }
  std::string names() {
    std::string text;
    for (const FolderEntry& entry : list_media_folder(folder_ / "").entries) text += entry.name + " ";
    return text;
  }
  TemporaryFolder folder_;
};

TEST_F(MediaFolder, FoldersThenMediaThenOthersInTheirNaturalOrder) {
  std::filesystem::create_directory(folder_ / "zoo");
  for (const char* name : {"clip10.mp4", "clip2.MKV", ".hidden.mp4", "notes.txt", "Alpha.png",
                           "cam1700000000.mp4", "cam999999999.mp4", "cam07.mp4"})
    make(name);
  EXPECT_EQ(names(),
            "zoo Alpha.png cam07.mp4 cam999999999.mp4 cam1700000000.mp4 clip2.MKV clip10.mp4 notes.txt ");
  const FolderList list = list_media_folder(folder_ / "");
  EXPECT_EQ(list.entries[0].kind, FolderEntry::Kind::folder);
  EXPECT_EQ(list.entries[1].kind, FolderEntry::Kind::file);
  EXPECT_EQ(list.entries.back().kind, FolderEntry::Kind::other);
  EXPECT_EQ(list.entries[1].bytes, 1);
  EXPECT_FALSE(list.folder.ends_with('/'));
  EXPECT_TRUE(list.problem.empty());
}

TEST_F(MediaFolder, NumberedImagesWithoutAGapAreOneSequence) {
  for (int i = 0; i < 12; ++i)
    make("padded_00" + std::string(i < 10 ? "0" : "") + std::to_string(i) + ".png");
  for (int i = 7; i < 12; ++i) make("plain" + std::to_string(i) + ".jpg");
  for (int i : {1, 2, 3, 5, 6}) make("gap" + std::to_string(i) + ".png");
  for (int i : {1, 2, 3}) make("few" + std::to_string(i) + ".png");
  EXPECT_EQ(
      names(),
      "few1.png few2.png few3.png gap1.png gap2.png gap3.png gap5.png gap6.png padded_%04d.png plain%d.jpg ");
  for (const FolderEntry& entry : list_media_folder(folder_ / "").entries)
    if (entry.kind == FolderEntry::Kind::sequence) {
      EXPECT_EQ(entry.images, entry.name == "plain%d.jpg" ? 5 : 12);
    }
}

TEST_F(MediaFolder, RarerVideosAndImagesAreListed) {
  for (const char* name : {"a.m2t", "b.obu", "c.jxl", "d.qoi", "e.JFIF", "f.pfm", "g.rmvb"}) make(name);
  make("h.txt");
  EXPECT_EQ(names(), "a.m2t b.obu c.jxl d.qoi e.JFIF f.pfm g.rmvb h.txt ");
  EXPECT_EQ(expand_sources({folder_.path()}).size(), 7u);
}

TEST_F(MediaFolder, OfALargeFolderAPartOfTheNameFindsEveryEntry) {
  for (int i = 0; i < 4100; ++i) make("a" + std::to_string(i) + "x.png");
  make("The-Last-One.png");
  const FolderList first = list_media_folder(folder_ / "");
  EXPECT_TRUE(first.cut);
  EXPECT_EQ(first.entries.size(), kMaxListed);
  EXPECT_EQ(first.entries.back().bytes, 1);
  EXPECT_EQ(list_media_folder(folder_ / "", {}, 10, FileSizes::omit).entries.back().bytes, 0);
  const FolderList found = list_media_folder(folder_ / "", "last-o");
  EXPECT_FALSE(found.cut);
  ASSERT_EQ(found.entries.size(), 1u);
  EXPECT_EQ(found.entries[0].name, "The-Last-One.png");
  EXPECT_EQ(found.entries[0].bytes, 1);
  EXPECT_EQ(found.part, "last-o");
  EXPECT_EQ(expand_sources({folder_.path()}).size(), 4101u) << "a playlist has them all";
}

TEST_F(MediaFolder, WhatCannotBeReadSaysWhy) {
  EXPECT_EQ(list_media_folder(folder_ / "missing").problem, "there is no such folder");
  make("file");
  EXPECT_EQ(list_media_folder(folder_ / "file").problem, "this is not a folder");
}

TEST_F(MediaFolder, TwoDotsBehindALinkAreTheFolderThatItPointsInto) {
  std::filesystem::create_directories(folder_ / "sub/deep");
  std::filesystem::create_directory_symlink(folder_ / "sub/deep", folder_ / "link");
  make("outside.mp4"), make("sub/inside.mp4");
  const std::string sub = std::filesystem::canonical(folder_ / "sub").string();
  const FolderList list = list_media_folder(folder_ / "link/../");
  EXPECT_EQ(list.folder, sub);
  ASSERT_EQ(list.entries.size(), 2u);
  EXPECT_EQ(list.entries[1].name, "inside.mp4");
  EXPECT_EQ(expand_sources({folder_ / "link/.."}), std::vector<std::string>{sub + "/inside.mp4"});
  EXPECT_EQ(plain_path(folder_ / "sub/../link"), folder_ / "link") << "other links are not resolved";
  EXPECT_EQ(list_media_folder(folder_ / "link/../missing").problem, "there is no such folder");
}

}  // namespace
}  // namespace lensd
