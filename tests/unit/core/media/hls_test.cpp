// HLS outputs: segments and their playlist, on good and bad disks.

#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/owned_thread.hpp"
#include "core/base/text/text.hpp"
#include "core/media/hls_playlist.hpp"
#include "core/media/stream_output.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/stream_fixture.hpp"
#include "tests/unit/core/media/system_calls.hpp"

namespace lensd::test {
namespace {

using namespace std::chrono_literals;
using HlsTest = StreamTest;

TEST_F(HlsTest, APlaylistPlaysAndEnds) {
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 1);
  EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  send(output, 1, 119, 2ms);
  output.source_ended();
  output.finish();
  const std::string playlist = get("live.m3u8");
  EXPECT_NE(playlist.find("#EXT-X-ENDLIST"), std::string::npos) << playlist;
  size_t frames = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    if (entry.path().extension() == ".ts") frames += read_all(*open_source(entry.path(), {})).infos.size();
  EXPECT_EQ(static_cast<int64_t>(frames), output.status().sent);
  EXPECT_GE(frames, 60u);
}

/// Returns the number after `tag` in a playlist, or -1.
int64_t number_after(const std::string& playlist, const std::string& tag) {
  const size_t at = playlist.find(tag);
  return at == std::string::npos ? -1 : std::atoll(playlist.c_str() + at + tag.size());
}

TEST_F(HlsTest, APlaylistContinuesAfterARestart) {
  std::vector<std::string> playlists;
  for (int run = 0; run < 4; ++run) {
    StreamOutput output(options(file("live.m3u8")));
    send(output, 0, 1);
    EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
    send(output, 1, 299, 2ms);  // 12 s, six segments of about two seconds
    output.finish();
    playlists.push_back(get("live.m3u8"));
  }
  int64_t last = -1;
  for (const std::string& playlist : playlists) {
    EXPECT_EQ(playlist.find("#EXT-X-ENDLIST"), std::string::npos) << playlist;
    const int64_t sequence = number_after(playlist, "#EXT-X-MEDIA-SEQUENCE:");
    EXPECT_GT(sequence, last) << playlist;
    last = sequence;
  }
  EXPECT_NE(playlists.back().find("#EXT-X-DISCONTINUITY"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file("live-0.ts"))) << "a segment that left the list stays";
  size_t segments = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    if (entry.path().extension() == ".ts") ++segments;
  EXPECT_LE(segments, 10u);
}

TEST_F(HlsTest, APlaylistOfAnotherProgramIsNotContinued) {
  std::filesystem::create_directory(file("others"));
  const std::string hidden("#\0", 2);  // FFmpeg ends a line at a null character
  for (const std::string& begin : {std::string(), hidden}) {
    std::string playlist = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n";
    for (int i = 0; i < 12; ++i) {
      const std::string name = "others/f" + std::to_string(i);
      put(name, "mine");
      playlist += "#EXTINF:2.0,\n" + begin + file(name) + "\n";
    }
    put("live.m3u8", playlist);
    StreamOutput output(options(file("live.m3u8")));
    send(output, 0, 1);
    EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
    send(output, 1, 49, 2ms);
    output.finish();
    for (int i = 0; i < 12; ++i) EXPECT_EQ(get("others/f" + std::to_string(i)), "mine") << "file " << i;
    EXPECT_EQ(get("live.m3u8").find("others"), std::string::npos) << get("live.m3u8");
  }
}

TEST_F(HlsTest, PlaylistsOfLensdListUpToSixOfTheirSegments) {
  std::string playlist = "#EXTM3U\n";
  put("live.m3u8", playlist);
  EXPECT_FALSE(continues_playlist(file("live.m3u8"))) << "no segment";
  for (int i = 0; i < 7; ++i) {
    playlist += "#EXTINF:2.0,\nlive-" + std::to_string(i) + ".ts\n";
    put("live.m3u8", playlist);
    EXPECT_EQ(continues_playlist(file("live.m3u8")), i < 6) << i + 1 << " segments";
  }
  for (const char* name :
       {"live0.ts", "live-.ts", "live-1x.ts", "other-1.ts", "live-1.mp4", "../live-1.ts"}) {
    put("live.m3u8", std::string("#EXTM3U\n#EXTINF:2.0,\n") + name + "\n");
    EXPECT_FALSE(continues_playlist(file("live.m3u8"))) << name;
  }
  EXPECT_FALSE(continues_playlist(file("missing.m3u8")));
}

TEST_F(HlsTest, APlaylistHasOneOutputAtATime) {
  StreamOutput first(options(file("live.m3u8")));
  send(first, 0, 1);
  ASSERT_TRUE(eventually([&] { return first.status().state == StreamOutput::State::sending; }));
  StreamOutput second(options(file("live.m3u8")));
  send(second, 0, 1);
  ASSERT_TRUE(eventually([&] { return second.status().state == StreamOutput::State::waiting; }));
  const std::vector<Notice> notices = second.take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].text.find("another output writes this playlist; retrying"), std::string::npos)
      << notices[0].text;
  send(first, 1, 60);
  first.finish();
  EXPECT_TRUE(eventually([&] { return second.status().state == StreamOutput::State::sending; }));
  EXPECT_EQ(second.status().sent, 0) << "the second output has written beside the first";
}

