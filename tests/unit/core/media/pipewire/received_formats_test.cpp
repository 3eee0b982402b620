// Formats of PipeWire sources: names, and the planes of a picture in shared memory.
#include "core/media/pipewire/received_formats.hpp"

#include <gtest/gtest.h>
#include <spa/param/format.h>
#include <spa/param/param.h>
#include <spa/param/video/format-utils.h>
#include <spa/pod/filter.h>

#include <array>
#include <vector>

namespace lensd {
namespace {

/// A buffer of one or several blocks, each with its own memory.
struct TestBuffer {
  explicit TestBuffer(std::vector<size_t> sizes, int stride) : chunks(sizes.size()), datas(sizes.size()) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      bytes.emplace_back(sizes[i]);
      memory.push_back(bytes[i].data());
      chunks[i].size = static_cast<uint32_t>(sizes[i]), chunks[i].stride = stride;
      datas[i].maxsize = static_cast<uint32_t>(sizes[i]), datas[i].chunk = &chunks[i];
    }
    buffer.n_datas = static_cast<uint32_t>(sizes.size()), buffer.datas = datas.data();
  }
  bool find(AVPixelFormat pixels, Extent size) { return find_planes(buffer, memory, pixels, size, planes); }
  std::ptrdiff_t offset(size_t plane, size_t block = 0) const { return planes.data[plane] - memory[block]; }

  std::vector<std::vector<uint8_t>> bytes;
  std::vector<const uint8_t*> memory;
  std::vector<spa_chunk> chunks;
  std::vector<spa_data> datas;
  spa_buffer buffer = {};
  ReceivedPlanes planes;
};

/// Returns the highest rate on which a screen of at most 60 frames per second and a request agree; 0: they do
/// not agree.
double agreed_rate(spa_fraction most) {
  std::array<uint8_t, 1024> requested, offered, agreed;
  spa_pod_builder request_builder = SPA_POD_BUILDER_INIT(requested.data(), requested.size());
  spa_pod_builder offer_builder = SPA_POD_BUILDER_INIT(offered.data(), offered.size());
  spa_pod_builder builder = SPA_POD_BUILDER_INIT(agreed.data(), agreed.size());
  const spa_rectangle size = {1920, 1080};
  const spa_fraction variable = {0, 1}, slowest = {1, 1}, fastest = {60, 1};
  const auto* offer = static_cast<const spa_pod*>(spa_pod_builder_add_object(
      &offer_builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType,
      SPA_POD_Id(SPA_MEDIA_TYPE_video), SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw),
      SPA_FORMAT_VIDEO_format, SPA_POD_Id(SPA_VIDEO_FORMAT_BGRx), SPA_FORMAT_VIDEO_size,
      SPA_POD_Rectangle(&size), SPA_FORMAT_VIDEO_framerate, SPA_POD_Fraction(&variable),
      SPA_FORMAT_VIDEO_maxFramerate, SPA_POD_CHOICE_RANGE_Fraction(&fastest, &slowest, &fastest)));
  spa_pod* result = nullptr;
  spa_video_info_raw info = {};
  if (spa_pod_filter(&builder, &result, offer, build_request(request_builder, {1280, 720}, {30, 1}, most)) <
          0 ||
      spa_pod_fixate(result) < 0 || spa_format_video_raw_parse(result, &info) < 0)
    return 0;
  return static_cast<double>(info.max_framerate.num) / info.max_framerate.denom;
}

TEST(ReceivedFormats, TheRequestLimitsTheRateOfAScreen) {
  EXPECT_EQ(agreed_rate({0, 1}), 60);
  EXPECT_EQ(agreed_rate({5, 1}), 5);
  EXPECT_EQ(agreed_rate({1, 1}), 1);
  EXPECT_EQ(agreed_rate({144, 1}), 60);
}

TEST(ReceivedFormats, AllHavePixels) {
  for (const ReceivedFormat& format : received_formats())
    EXPECT_EQ(received_pixels(format.spa), format.pixels);
  EXPECT_EQ(received_pixels(SPA_VIDEO_FORMAT_RGBx), AV_PIX_FMT_RGB0);
  EXPECT_EQ(received_pixels(SPA_VIDEO_FORMAT_I420), AV_PIX_FMT_YUV420P);
  EXPECT_EQ(received_pixels(SPA_VIDEO_FORMAT_P010_10LE), AV_PIX_FMT_NONE);
}

TEST(ReceivedFormats, PackedPixelsKeepTheirStride) {
  TestBuffer buffer({40 * 5}, 40);
  ASSERT_TRUE(buffer.find(AV_PIX_FMT_RGBA, {9, 5}));
  EXPECT_EQ(buffer.planes.pitch_bytes[0], 40);
  EXPECT_FALSE(buffer.find(AV_PIX_FMT_RGBA, {11, 5})) << "a row is longer than the stride";
  EXPECT_FALSE(buffer.find(AV_PIX_FMT_RGBA, {9, 6})) << "too few rows";
}

TEST(ReceivedFormats, WithoutAStrideRowsAreMultiplesOfFour) {
  TestBuffer buffer({12 * 2}, 0);
  ASSERT_TRUE(buffer.find(AV_PIX_FMT_GRAY8, {9, 2}));
  EXPECT_EQ(buffer.planes.pitch_bytes[0], 12);
}

