// Positions of chroma samples after the conversion of working images with 8 bits and of decoded pictures, and
// copies of samples between layouts.
#include <gtest/gtest.h>

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <string>

#include "core/image/image.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"
#include "core/media/ffmpeg/scaler.hpp"
#include "tests/unit/core/media/source_recording_fixture.hpp"

namespace lensd::test {
namespace {

constexpr int kSide = 64;

/// Red above or left of the middle, blue below or right of it.
Image red_and_blue(bool rows) {
  Image image({PixelFormat::rgba8, {kSide, kSide}});
  for (int y = 0; y < kSide; ++y)
    for (int x = 0; x < kSide; ++x) {
      const bool red = (rows ? y : x) < kSide / 2;
      image.at(x, y, 0) = red ? 255 : 0, image.at(x, y, 2) = red ? 0 : 255, image.at(x, y, 3) = 255;
    }
  return image;
}

ff::FramePtr new_frame(AVPixelFormat format) {
  ff::FramePtr frame = ff::make_frame();
  frame->format = format, frame->width = kSide, frame->height = kSide;
  ff::check_memory(av_frame_get_buffer(frame.get(), 0));
  return frame;
}

/// Returns the number of chroma samples before the edge of `plane`. Samples between both colours count in
/// part.
double edge_position(const AVFrame& frame, int plane, bool rows) {
  const AVPixFmtDescriptor& d = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  const int count = kSide >> (rows ? d.log2_chroma_h : d.log2_chroma_w);
  const auto at = [&](int i) {
    return frame.data[plane][rows ? i * frame.linesize[plane] + 8 : 8 * frame.linesize[plane] + i];
  };
  const double first = at(0), last = at(count - 1);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += (at(i) - last) / (first - last);
  return sum;
}

struct PositionCase {
  AVPixelFormat format;
  double column, row;  ///< positions of the edges, in chroma samples
};

class ChromaPosition : public testing::TestWithParam<PositionCase> {};

TEST_P(ChromaPosition, EdgesStayInPlace) {
  const auto& [format, column, row] = GetParam();
  for (const bool rows : {false, true}) {
    const Image image = red_and_blue(rows);
    const ff::FramePtr frame = new_frame(format);
    Scaler scaler;
    scaler.open(pixels_format(image.format),
                {format, image.format.extent, YuvMatrix::bt601, is_jpeg_range(format)});
    scaler.convert(pixels(image.ref()), *frame);
    for (const int plane : {1, 2})
      EXPECT_NEAR(edge_position(*frame, plane, rows), rows ? row : column, 0.06)
          << (rows ? "rows" : "columns") << " of plane " << plane;
  }
}

// Sited left: sample i of a subsampled row is at column 2i. An edge between the columns 31 and 32 is then at
// 31.5 / 2 + 0.5 samples.
INSTANTIATE_TEST_SUITE_P(
    Formats, ChromaPosition,
    testing::Values(PositionCase{AV_PIX_FMT_YUV444P, 32, 32}, PositionCase{AV_PIX_FMT_YUVJ444P, 32, 32},
                    PositionCase{AV_PIX_FMT_YUV422P, 16.25, 32}, PositionCase{AV_PIX_FMT_YUV420P, 16.25, 16},
                    PositionCase{AV_PIX_FMT_YUV440P, 32, 16}),
    [](const auto& tested) { return std::string(av_get_pix_fmt_name(tested.param.format)); });

/// Returns a 4:2:0 picture whose chroma changes in the middle.
ff::FramePtr subsampled(bool rows) {
  ff::FramePtr frame = new_frame(AV_PIX_FMT_YUV420P);
  constexpr int kHalf = kSide / 2;
  for (int y = 0; y < kSide; ++y) std::fill_n(frame->data[0] + y * frame->linesize[0], kSide, uint8_t{90});
  for (const int plane : {1, 2})
    for (int y = 0; y < kHalf; ++y)
      for (int x = 0; x < kHalf; ++x)
        frame->data[plane][y * frame->linesize[plane] + x] = (rows ? y : x) < kHalf / 2 ? 60 : 180;
  return frame;
}

// Chroma sample 16 is at luma column 32 if sited left or top left, else at 32.5; at row 32 if sited top left,
// else at 32.5. The edge is half a sample before it.
TEST(ChromaSiting, IsRegardedInConversions) {
  const auto edge = [](lensd::ChromaSiting siting, bool rows) {
    const ff::FramePtr from = subsampled(rows), to = new_frame(AV_PIX_FMT_YUV444P);
    PixelsFormat format{AV_PIX_FMT_YUV420P, {kSide, kSide}, YuvMatrix::bt601, false};
    format.siting = siting;
    Scaler scaler;
    scaler.open(format, {AV_PIX_FMT_YUV444P, {kSide, kSide}, YuvMatrix::bt601, false});
    scaler.convert({{from->data[0], from->data[1], from->data[2]},
                    {from->linesize[0], from->linesize[1], from->linesize[2]}},
                   *to);
    return edge_position(*to, 1, rows);
  };
  using enum lensd::ChromaSiting;
  EXPECT_NEAR(edge(left, false), 31.5, 0.06);
  EXPECT_NEAR(edge(left, true), 32, 0.06);
  EXPECT_NEAR(edge(center, false), 32, 0.06);
  EXPECT_NEAR(edge(center, true), 32, 0.06);
  EXPECT_NEAR(edge(top_left, false), 31.5, 0.06);
  EXPECT_NEAR(edge(top_left, true), 31.5, 0.06);
}

/// Copies `from` to the layout `format`. All bytes of the copy are 0 before.
DecodedPicture repacked(const DecodedPicture& from, AVPixelFormat format) {
  DecodedPicture to(format, from.ref.info.extent);
  for (size_t p = 0; p < to.ref.info.format.plane_count; ++p)
    std::memset(to.frame->data[p], 0, static_cast<size_t>(to.ref.pitch_bytes[p] * to.ref.info.plane_rows(p)));
  const auto repack = Repack::of(*pixels_format(from.ref.info), *pixels_format(to.ref.info));
  EXPECT_TRUE(repack) << av_get_pix_fmt_name(format);
  if (repack) repack->convert(pixels(from.ref), *to.frame);
  return to;
}

// The widths 69 and 70 have whole blocks of 32 samples and a remainder.
TEST(Repack, EverySampleKeepsItsValue) {
  constexpr AVPixelFormat kPairs[][2] = {
      {AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P},       {AV_PIX_FMT_NV21, AV_PIX_FMT_YUV420P},
      {AV_PIX_FMT_YUV420P, AV_PIX_FMT_NV12},       {AV_PIX_FMT_NV24, AV_PIX_FMT_YUV444P},
      {AV_PIX_FMT_YUYV422, AV_PIX_FMT_YUV422P},    {AV_PIX_FMT_UYVY422, AV_PIX_FMT_YUV422P},
      {AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUYV422},    {AV_PIX_FMT_NV16, AV_PIX_FMT_NV16},
      {AV_PIX_FMT_P010LE, AV_PIX_FMT_YUV420P10LE}, {AV_PIX_FMT_Y210LE, AV_PIX_FMT_YUV422P10LE},
      {AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_P010LE}, {AV_PIX_FMT_YUVA420P, AV_PIX_FMT_NV12}};
  for (const auto& [first, second] : kPairs)
    for (const int width : {69, 70}) {
      SCOPED_TRACE(std::string(av_get_pix_fmt_name(first)) + " to " + av_get_pix_fmt_name(second));
      const DecodedPicture from(first, {width, 5}), to = repacked(from, second);
      const PictureFormat& format = to.ref.info.format;
      int different = 0;
      for (int c = 0; c < 3; ++c)
        for (int y = 0; y << (c ? format.chroma_shift_y : 0) < 5; ++y)
          for (int x = 0; x << (c ? format.chroma_shift_x : 0) < width; ++x)
            different += sample_of(to.ref, c, x, y) != sample_of(from.ref, c, x, y);
      EXPECT_EQ(different, 0);
    }
}

TEST(Repack, UnusedBytesAreDefined) {
  const DecodedPicture from(AV_PIX_FMT_YUV422P, {5, 2}), to = repacked(from, AV_PIX_FMT_YUYV422);
  for (int y = 0; y < 2; ++y) EXPECT_EQ(sample_of(to.ref, 0, 5, y), 255);
}

// FFmpeg 5 cannot convert NV16: the samples are copied into planes first.
TEST(Scaler, ConvertsLayoutsThatFfmpegCannotReadFromTheFirstRowToTheLast) {
  const DecodedPicture from(AV_PIX_FMT_NV16, {kSide, kSide});
  for (int y = 0; y < kSide; ++y) {
    std::memset(from.frame->data[0] + y * from.frame->linesize[0], 20 + 3 * y, kSide);
    std::memset(from.frame->data[1] + y * from.frame->linesize[1], 128, kSide);
  }
  const ff::FramePtr to = new_frame(AV_PIX_FMT_YUV444P);
  Scaler scaler;
  scaler.open({AV_PIX_FMT_NV16, {kSide, kSide}, YuvMatrix::bt601, false},
              {AV_PIX_FMT_YUV444P, {kSide, kSide}, YuvMatrix::bt601, false});
  scaler.convert(pixels(from.ref), *to);
  for (int y = 0; y < kSide; ++y)
    for (const int x : {0, kSide - 1}) {
      EXPECT_EQ(to->data[0][y * to->linesize[0] + x], 20 + 3 * y) << x << ',' << y;
      EXPECT_EQ(to->data[1][y * to->linesize[1] + x], 128) << x << ',' << y;
    }
}

}  // namespace
}  // namespace lensd::test