TEST_F(HlsTest, OnAFullDiskThePlaylistStays) {
  const auto run = [&](int64_t bytes) {
    const SmallDisk disk(folder_.path(), bytes);
    StreamOutput output(options(file("live.m3u8")));
    int64_t next = 0;  // frames before the connection are not sent
    EXPECT_TRUE(eventually([&] {
      send(output, next++, 1);
      return output.status().sent > 0;
    }));
    send(output, next, 159, 2ms);
    output.source_ended();
    try {
      output.finish();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  constexpr int64_t kLarge = int64_t{1} << 30;
  EXPECT_EQ(run(kLarge), "");
  const auto segment = static_cast<int64_t>(std::filesystem::file_size(file("live-0.ts")));
  // The room is enough for no segment, half a segment, one segment and a part of its playlist, two segments.
  for (const int64_t room : {int64_t{100}, segment / 2, segment + 10, 2 * segment + 1000}) {
    // Begin again, because the old segments of a long playlist are deleted, which makes room.
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      std::filesystem::remove(entry.path());
    EXPECT_EQ(run(kLarge), "");
    const std::string playlist = get("live.m3u8");
    int64_t used = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      used += static_cast<int64_t>(entry.file_size());
    EXPECT_NE(run(used + room).find("segments are missing"), std::string::npos) << room;
    const std::string now = get("live.m3u8");
    EXPECT_TRUE(now.starts_with("#EXTM3U")) << room << " bytes: " << now;
    int listed = 0;
    for (const std::string& line : split(now, "\n")) {
      if (line.empty() || line.starts_with('#')) continue;
      EXPECT_TRUE(std::filesystem::exists(file(line))) << room << " bytes: no " << line;
      ++listed;
    }
    EXPECT_GT(listed, 0) << room;
    if (room == 100) {  // with more room, a shorter segment can be written after the failure
      EXPECT_EQ(now, playlist) << "replaced by an incomplete file";
    }
  }
}

TEST_F(HlsTest, APlaylistInAMissingFolderIsNotComplete) {
  StreamOutput output(options(file("missing/live.m3u8")));
  send(output, 0, 10);
  EXPECT_THROW(output.finish(), Error);
  const std::vector<Notice> notices = output.take_notices();
  ASSERT_FALSE(notices.empty());
  EXPECT_NE(notices[0].text.find("no such file or directory"), std::string::npos) << notices[0].text;
}

TEST_F(HlsTest, APlaylistWhoseEndBlocksIsNotComplete) {
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 10);
  EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  const SlowDisk disk(folder_.path(), {}, 3000ms);
  EXPECT_THROW(output.finish(), Error);
  join_stragglers(std::chrono::seconds(20));
}

TEST_F(HlsTest, APlaylistWithoutItsFirstPartIsNotComplete) {
  StreamOutput output(options(file("later/live.m3u8")));
  send(output, 0, 10);
  ASSERT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::waiting; }));
  constexpr ImageFormat larger{PixelFormat::rgba8, {320, 240}};
  output.write(picture(larger, 10).ref(), at(10));
  std::filesystem::create_directory(file("later"));
  ASSERT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  for (int i = 11; i < 20; ++i) output.write(picture(larger, i).ref(), at(i));
  EXPECT_THROW(output.finish(), Error);
}