TEST(ReceivedFormats, PlanesOfOneBlockFollowEachOther) {
  TestBuffer nv12({16 * 6 + 16 * 3}, 16);
  ASSERT_TRUE(nv12.find(AV_PIX_FMT_NV12, {12, 6}));
  EXPECT_EQ(nv12.offset(1), 16 * 6);
  EXPECT_EQ(nv12.planes.pitch_bytes[1], 16);
  TestBuffer i420({16 * 6 + 2 * 8 * 3}, 16);
  ASSERT_TRUE(i420.find(AV_PIX_FMT_YUV420P, {12, 6}));
  EXPECT_EQ(i420.offset(2), 16 * 6 + 8 * 3);
  EXPECT_EQ(i420.planes.pitch_bytes[2], 8);
}

TEST(ReceivedFormats, GstreamersPaddingIsRecognisedByTheSize) {
  // 10×5: rows of 12 and 8 bytes, 6 rows of luma.
  TestBuffer buffer({12 * 6 + 2 * 8 * 3}, 12);
  ASSERT_TRUE(buffer.find(AV_PIX_FMT_YUV420P, {10, 5}));
  EXPECT_EQ(buffer.offset(1), 12 * 6);
  EXPECT_EQ(buffer.offset(2), 12 * 6 + 8 * 3);
  EXPECT_EQ(buffer.planes.pitch_bytes[1], 8);
}

TEST(ReceivedFormats, PlanesMayHaveTheirOwnBlocks) {
  TestBuffer buffer({16 * 4, 16 * 2}, 16);
  ASSERT_TRUE(buffer.find(AV_PIX_FMT_NV12, {16, 4}));
  EXPECT_EQ(buffer.offset(1, 1), 0);
}

TEST(ReceivedFormats, DamagedBuffersAreRefused) {
  TestBuffer buffer({64}, 16);
  ASSERT_TRUE(buffer.find(AV_PIX_FMT_RGBA, {4, 4}));
  buffer.chunks[0].offset = 1;
  EXPECT_FALSE(buffer.find(AV_PIX_FMT_RGBA, {4, 4})) << "beyond the end of the memory";
  buffer.chunks[0].offset = 0, buffer.chunks[0].size = 63;
  EXPECT_FALSE(buffer.find(AV_PIX_FMT_RGBA, {4, 4})) << "not filled";
  buffer.chunks[0].size = 64, buffer.memory[0] = nullptr;
  EXPECT_FALSE(buffer.find(AV_PIX_FMT_RGBA, {4, 4}));
}

TEST(ReceivedFormats, TransferAndPrimariesAreTheSenders) {
  const ff::FramePtr frame = ff::make_frame();
  frame->format = AV_PIX_FMT_NV12;
  const auto receive = [&](int transfer, int primaries) {
    spa_video_info_raw info = {};
    info.transfer_function = static_cast<spa_video_transfer_function>(transfer);
    info.color_primaries = static_cast<spa_video_color_primaries>(primaries);
    set_received_colour(info, *frame);
  };
  receive(14, SPA_VIDEO_COLOR_PRIMARIES_BT2020);
  EXPECT_EQ(frame->color_trc, AVCOL_TRC_SMPTE2084);
  EXPECT_EQ(frame->color_primaries, AVCOL_PRI_BT2020);
  receive(15, SPA_VIDEO_COLOR_PRIMARIES_SMPTE170M);
  EXPECT_EQ(frame->color_trc, AVCOL_TRC_ARIB_STD_B67);
  EXPECT_EQ(frame->color_primaries, AVCOL_PRI_SMPTE170M);
  receive(SPA_VIDEO_TRANSFER_GAMMA10, 11);
  EXPECT_EQ(frame->color_trc, AVCOL_TRC_LINEAR);
  EXPECT_EQ(frame->color_primaries, AVCOL_PRI_SMPTE432);
  receive(SPA_VIDEO_TRANSFER_UNKNOWN, SPA_VIDEO_COLOR_PRIMARIES_UNKNOWN);
  EXPECT_EQ(frame->color_trc, AVCOL_TRC_UNSPECIFIED);
  EXPECT_EQ(frame->color_primaries, AVCOL_PRI_UNSPECIFIED);
}

TEST(ReceivedFormats, AMarkInTheHeaderOrABlockMeansDamaged) {
  TestBuffer buffer({64, 32}, 16);
  EXPECT_FALSE(marked_damaged(buffer.buffer)) << "without a header";
  spa_meta_header header = {};
  spa_meta meta = {.type = SPA_META_Header, .size = sizeof header, .data = &header};
  buffer.buffer.metas = &meta, buffer.buffer.n_metas = 1;
  EXPECT_FALSE(marked_damaged(buffer.buffer));
  header.flags = SPA_META_HEADER_FLAG_DISCONT | SPA_META_HEADER_FLAG_DELTA_UNIT;
  EXPECT_FALSE(marked_damaged(buffer.buffer)) << "other marks";
  header.flags |= SPA_META_HEADER_FLAG_CORRUPTED;
  EXPECT_TRUE(marked_damaged(buffer.buffer));
  header.flags = 0, buffer.chunks[1].flags = SPA_CHUNK_FLAG_CORRUPTED;
  EXPECT_TRUE(marked_damaged(buffer.buffer)) << "the second block";
  buffer.datas[1].chunk = nullptr;
  EXPECT_FALSE(marked_damaged(buffer.buffer));
}

}  // namespace
}  // namespace lensd
