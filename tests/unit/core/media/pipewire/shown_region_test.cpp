// The part of a buffer that a sender shows, and its orientation.
#include "core/media/pipewire/shown_region.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <gtest/gtest.h>
#include <spa/buffer/meta.h>

#include <vector>

#include "core/media/ffmpeg/picture_info.hpp"

namespace lensd {
namespace {

constexpr int64_t kMs = 1'000'000;

/// A buffer with the metadata of a sender.
struct MarkedBuffer {
  explicit MarkedBuffer(spa_region region, uint32_t transform = 0) : crop{region}, turn(transform) {
    metas[0] = {.type = SPA_META_VideoCrop, .size = sizeof crop, .data = &crop};
    metas[1] = {.type = kMetaTransform, .size = sizeof turn, .data = &turn};
    buffer.metas = metas.data(), buffer.n_metas = static_cast<uint32_t>(metas.size());
  }
  MarkedBuffer(const MarkedBuffer&) = delete;
  MarkedBuffer& operator=(const MarkedBuffer&) = delete;

  spa_meta_region crop;
  uint32_t turn;
  std::array<spa_meta, 2> metas = {};
  spa_buffer buffer = {};
};

ShownRegion shown(spa_region region, AVPixelFormat pixels = AV_PIX_FMT_BGR0, Extent size = {100, 80}) {
  return shown_region(MarkedBuffer(region).buffer, pixels, size);
}

TEST(ShownRegion, IsTheSendersRectangle) {
  EXPECT_EQ(shown({{17, 9}, {30, 20}}), (ShownRegion{17, 9, {30, 20}}));
}

TEST(ShownRegion, WithoutARectangleTheWholePictureIsShown) {
  const ShownRegion whole = {0, 0, {100, 80}};
  EXPECT_EQ(shown_region(spa_buffer{}, AV_PIX_FMT_BGR0, {100, 80}), whole);
  EXPECT_EQ(shown({{0, 0}, {0, 0}}), whole);
  EXPECT_EQ(shown({{5, 5}, {10, 0}}), whole);
}

TEST(ShownRegion, IsCutAtTheEdgesOfThePicture) {
  EXPECT_EQ(shown({{90, 70}, {30, 20}}), (ShownRegion{90, 70, {10, 10}}));
  EXPECT_EQ(shown({{-10, -5}, {30, 20}}), (ShownRegion{0, 0, {20, 15}}));
  EXPECT_EQ(shown({{1, 2}, {UINT32_MAX, UINT32_MAX}}), (ShownRegion{1, 2, {99, 78}}));
}

TEST(ShownRegion, OutsideThePictureIsIgnored) {
  const ShownRegion whole = {0, 0, {100, 80}};
  EXPECT_EQ(shown({{100, 0}, {10, 10}}), whole);
  EXPECT_EQ(shown({{0, -10}, {10, 10}}), whole);
  EXPECT_EQ(shown({{INT32_MAX, INT32_MAX}, {UINT32_MAX, 1}}), whole);
}

TEST(ShownRegion, BeginsAtAChromaSample) {
  EXPECT_EQ(shown({{17, 9}, {31, 21}}, AV_PIX_FMT_NV12), (ShownRegion{16, 8, {31, 21}}));
  EXPECT_EQ(shown({{17, 9}, {31, 21}}, AV_PIX_FMT_YUYV422), (ShownRegion{16, 9, {31, 21}}));
}

TEST(ShownRegion, PlanesBeginAtTheRegion) {
  const std::vector<uint8_t> memory(1000);
  const auto offsets = [&](AVPixelFormat pixels, int x, int y) {
    ReceivedPlanes planes = {{memory.data(), memory.data(), memory.data(), memory.data()}, {20, 20, 10, 10}};
    crop_planes(pixels, shown({{x, y}, {4, 4}}, pixels), planes);
    std::vector<std::ptrdiff_t> out;
    for (int p = 0; p < av_pix_fmt_count_planes(pixels); ++p)
      out.push_back(planes.data[static_cast<size_t>(p)] - memory.data());
    return out;
  };
  using Offsets = std::vector<std::ptrdiff_t>;
  EXPECT_EQ(offsets(AV_PIX_FMT_NV12, 7, 5), (Offsets{4 * 20 + 6, 2 * 20 + 6}));
  EXPECT_EQ(offsets(AV_PIX_FMT_YUV420P, 7, 5), (Offsets{4 * 20 + 6, 2 * 20 + 3, 2 * 10 + 3}));
  EXPECT_EQ(offsets(AV_PIX_FMT_YUYV422, 7, 5), (Offsets{5 * 20 + 12}));
  EXPECT_EQ(offsets(AV_PIX_FMT_BGR0, 3, 5), (Offsets{5 * 20 + 12}));
  EXPECT_EQ(offsets(AV_PIX_FMT_RGB24, 3, 5), (Offsets{5 * 20 + 9}));
  EXPECT_EQ(offsets(AV_PIX_FMT_GRAY8, 3, 5), (Offsets{5 * 20 + 3}));
}

TEST(ShownRegion, TransformsOfTheSenderAreUndone) {
  const auto orientation = [](uint32_t transform) {
    const ff::FramePtr frame = ff::make_frame();
    EXPECT_EQ(set_received_orientation(MarkedBuffer({}, transform).buffer, *frame), 0);
    return orientation_of(*frame, nullptr);
  };
  EXPECT_EQ(orientation(0), (Orientation{}));
  EXPECT_EQ(orientation(1), (Orientation{true, true, false})) << "turned clockwise";
  EXPECT_EQ(orientation(2), (Orientation{false, true, true}));
  EXPECT_EQ(orientation(3), (Orientation{true, false, true})) << "turned counter-clockwise";
  EXPECT_EQ(orientation(4), (Orientation{false, true, false}));
  EXPECT_EQ(orientation(5), (Orientation{true, false, false}));
  EXPECT_EQ(orientation(6), (Orientation{false, false, true}));
  EXPECT_EQ(orientation(7), (Orientation{true, true, true}));
  EXPECT_EQ(orientation(8), (Orientation{})) << "unknown";
}

TEST(SettledSize, TheFirstSizeIsShownAtOnce) {
  SettledSize size;
  EXPECT_TRUE(size.settled({40, 30}, 1));
  EXPECT_TRUE(size.settled({40, 30}, 2));
}

TEST(SettledSize, AnotherSizeIsShownWhenItIsStable) {
  SettledSize size;
  size.settled({40, 30}, 1);
  EXPECT_FALSE(size.settled({41, 30}, 100 * kMs));
  EXPECT_FALSE(size.settled({42, 30}, 250 * kMs));
  EXPECT_FALSE(size.settled({42, 30}, 449 * kMs));
  EXPECT_TRUE(size.settled({42, 30}, 450 * kMs));
  EXPECT_TRUE(size.settled({42, 30}, 451 * kMs));
  EXPECT_FALSE(size.settled({40, 30}, 452 * kMs));
}

TEST(SettledSize, ASizeThatKeepsChangingIsShownTwiceASecond) {
  SettledSize size;
  size.settled({1, 30}, 1);
  int shown = 0;
  for (int i = 1; i <= 350; ++i) shown += size.settled({1 + i, 30}, i * 10 * kMs);
  EXPECT_EQ(shown, 6);
}

TEST(SettledSize, AReturnToTheShownSizeEndsTheWait) {
  SettledSize size;
  size.settled({40, 30}, 1);
  EXPECT_FALSE(size.settled({50, 30}, 100 * kMs));
  EXPECT_TRUE(size.settled({40, 30}, 200 * kMs));
  EXPECT_FALSE(size.settled({50, 30}, 350 * kMs)) << "waits from the beginning";
}

}  // namespace
}  // namespace lensd
