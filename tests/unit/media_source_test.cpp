// Sources: counts and times, exact seeking, corrupt files, refusals, reused buffers.
#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "core/media/input/ffmpeg_source.hpp"
#include "tests/unit/media_fixture.hpp"

namespace lensd::test {
namespace {

constexpr ImageFormat kSmall{PixelFormat::rgba8, {64, 48}};

TEST_F(MediaTest, GeneratedSourceHasRegularTimes) {
  auto source = open_source("test:testsrc2=size=160x120:rate=30:duration=1", {});
  EXPECT_EQ(source->info().picture.extent, (Extent{160, 120}));
  EXPECT_NEAR(source->info().fps, 30, 1e-9);
  EXPECT_FALSE(source->info().image);
  const Decoded decoded = read_all(*source);
  ASSERT_EQ(decoded.infos.size(), 30u);
  for (size_t i = 0; i < 30; ++i) {
    EXPECT_EQ(decoded.infos[i].index, static_cast<int64_t>(i));
    EXPECT_NEAR(static_cast<double>(decoded.infos[i].pts_ns), static_cast<double>(i) * 1e9 / 30, 1);
    EXPECT_GT(decoded.infos[i].capture_ns, 0);
  }
  EXPECT_NE(decoded.digests[0], decoded.digests[1]);
  EXPECT_EQ(source->stream_errors(), "");
  source->seek(500'000'000);
  const Decoded rest = read_all(*source);
  ASSERT_EQ(rest.infos.size(), 15u);
  EXPECT_EQ(rest.infos[0].index, 15);
  EXPECT_EQ(rest.digests[0], decoded.digests[15]);
}

struct SeekCase {
  const char* name;
  const char* codec;
  double fps;
};

class SeekTest : public MediaTest, public testing::WithParamInterface<SeekCase> {};

TEST_P(SeekTest, EveryFrameIsReachedExactly) {
  RecorderOptions options;
  options.fps = GetParam().fps;
  options.codec = GetParam().codec;
  // 7 s at 25 fps: two key frames at least (one every 5 s).
  const int frames = static_cast<int>(7 * options.fps);
  const std::string path = record(file(GetParam().name), kSmall, frames, options);
  auto source = open_source(path, {});
  const Decoded linear = read_all(*source);
  ASSERT_EQ(linear.infos.size(), static_cast<size_t>(frames));
  EXPECT_EQ(source->stream_errors(), "");
  EXPECT_TRUE(source->info().seekable);
  for (const int target : {0, 1, frames - 1, frames / 2, 3, frames - 2, frames / 3, frames * 3 / 4, 0}) {
    const auto i = static_cast<size_t>(target);
    source->seek(linear.infos[i].pts_ns);
    Picture picture;
    ASSERT_EQ(source->next(picture), FrameOutcome::ok) << target;
    EXPECT_EQ(picture.info.index, target);
    EXPECT_EQ(picture.info.pts_ns, linear.infos[i].pts_ns);
    EXPECT_EQ(digest(picture.planes), linear.digests[i]) << target;
    if (target + 1 < frames) {
      // A position just after a frame gives the next one.
      source->seek(linear.infos[i].pts_ns + 2'000'000);
      ASSERT_EQ(source->next(picture), FrameOutcome::ok);
      EXPECT_EQ(digest(picture.planes), linear.digests[i + 1]) << target;
    }
  }
  source->seek(60'000'000'000);
  Picture picture;
  EXPECT_EQ(source->next(picture), FrameOutcome::end_of_stream);
  SourceOptions from_two;
  from_two.start_ns = 2'000'000'000;
  auto later = open_source(path, from_two);
  ASSERT_EQ(later->next(picture), FrameOutcome::ok);
  EXPECT_GE(picture.info.pts_ns, 1'999'999'000);
  EXPECT_LT(picture.info.pts_ns, 2'050'000'000);
}

INSTANTIATE_TEST_SUITE_P(Containers, SeekTest,
                         testing::Values(SeekCase{"a.mp4", "", 25}, SeekCase{"a.mkv", "", 30000.0 / 1001},
                                         SeekCase{"a.avi", "", 25}, SeekCase{"a.avi", "ffv1", 25},
                                         SeekCase{"a.mkv", "mpeg2video", 25}, SeekCase{"a.webm", "", 10}));

TEST_F(MediaTest, SequenceSeeksExactly) {
  record(file("s_%03d.png"), kSmall, 12);
  auto source = open_source(file("s_%03d.png"), {});
  const Decoded linear = read_all(*source);
  ASSERT_EQ(linear.infos.size(), 12u);
  source->seek(linear.infos[7].pts_ns);
  Picture picture;
  ASSERT_EQ(source->next(picture), FrameOutcome::ok);
  EXPECT_EQ(picture.info.index, 7);
  EXPECT_EQ(digest(picture.planes), linear.digests[7]);
}

TEST_F(MediaTest, CutFilesPlayToTheCut) {
  RecorderOptions avi;
  avi.codec = "mjpeg";
  record(file("whole.avi"), kSmall, 50, avi);
  record(file("whole.mkv"), kSmall, 50);
  record(file("whole.mp4"), kSmall, 50);
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
    // A finished .mp4 of newer FFmpeg has its index at the end: a cut one is refused (see above).
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
  if (geteuid() != 0) {
    put("locked.mp4", "x");
    chmod(file("locked.mp4").c_str(), 0);
    expect(file("locked.mp4"), "no permission");
  }
}

std::string le(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string wav(int samples) {
  const auto bytes = static_cast<uint32_t>(samples * 2);
  std::string out = "RIFF" + le(36 + bytes, 4) + "WAVEfmt " + le(16, 4) + le(1, 2) + le(1, 2) + le(8000, 4) +
                    le(16000, 4) + le(2, 2) + le(16, 2) + "data" + le(bytes, 4);
  for (int i = 0; i < samples; ++i) out += le(static_cast<uint32_t>(i * 91), 2);
  return out;
}

TEST_F(MediaTest, AudioOnlyHasNoVideo) {
  put("a.wav", wav(8000));
  EXPECT_NE(std::string(refusal(file("a.wav")).what()).find("no video stream"), std::string::npos);
}

TEST_F(MediaTest, AudioIsCopiedIfTheContainerSupportsIt) {
  put("a.wav", wav(16000));
  RecorderOptions options;
  options.audio_from = file("a.wav");
  record(file("with.mkv"), kSmall, 50, options);
  auto source = open_source(file("with.mkv"), {});
  EXPECT_TRUE(source->info().has_audio);
  EXPECT_EQ(read_all(*source).infos.size(), 50u);
  options.audio_from = file("with.mkv");
  record(file("again.avi"), kSmall, 50, options);
  EXPECT_TRUE(open_source(file("again.avi"), {})->info().has_audio);
  record(file("without.webm"), kSmall, 5, options);  // WebM takes no PCM
  EXPECT_FALSE(open_source(file("without.webm"), {})->info().has_audio);
}

TEST_F(MediaTest, ForgedSizesAreRefusedBeforeAllocation) {
  record(file("a_%d.png"), kSmall, 1);
  std::string bytes = get("a_1.png");
  bytes[16] = 0, bytes[17] = 0, bytes[18] = static_cast<char>(0xEA), bytes[19] = 0x60;  // IHDR width 60000
  put("forged.png", bytes);
  EXPECT_EQ(refusal(file("forged.png")).code(), ExitCode::bad_source);
  bytes[16] = 0x7F;
  put("forged.png", bytes);
  EXPECT_EQ(refusal(file("forged.png")).code(), ExitCode::bad_source);
}

TEST_F(MediaTest, BuffersAreReused) {
  const std::string path = record(file("a.mp4"), kSmall, 150);
  SourceOptions options;
  options.decoder_threads = 1;  // with more threads, the number of buffers depends on timing
  FfmpegSource source(path, options);
  Picture held, picture;
  int after_warm_up = 0;
  for (int i = 0; i < 150; ++i) {
    ASSERT_EQ(source.next(picture), FrameOutcome::ok);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(picture.planes.planes[0]) % 32, 0u);
    EXPECT_EQ(picture.planes.pitch_bytes[0] % 64, 0);
    held = picture.share();
    if (i == 60) after_warm_up = source.blocks();
  }
  EXPECT_GT(after_warm_up, 0);
  EXPECT_EQ(source.blocks(), after_warm_up);
}

TEST_F(MediaTest, PicturesOutliveTheirSource) {
  const std::string path = record(file("a.mkv"), kSmall, 10);
  auto source = open_source(path, {});
  const std::string wanted = read_all(*source).digests[3];
  source = open_source(path, {});
  std::vector<Picture> kept(5);
  for (Picture& picture : kept) ASSERT_EQ(source->next(picture), FrameOutcome::ok);
  source.reset();
  EXPECT_EQ(digest(kept[3].planes), wanted);
  std::thread([pictures = std::move(kept)]() mutable { pictures.clear(); }).join();
}

TEST_F(MediaTest, SizeChangesInMidStreamAreDelivered) {
  RecorderOptions still;
  still.still = true;
  record(file("a.jpg"), kSmall, 1, still);
  record(file("b.jpg"), {PixelFormat::rgba8, {32, 80}}, 1, still);
  const std::string a = get("a.jpg"), b = get("b.jpg");
  put("ab.mjpeg", a + a + b + b + a);
  auto source = open_source(file("ab.mjpeg"), {});
  std::vector<Extent> extents;
  Picture picture;
  while (source->next(picture) == FrameOutcome::ok) extents.push_back(picture.planes.info.extent);
  EXPECT_EQ(extents, (std::vector<Extent>{{64, 48}, {64, 48}, {32, 80}, {32, 80}, {64, 48}}));
}

TEST_F(MediaTest, PaletteImagesBecomeRgba) {
  auto source = open_source("test:pal75bars=size=64x48:rate=5:duration=1", {});
  EXPECT_EQ(source->info().picture.format.model, ColourModel::yuv);
  // A palette picture: an uncompressed 8-bit BMP of 2×2 with two colours.
  std::string bmp = "BM" + le(14 + 40 + 8 + 8, 4) + le(0, 4) + le(14 + 40 + 8, 4) + le(40, 4) + le(2, 4) +
                    le(2, 4) + le(1, 2) + le(8, 2) + le(0, 4) + le(8, 4) + le(0, 8) + le(2, 4) + le(2, 4);
  bmp += le(0x00102030, 4) + le(0x00A0B0C0, 4);
  bmp += std::string("\0\1\0\0", 4) + std::string("\1\0\0\0", 4);
  put("a.bmp", bmp);
  auto image = open_source(file("a.bmp"), {});
  EXPECT_TRUE(image->info().image);
  Picture picture;
  ASSERT_EQ(image->next(picture), FrameOutcome::ok);
  ASSERT_EQ(picture.planes.info.format.model, ColourModel::rgb);
  EXPECT_EQ(sample(picture.planes, 0, 1, 0), 0x10);
  EXPECT_EQ(sample(picture.planes, 0, 1, 1), 0x20);
  EXPECT_EQ(sample(picture.planes, 1, 1, 2), 0xC0);
}

TEST_F(MediaTest, SilentPipesCanBeInterruptedAndCancelled) {
  const std::string fifo = file("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::atomic<bool> cancel{false};
  SourceOptions options;
  options.cancel = &cancel;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancel = true;
  });
  EXPECT_NE(std::string(refusal(fifo, options).what()).find("interrupted"), std::string::npos);
  canceller.join();

  RecorderOptions mjpeg;
  mjpeg.codec = "mjpeg";
  record(file("a.mkv"), kSmall, 20, mjpeg);
  const std::string bytes = get("a.mkv");
  std::atomic<bool> done{false};
  std::thread writer([&] {
    const int fd = open(fifo.c_str(), O_WRONLY);
    EXPECT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    while (!done) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    close(fd);
  });
  auto source = open_source(fifo, {});
  EXPECT_FALSE(source->info().seekable);
  EXPECT_THROW(source->seek(0), Error);
  std::thread interrupter([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    source->interrupt();
  });
  Picture picture;
  int frames = 0;
  FrameOutcome outcome;
  while ((outcome = source->next(picture)) == FrameOutcome::ok) ++frames;
  EXPECT_EQ(outcome, FrameOutcome::again);  // the writer is silent but has not closed the pipe
  EXPECT_GT(frames, 0);
  interrupter.join();
  done = true;
  writer.join();
}

TEST_F(MediaTest, HardwareDecodingFailsOrFallsBack) {
  RecorderOptions ffv1;
  ffv1.codec = "ffv1";
  const std::string path = record(file("a.mkv"), kSmall, 3, ffv1);
  SourceOptions options;
  options.hwdec = HwDecode::cuda;
  EXPECT_EQ(refusal(path, options).code(), ExitCode::unavailable);  // NVDEC does not support FFV1
  options.hwdec = HwDecode::automatic;
  auto source = open_source(path, options);
  EXPECT_EQ(source->info().decoder, "software");
  EXPECT_EQ(read_all(*source).infos.size(), 3u);
}

}  // namespace
}  // namespace lensd::test
