// Recorders, images and frame hashes. The tests read the files back. With lossless codecs, the pictures must
// be exact.
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "core/base/error.hpp"
#include "core/base/unique_fd.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {
namespace {

/// Returns the largest difference in R, G, B and A (if present) between a decoded RGB or gray picture and
/// `image`.
int worst(const PictureRef& ref, const Image& image) {
  int out = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c) {
        if (c == 3 && !ref.info.format.has_alpha) continue;
        out = std::max(out, std::abs(int{sample(ref, x, y, c)} - int{image.at(x, y, c)}));
      }
  return out;
}

struct LosslessCase {
  const char* name;
  const char* codec;
  ImageFormat format;
};

class LosslessTest : public MediaTest, public testing::WithParamInterface<LosslessCase> {};

TEST_P(LosslessTest, ReadsBackExactly) {
  const auto& [name, codec, format] = GetParam();
  RecorderOptions options;
  options.codec = codec;
  record(file(name), format, 3, options);
  auto source = open_source(file(name), {});
  for (int i = 0; i < 3; ++i) {
    Picture got;
    ASSERT_EQ(source->next(got), FrameOutcome::ok);
    EXPECT_EQ(got.planes.info.extent, format.extent);
    ASSERT_NE(got.planes.info.format.model, ColourModel::yuv);
    EXPECT_EQ(got.planes.info.format.has_alpha, format.format == PixelFormat::rgba8);
    EXPECT_EQ(worst(got.planes, picture(format, i)), 0) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Codecs, LosslessTest,
                         testing::Values(LosslessCase{"a.mkv", "ffv1", {PixelFormat::rgba8, {64, 48}}},
                                         LosslessCase{"a.avi", "ffv1", {PixelFormat::rgba8, {17, 31}}},
                                         LosslessCase{"a.mkv", "ffv1", {PixelFormat::gray8, {17, 31}}},
                                         LosslessCase{"a.mkv", "ffv1", {PixelFormat::rgba8, {1, 1}}},
                                         LosslessCase{"a%d.png", "", {PixelFormat::rgba8, {17, 31}}},
                                         LosslessCase{"a%03d.png", "", {PixelFormat::gray8, {1, 1}}}));

class ContainerTest : public MediaTest, public testing::WithParamInterface<const char*> {};

TEST_P(ContainerTest, ReadsBackEverySizeAndCount) {
  for (const ImageFormat format :
       {ImageFormat{PixelFormat::rgba8, {64, 48}}, ImageFormat{PixelFormat::rgba8, {17, 31}},
        ImageFormat{PixelFormat::gray8, {66, 51}}, ImageFormat{PixelFormat::rgba8, {1, 1}}}) {
    const std::string path = record(file(std::string("a") + GetParam()), format, 30);
    auto source = open_source(path, {});
    EXPECT_EQ(source->info().picture.extent, format.extent);
    EXPECT_EQ(source->info().picture.colour.matrix, YuvMatrix::bt601);
    const Decoded decoded = read_all(*source);
    ASSERT_EQ(decoded.infos.size(), 30u) << format.extent.width;
    // Matroska stores timestamps in milliseconds.
    for (size_t i = 0; i < 30; ++i)
      EXPECT_NEAR(static_cast<double>(decoded.infos[i].pts_ns), static_cast<double>(i) * 4e7, 6e5) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ContainerTest, testing::Values(".mp4", ".mov", ".mkv", ".webm", ".avi"));

TEST_F(MediaTest, LargePicturesAreTaggedBt709) {
  const std::string path = record(file("a.mp4"), {PixelFormat::rgba8, {1280, 720}}, 2);
  const auto colour = open_source(path, {})->info().picture.colour;
  EXPECT_EQ(colour.matrix, YuvMatrix::bt709);
  EXPECT_FALSE(colour.guessed.matrix || colour.guessed.range || colour.guessed.primaries);
  EXPECT_EQ(colour.range, Range::limited);
}

TEST_F(MediaTest, KeepsVariableTimesAndContinuesAfterJumps) {
  const ImageFormat format{PixelFormat::rgba8, {32, 32}};
  auto recorder = open_recorder(file("a.mp4"), format, {});
  // The times start at 1 s, have a gap of half a second, repeat, then jump back to 0.
  for (const int64_t ms : {1000, 1040, 1540, 1540, 0, 40}) {
    FrameInfo info;
    info.pts_ns = ms * 1'000'000;
    info.serial = ms < 1000 ? 1 : 0;
    recorder->write(picture(format, static_cast<int>(ms)).ref(), info);
  }
  recorder->finish();
  auto source = open_source(file("a.mp4"), {});
  const Decoded decoded = read_all(*source);
  ASSERT_EQ(decoded.infos.size(), 6u);
  EXPECT_EQ(decoded.infos[1].pts_ns, 40'000'000);
  EXPECT_EQ(decoded.infos[2].pts_ns, 540'000'000);
  for (size_t i = 1; i < 6; ++i) EXPECT_GT(decoded.infos[i].pts_ns, decoded.infos[i - 1].pts_ns);
  EXPECT_NEAR(static_cast<double>(decoded.infos[5].pts_ns - decoded.infos[4].pts_ns), 4e7, 2e4);
}

TEST_F(MediaTest, TheLastPictureKeepsItsDuration) {
  for (const char* name : {"a.mkv", "a.mp4"}) {
    for (const char* codec : {"libx264", "mjpeg"}) {  // with and without reordered pictures
      RecorderOptions options;
      options.codec = codec;
      auto recorder = open_recorder(file(name), {PixelFormat::rgba8, {64, 48}}, options);
      for (int i = 0; i < 10; ++i) {
        FrameInfo info = at(i);
        info.duration_ns = i < 9 ? 40'000'000 : 2'000'000'000;
        recorder->write(picture({PixelFormat::rgba8, {64, 48}}, i).ref(), info);
      }
      recorder->finish();
      const auto source = open_source(file(name), {});
      EXPECT_NEAR(static_cast<double>(source->info().duration_ns), 2.36e9, 0.05e9) << name << ' ' << codec;
      EXPECT_EQ(read_all(*source).infos.size(), 10u);
    }
  }
}

TEST_F(MediaTest, AnUnfinishedMp4Plays) {
  const ImageFormat format{PixelFormat::rgba8, {64, 48}};
  auto recorder = open_recorder(file("a.mp4"), format, {});
  for (int i = 0; i < 400; ++i) recorder->write(picture(format, i).ref(), at(i));
  std::filesystem::copy_file(file("a.mp4"), file("copy.mp4"));  // as after kill -9
  recorder->finish();
  auto source = open_source(file("copy.mp4"), {});
  EXPECT_GT(read_all(*source).infos.size(), 100u);
  auto whole = open_source(file("a.mp4"), {});
  EXPECT_EQ(read_all(*whole).infos.size(), 400u);
}

TEST_F(MediaTest, AChangeOfTagsEndsTheFile) {
  const ImageFormat format{PixelFormat::rgba8, {64, 48}};
  auto recorder = open_recorder(file("a.mkv"), format, {});
  for (int i = 0; i < 5; ++i) recorder->write(picture(format, i).ref(), at(i));
  FrameInfo hlg = at(5);
  hlg.tags = {Transfer::hlg, Primaries::bt2020};
  EXPECT_THROW(recorder->write(picture(format, 5).ref(), hlg), Error);
  recorder->finish();
  EXPECT_EQ(read_all(*open_source(file("a.mkv"), {})).infos.size(), 5u);
}

TEST_F(MediaTest, AFullDiskIsReported) {
  const ImageFormat format{PixelFormat::rgba8, {64, 48}};
  std::filesystem::create_symlink("/dev/full", file("full.mkv"));
  try {
    auto recorder = open_recorder(file("full.mkv"), format, {});
    for (int i = 0; i < 2000; ++i) recorder->write(picture(format, i).ref(), at(i));
    recorder->finish();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::runtime_failure);
    EXPECT_NE(std::string(error.what()).find("o space left"), std::string::npos) << error.what();
  }
}

TEST_F(MediaTest, StopEndsTheWaitForTheReaderOfAPipe) {
  const ImageFormat format{PixelFormat::rgba8, {640, 480}};
  ASSERT_EQ(mkfifo(file("pipe.mkv").c_str(), 0600), 0);
  auto reader =
      std::make_unique<UniqueFd>(::open(file("pipe.mkv").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::atomic<bool> stop{false}, failed{false};
  RecorderOptions options;
  options.codec = "ffv1", options.stop = &stop;
  std::string problem;
  std::thread writer([&] {
    try {
      auto recorder = open_recorder(file("pipe.mkv"), format, options);
      for (int i = 0; i < 100; ++i) recorder->write(picture(format, i).ref(), at(i));
    } catch (const Error& error) {
      problem = error.problem();
    }
    failed = true;
  });
  stop = true;
  EXPECT_TRUE(eventually([&] { return failed.load(); }));
  reader.reset();
  writer.join();
  EXPECT_EQ(problem, "the reader of this pipe reads no data");
}

TEST_F(MediaTest, StopEndsTheWaitForTheFirstReaderOfAPipe) {
  ASSERT_EQ(mkfifo(file("pipe.mkv").c_str(), 0600), 0);
  std::atomic<bool> stop{true};
  RecorderOptions options;
  options.stop = &stop;
  try {
    open_recorder(file("pipe.mkv"), {PixelFormat::rgba8, {64, 48}}, options);
    ADD_FAILURE() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.problem(), "nobody reads this pipe");
  }
}

TEST_F(MediaTest, WrongPathsAreRefused) {
  const ImageFormat format{PixelFormat::rgba8, {64, 48}};
  const auto code = [&](const std::string& path, RecorderOptions options = {}) {
    try {
      open_recorder(path, format, options);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::done;
  };
  EXPECT_EQ(code(file("a.xyz")), ExitCode::usage);
  EXPECT_EQ(code(file("a.png")), ExitCode::usage);
  EXPECT_EQ(code(file("none/a.mp4")), ExitCode::runtime_failure);
  EXPECT_EQ(code(file("none/a_%d.png")), ExitCode::runtime_failure);
  RecorderOptions options;
  options.codec = "nosuchcodec";
  EXPECT_EQ(code(file("a.mkv"), options), ExitCode::usage);
  options.codec = "ffv1";
  EXPECT_EQ(code(file("a.webm"), options), ExitCode::usage);
  EXPECT_EQ(code("null:"), ExitCode::done);
}

TEST_F(MediaTest, ImagesAreWrittenAtomically) {
  const Image image = picture({PixelFormat::rgba8, {17, 31}}, 4);
  write_image(file("a.png"), image.ref());
  write_image(file("a.png"), image.ref());
  write_image(file("a.jpg"), image.ref());
  // No temporary file is left behind.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2);
  Picture got;
  auto png = open_source(file("a.png"), {});
  EXPECT_TRUE(png->info().image);
  EXPECT_EQ(png->info().frame_count, 1);
  ASSERT_EQ(png->next(got), FrameOutcome::ok);
  EXPECT_EQ(worst(got.planes, image), 0);
  Picture none;
  EXPECT_EQ(png->next(none), FrameOutcome::end_of_stream);
  png->seek(0);
  ASSERT_EQ(png->next(got), FrameOutcome::ok);
  EXPECT_EQ(worst(got.planes, image), 0);
  auto jpeg = open_source(file("a.jpg"), {});
  ASSERT_EQ(jpeg->next(got), FrameOutcome::ok);
  EXPECT_EQ(got.planes.info.colour, (ColourSpec{YuvMatrix::bt601, Range::full, ChromaSiting::left}));
  EXPECT_FALSE(got.planes.info.colour.guessed.matrix);
  EXPECT_THROW(write_image(file("a.gif"), image.ref()), Error);
  EXPECT_THROW(write_image(file("none/a.png"), image.ref()), Error);
}

TEST_F(MediaTest, FrameHashFile) {
  // SHA-256 of the single byte 0.
  Image zero({PixelFormat::gray8, {1, 1}});
  const std::string sha = "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d";
  EXPECT_EQ(FrameHash::digest(zero.ref()), sha);
  // Padding is not hashed.
  const std::vector<uint8_t> padded = {1, 2, 99, 3, 4, 99};
  Image tight({PixelFormat::gray8, {2, 2}});
  tight.pixels = {1, 2, 3, 4};
  EXPECT_EQ(FrameHash::digest({padded.data(), 3, tight.format}), FrameHash::digest(tight.ref()));
  FrameHash hash(file("h.txt"));
  hash.write(zero.ref(), at(0));
  hash.write(zero.ref(), at(1));
  hash.finish();
  EXPECT_EQ(get("h.txt"),
            "# lensd framehash 1\n# columns: index, pts_ns, sha256\n# format: Gray8\n# size: 1x1\n0, 0, " +
                sha + "\n1, 40000000, " + sha + "\n");
  EXPECT_THROW(FrameHash(file("none/h.txt")), Error);
}

TEST_F(MediaTest, PixelAspectsAreKept) {
  constexpr Extent kEleven{66, 48};  // 66 × 16 / 11 = 96: WebM stores the aspect as a display width
  for (const char* name : {"a.mkv", "a.mp4", "a.webm", "a.avi", "a_%d.png", "a_%d.jpg"}) {
    RecorderOptions options;
    options.pixel_aspect = {16, 11};
    record(file(name), {PixelFormat::rgba8, kEleven}, 3, options);
    auto source = open_source(file(name), {});
    EXPECT_EQ(source->pixel_aspect(), (PixelAspect{16, 11})) << name;
    record(file("square_" + std::string(name)), {PixelFormat::rgba8, kEleven}, 3);
    EXPECT_TRUE(open_source(file("square_" + std::string(name)), {})->pixel_aspect().square()) << name;
  }
}

}  // namespace
}  // namespace lensd::test