TEST_F(HlsTest, APlaylistThatCannotBeReplacedIsNotComplete) {
  std::filesystem::create_directory(file("live.m3u8"));
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 10);
  EXPECT_THROW(output.finish(), Error);
  EXPECT_FALSE(std::filesystem::exists(file("live.m3u8.tmp")));
  const std::vector<Notice> notices = output.take_notices();
  ASSERT_FALSE(notices.empty());
  EXPECT_NE(notices.back().text.find("is a directory"), std::string::npos) << notices.back().text;
}

TEST_F(HlsTest, FilesOfOthersWithNamesOfTemporaryFilesAreKept) {
  const std::string victim = file("victim"), temporary = file("live-0.ts.tmp");
  std::ofstream(victim) << "precious";
  std::filesystem::create_symlink(victim, temporary);
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 60, 2ms);
  EXPECT_THROW(output.finish(), Error);
  EXPECT_EQ(get("victim"), "precious");
  EXPECT_TRUE(std::filesystem::is_symlink(temporary));
  EXPECT_FALSE(std::filesystem::is_symlink(file("live-0.ts"))) << "the link was renamed";
  std::string text;
  for (const Notice& notice : output.take_notices()) text += notice.text + "\n";
  EXPECT_NE(text.find("live-0.ts.tmp: the file is not"), std::string::npos) << text;
}

TEST_F(HlsTest, TheTemporaryFileOfAKilledProcessIsReplaced) {
  std::ofstream(file("live-0.ts.tmp")) << "incomplete";
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 60, 2ms);
  EXPECT_NO_THROW(output.finish());
  EXPECT_GT(std::filesystem::file_size(file("live-0.ts")), 1000u);
}

TEST_F(HlsTest, TheLockFileIsForItsUserOnly) {
  const std::string lock = file(".live.m3u8.lock");
  const auto mode_after = [&](mode_t before) {
    if (before != 0) chmod(lock.c_str(), before);
    StreamOutput output(options(file("live.m3u8")));
    send(output, 0, 60, 2ms);
    EXPECT_NO_THROW(output.finish());
    return static_cast<mode_t>(std::filesystem::status(lock).permissions());
  };
  EXPECT_EQ(mode_after(0), 0600u);
  EXPECT_EQ(mode_after(0644), 0600u) << "everybody could hold the lock";
  EXPECT_EQ(mode_after(0666), 0660u);
  EXPECT_EQ(mode_after(0660), 0660u) << "chosen by the user";
}

TEST_F(HlsTest, APartOfAPlaylistWaitsForTheEndOfThePartBefore) {
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 10);
  ASSERT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  const SlowDisk disk(folder_.path(), {}, 4000ms);
  constexpr ImageFormat larger{PixelFormat::rgba8, {320, 240}};
  output.write(picture(larger, 10).ref(), at(10));
  ASSERT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::waiting; }));
  std::string notices;
  for (const Notice& notice : output.take_notices()) notices += notice.text + "\n";
  EXPECT_NE(notices.find("the part before it is still being written; retrying"), std::string::npos)
      << notices;
  EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  join_stragglers(std::chrono::seconds(20));
}

TEST_F(HlsTest, APlaylistsPathHasNoNumberPattern) {
  for (const char* path : {"cam%d.m3u8", "/a%03d/cam.m3u8"})
    EXPECT_THROW(StreamOutput{options(path)}, Error) << path;
  for (const char* path : {"50%.m3u8", "%cam.m3u8", "100%/day.m3u8"})
    EXPECT_NO_THROW(StreamOutput{options(path)}) << path;
}

}  // namespace
}  // namespace lensd::test
