// Sources: cut, broken and forged files, refusals.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

constexpr ImageFormat kDamagedSource{PixelFormat::rgba8, {64, 48}};

TEST_F(MediaTest, CutFilesPlayToTheCut) {
  RecorderOptions avi;
  avi.codec = "mjpeg";
  record(file("whole.avi"), kDamagedSource, 50, avi);
  record(file("whole.mkv"), kDamagedSource, 50);
  record(file("whole.mp4"), kDamagedSource, 50);
  for (const std::string ending : {".avi", ".mkv", ".mp4"}) {
    const std::string whole = get("whole" + ending);
    size_t before = 0;
    for (const size_t percent : {1, 30, 60, 90, 97}) {
      put("cut" + ending, whole.substr(0, whole.size() * percent / 100));
      try {
        auto source = open_source(file("cut" + ending), {});
        const size_t frames = read_all(*source).infos.size();
        EXPECT_GE(frames, 1u);
        EXPECT_LE(frames, 50u);
        EXPECT_GE(frames + 1, before) << ending << " " << percent;
        if (frames < 45) {
          EXPECT_NE(source->stream_errors().find("the file ends early"), std::string::npos)
              << ending << " at " << percent << " %: " << frames << " frames, '" << source->stream_errors()
              << "'";
        }
        before = frames;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::bad_source) << ending << percent;
        EXPECT_EQ(before, 0u) << ending << percent << error.what();
      }
    }
    // Newer FFmpeg writes the index of a finished .mp4 at the end, so a cut .mp4 may be refused.
    if (ending != ".mp4") {
      EXPECT_GT(before, 30u) << ending;
    }
  }
}

TEST_F(MediaTest, BrokenBytesAreCountedNotThrown) {
  RecorderOptions options;
  options.codec = "mpeg2video";
  record(file("a.mkv"), {PixelFormat::rgba8, {320, 240}}, 50, options);
  std::string bytes = get("a.mkv");
  for (size_t i = bytes.size() / 3; i < bytes.size() * 2 / 3; i += 97)
    bytes[i] = static_cast<char>(~bytes[i]);
  put("broken.mkv", bytes);
  auto source = open_source(file("broken.mkv"), {});
  EXPECT_GT(read_all(*source).infos.size(), 10u);
  EXPECT_NE(source->stream_errors(), "");
}

TEST_F(MediaTest, RefusalsAreOneSentence) {
  put("empty.mp4", "");
  put("one.mp4", "x");
  put("text.txt", std::string(3000, 'a') + "\nthis is only text\n");
  put("list.m3u8", "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n/etc/passwd\n#EXT-X-ENDLIST\n");
  put("list.ffconcat", "ffconcat version 1.0\nfile /etc/hostname\n");
  const auto expect = [&](const std::string& url, const std::string& words) {
    const Error error = refusal(url);
    EXPECT_EQ(error.code(), ExitCode::bad_source) << url;
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << url << ": " << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
  };
  expect(file("missing.mp4"), "there is no such file");
  expect(file("empty.mp4"), "the file is empty");
  expect(file(""), "directory");
  expect(file("one.mp4"), "not a video or image");
  expect(file("text.txt"), "not a video or image");
  expect(file("list.m3u8"), "playlists");
  expect(file("list.ffconcat"), "playlists");
  expect(file("none_%04d.png"), "no image of this sequence");
  expect("test:nosuchthing", "not a generated video");
  expect("test:movie=/etc/passwd", "not a generated video");
  expect("test:testsrc2,drawtext=textfile=/etc/passwd", "only one source");
  put("pattern", "  @@  \n @  @ \n");
  for (const char* generator : {"life", "cellauto"})
    for (const std::string& arguments :
         {"filename=" + file("pattern"), "f=" + file("pattern"), file("pattern"),
          "size=64x48:f=" + file("pattern"), "'f'=" + file("pattern"), "f\\=" + file("pattern"),
          "/rule=" + file("pattern")})
      expect(fmt::format("test:{}={}", generator, arguments), "may not read files");
  EXPECT_EQ(open_source("test:life=size=64x48:rule=B3/S23:seed=1", {})->info().picture.extent,
            (Extent{64, 48}));
  EXPECT_EQ(open_source("test:cellauto=size=64x48:seed=1:rule=18", {})->info().picture.extent,
            (Extent{64, 48}));
  if (geteuid() != 0) {
    put("locked.mp4", "x");
    chmod(file("locked.mp4").c_str(), 0);
    expect(file("locked.mp4"), "no permission");
  }
}

TEST_F(MediaTest, ForgedSizesAreRefusedBeforeAllocation) {
  record(file("a_%d.png"), kDamagedSource, 1);
  std::string bytes = get("a_1.png");
  bytes[16] = 0, bytes[17] = 0, bytes[18] = static_cast<char>(0xEA), bytes[19] = 0x60;  // IHDR width 60000
  put("forged.png", bytes);
  EXPECT_EQ(refusal(file("forged.png")).code(), ExitCode::bad_source);
  bytes[16] = 0x7F;
  put("forged.png", bytes);
  EXPECT_EQ(refusal(file("forged.png")).code(), ExitCode::bad_source);

  // 16384×16000 with four 16-bit channels: within the limits, but too large for such a short file.
  bytes[16] = bytes[17] = bytes[19] = 0, bytes[18] = 0x40;
  bytes[20] = bytes[21] = 0, bytes[22] = 0x3E, bytes[23] = static_cast<char>(0x80);
  bytes[24] = 16, bytes[25] = 6;
  put("forged.png", bytes), put("forged_1.png", bytes);
  rusage before = {}, after = {};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_NE(std::string(refusal(file("forged.png")).what()).find("too short for a picture of 16384×16000"),
            std::string::npos);
  EXPECT_EQ(refusal(file("forged_%d.png")).code(), ExitCode::bad_source);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 200'000) << "KiB";
}

}  // namespace
}  // namespace lensd::test
