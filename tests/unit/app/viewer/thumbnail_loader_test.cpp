// app/viewer/sources/thumbnail_loader: thumbnails show the key frame at or before a position, upright and in
// the source's shape.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>

#include "app/viewer/sources/thumbnail_loader.hpp"
#include "core/base/clock.hpp"
#include "core/media/recorder.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/no_threads.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace lensd {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

/// Records 10 s of grey pictures with a key frame in each second. The grey level of a picture is 20 times its
/// time in whole seconds.
std::string record_seconds(const std::string& path, Extent size, PixelAspect aspect,
                           const std::string& codec = "mpeg4") {
  RecorderOptions options;
  options.codec = codec, options.fps = 5, options.key_interval_s = 1, options.pixel_aspect = aspect;
  const auto recorder = open_recorder(path, {PixelFormat::gray8, size}, options);
  Image image({PixelFormat::gray8, size});
  for (int i = 0; i < 50; ++i) {
    std::fill(image.pixels.begin(), image.pixels.end(), static_cast<uint8_t>(i / 5 * 20));
    FrameInfo info;
    info.index = i, info.pts_ns = i * kSecond / 5;
    recorder->write(image.ref(), info);
  }
  recorder->finish();
  return path;
}

/// Waits up to 30 s for the thumbnail at a position. Returns null if there is none.
std::shared_ptr<const Image> wait_for_thumbnail(ThumbnailLoader& loader, int64_t position_ns) {
  std::shared_ptr<const Image> image;
  eventually([&] { return (image = loader.find(position_ns)) || !loader.available(); });
  return image;
}

TEST(ThumbnailLoader, ShowsTheKeyFrameBeforeAPosition) {
  const TemporaryFolder folder;
  std::atomic<int> wakes = 0;
  ThumbnailLoader loader([&] { ++wakes; });
  EXPECT_FALSE(loader.available());
  EXPECT_EQ(loader.find(0), nullptr);
  loader.open(record_seconds(folder / "a.mkv", {640, 480}, {}), 10 * kSecond);
  EXPECT_TRUE(loader.available());
  for (const int second : {7, 0, 3, 9}) {
    const auto image = wait_for_thumbnail(loader, second * kSecond + kSecond / 2);
    ASSERT_NE(image, nullptr) << second;
    EXPECT_EQ(image->format, (ImageFormat{PixelFormat::rgba8, {213, 160}}));
    EXPECT_NEAR(image->at(100, 80, 0), second * 20, 4) << second;
    EXPECT_EQ(image->at(100, 80, 3), 255);
  }
  EXPECT_EQ(wakes, 4);
  EXPECT_EQ(loader.find(7 * kSecond + kSecond / 2), wait_for_thumbnail(loader, 7 * kSecond + kSecond / 2))
      << "kept";
  EXPECT_EQ(wakes, 4);
}

TEST(ThumbnailLoader, DecodesAKeyFrameOnce) {
  const TemporaryFolder folder;
  for (const char* name : {"a.mkv", "a.mp4"}) {
    ThumbnailLoader loader([] {});
    loader.open(record_seconds(folder / name, {64, 48}, {}), 10 * kSecond);
    const auto first = wait_for_thumbnail(loader, 7 * kSecond + kSecond / 10);
    ASSERT_NE(first, nullptr) << name;
    EXPECT_EQ(wait_for_thumbnail(loader, 7 * kSecond + 4 * kSecond / 10), first) << name;
    EXPECT_EQ(wait_for_thumbnail(loader, 7 * kSecond + 9 * kSecond / 10), first) << name;
    const auto next = wait_for_thumbnail(loader, 8 * kSecond + kSecond / 10);
    ASSERT_NE(next, nullptr) << name;
    EXPECT_NEAR(next->at(30, 20, 0), 160, 4) << name;
    EXPECT_NE(wait_for_thumbnail(loader, 6 * kSecond + 9 * kSecond / 10), first) << name;
    // The index may lack the last key frame.
    const auto last = wait_for_thumbnail(loader, 9 * kSecond + 9 * kSecond / 10);
    ASSERT_NE(last, nullptr) << name;
    EXPECT_NEAR(last->at(30, 20, 0), 180, 4) << name;
  }
}

TEST(ThumbnailLoader, ReorderedFramesDoNotChangeTheKeyFrame) {
  const TemporaryFolder folder;
  // H.264 reorders frames: in an MP4 file, the index has decoding times before the times of the pictures.
  ThumbnailLoader loader([] {});
  loader.open(record_seconds(folder / "a.mp4", {64, 48}, {}, "libx264"), 10 * kSecond);
  for (const int fifth : {36, 34, 35, 33, 39, 14, 12, 11, 10, 37, 38, 32, 31, 30})
    if (const auto image = wait_for_thumbnail(loader, (2 * fifth + 1) * kSecond / 10))
      EXPECT_NEAR(image->at(30, 20, 0), fifth / 5 * 20, 4) << fifth;
    else
      ADD_FAILURE() << "no thumbnail at " << fifth;
}

TEST(ThumbnailLoader, HasTheShapeOfTheSource) {
  const TemporaryFolder folder;
  ThumbnailLoader loader([] {});
  loader.open(record_seconds(folder / "wide.mkv", {360, 288}, {2, 1}), 10 * kSecond);
  const auto wide = wait_for_thumbnail(loader, 0);
  ASSERT_NE(wide, nullptr);
  EXPECT_EQ(wide->format.extent, (Extent{240, 96}));
  loader.open(record_seconds(folder / "small.mkv", {64, 48}, {}), 10 * kSecond);
  const auto small = wait_for_thumbnail(loader, 0);
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(small->format.extent, (Extent{64, 48})) << "not enlarged";
}

TEST(ThumbnailLoader, AFileThatCannotBeDecodedHasNone) {
  const TemporaryFolder folder;
  ThumbnailLoader loader([] {});
  loader.open(folder / "missing.mkv", 10 * kSecond);
  EXPECT_EQ(wait_for_thumbnail(loader, 0), nullptr);
  EXPECT_FALSE(loader.available());
  loader.open("", 0);
  EXPECT_FALSE(loader.available());
}

/// The thread ends later.
TEST(ThumbnailLoader, AnotherFileDoesNotWaitForTheThread) {
  const TemporaryFolder folder;
  std::atomic<bool> hold = true, held = false;
  {
    ThumbnailLoader loader([&] {
      held = true;
      eventually([&] { return !hold; });
    });
    loader.open(record_seconds(folder / "a.mkv", {64, 48}, {}), 10 * kSecond);
    loader.find(0);
    ASSERT_TRUE(eventually([&] { return held.load(); }));
    const int64_t begin_ns = now_ns();
    loader.open("", 0);
    EXPECT_LT(now_ns() - begin_ns, 100'000'000);
    hold = false;
  }
  EXPECT_EQ(join_stragglers(std::chrono::seconds(10)), 0u);
}

TEST(ThumbnailLoader, WithoutThreadsThereAreNone) {
  const TemporaryFolder folder;
  ThumbnailLoader loader([] {});
  loader.open(record_seconds(folder / "a.mkv", {64, 48}, {}), 10 * kSecond);
  {
    const test::NoThreads no_threads;
    EXPECT_EQ(loader.find(0), nullptr);
  }
  EXPECT_FALSE(loader.available());
  loader.open(folder / "a.mkv", 10 * kSecond);
  EXPECT_NE(wait_for_thumbnail(loader, 0), nullptr);
}

}  // namespace
}  // namespace lensd
