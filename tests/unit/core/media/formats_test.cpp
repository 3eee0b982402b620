// Pixel formats: which ones need a conversion, and the layouts of the others.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include "core/media/ffmpeg/pixel_formats.hpp"
#include "core/media/input/convert_fallback.hpp"
#include "core/media/input/small_rgb.hpp"

namespace lensd {
namespace {

TEST(PixelFormats, CommonOnesNeedNoConversion) {
  for (const AVPixelFormat f :
       {AV_PIX_FMT_YUV420P,     AV_PIX_FMT_YUV422P,     AV_PIX_FMT_YUV444P,     AV_PIX_FMT_YUVJ420P,
        AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_YUV422P10LE, AV_PIX_FMT_YUV444P12LE, AV_PIX_FMT_YUV444P16LE,
        AV_PIX_FMT_NV12,        AV_PIX_FMT_NV21,        AV_PIX_FMT_NV16,        AV_PIX_FMT_P010LE,
        AV_PIX_FMT_P016LE,      AV_PIX_FMT_YUYV422,     AV_PIX_FMT_UYVY422,     AV_PIX_FMT_GRAY8,
        AV_PIX_FMT_GRAY10LE,    AV_PIX_FMT_GRAY16LE,    AV_PIX_FMT_RGB24,       AV_PIX_FMT_BGR24,
        AV_PIX_FMT_RGBA,        AV_PIX_FMT_BGRA,        AV_PIX_FMT_ARGB,        AV_PIX_FMT_ABGR,
        AV_PIX_FMT_RGB0,        AV_PIX_FMT_BGR0,        AV_PIX_FMT_0RGB,        AV_PIX_FMT_0BGR,
        AV_PIX_FMT_GBRP,        AV_PIX_FMT_GBRP10LE,    AV_PIX_FMT_GBRAP,       AV_PIX_FMT_YUVA420P,
        AV_PIX_FMT_YUVA444P,    AV_PIX_FMT_RGB48LE})
    EXPECT_TRUE(picture_format(f)) << av_get_pix_fmt_name(f);
}

TEST(PixelFormats, OthersAreConverted) {
  for (const AVPixelFormat f :
       {AV_PIX_FMT_PAL8, AV_PIX_FMT_MONOBLACK, AV_PIX_FMT_RGB565LE, AV_PIX_FMT_YUV410P, AV_PIX_FMT_YUV411P,
        AV_PIX_FMT_UYYVYY411, AV_PIX_FMT_YUV420P10BE, AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_GRAYF32LE,
        AV_PIX_FMT_BAYER_BGGR8, AV_PIX_FMT_CUDA, AV_PIX_FMT_XYZ12LE, AV_PIX_FMT_X2RGB10LE, AV_PIX_FMT_RGB8,
        AV_PIX_FMT_YA8, AV_PIX_FMT_YA16LE, AV_PIX_FMT_NONE})
    EXPECT_FALSE(picture_format(f)) << f;
}

TEST(PixelFormats, SubstitutesKeepTheBits) {
  EXPECT_EQ(substitute_of(AV_PIX_FMT_RGB48BE), AV_PIX_FMT_RGB48LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_GRAY16BE), AV_PIX_FMT_GRAY16LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_YUV420P10BE), AV_PIX_FMT_YUV420P10LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_GRAYF32LE), AV_PIX_FMT_GRAY16LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_GBRPF32LE), AV_PIX_FMT_RGBA64LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_X2RGB10LE), AV_PIX_FMT_RGBA64LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_YA8), AV_PIX_FMT_RGBA);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_YA16BE), AV_PIX_FMT_RGBA64LE);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_PAL8), AV_PIX_FMT_RGBA);
  EXPECT_EQ(substitute_of(AV_PIX_FMT_RGB565LE), AV_PIX_FMT_RGBA);
}

/// Converts every stored value of a format of `bytes` per pixel and checks it against the rule with the
/// component positions `shifts` and sizes `depths` (R, G, B) in the value.
void expect_exact(AVPixelFormat format, int bytes, std::array<int, 3> shifts, std::array<int, 3> depths,
                  bool big_endian = false) {
  ASSERT_TRUE(SmallRgb::reads(format));
  const int values = 1 << (8 * bytes), width = 256, height = values / width;
  const auto make = [&](AVPixelFormat f) {
    auto frame = ff::make_frame();
    frame->format = f, frame->width = width, frame->height = height;
    ff::check_memory(av_frame_get_buffer(frame.get(), 0));
    return frame;
  };
  const auto from = make(format), to = make(AV_PIX_FMT_RGBA);
  const auto at = [&](const AVFrame& frame, int value, int size) {
    return frame.data[0] + ptrdiff_t{value / width} * frame.linesize[0] + ptrdiff_t{value % width} * size;
  };
  for (int value = 0; value < values; ++value)
    for (int i = 0; i < bytes; ++i)
      at(*from, value, bytes)[i] = static_cast<uint8_t>(value >> 8 * (big_endian ? bytes - 1 - i : i));
  SmallRgb().convert(*from, *to);
  for (int value = 0; value < values; ++value) {
    const uint8_t* rgba = at(*to, value, 4);
    for (size_t i = 0; i < 3; ++i) {
      const int largest = (1 << depths[i]) - 1, component = value >> shifts[i] & largest;
      ASSERT_EQ(rgba[i], std::lround(component * 255.0 / largest))
          << av_get_pix_fmt_name(format) << " value " << value << " component " << i;
    }
    ASSERT_EQ(rgba[3], 255);
  }
}

TEST(SmallRgb, EveryValueBecomesTheNearestOf8Bits) {
  expect_exact(AV_PIX_FMT_RGB565LE, 2, {11, 5, 0}, {5, 6, 5});
  expect_exact(AV_PIX_FMT_RGB565BE, 2, {11, 5, 0}, {5, 6, 5}, true);
  expect_exact(AV_PIX_FMT_BGR565LE, 2, {0, 5, 11}, {5, 6, 5});
  expect_exact(AV_PIX_FMT_RGB555LE, 2, {10, 5, 0}, {5, 5, 5});
  expect_exact(AV_PIX_FMT_RGB555BE, 2, {10, 5, 0}, {5, 5, 5}, true);
  expect_exact(AV_PIX_FMT_BGR555BE, 2, {0, 5, 10}, {5, 5, 5}, true);
  expect_exact(AV_PIX_FMT_RGB444LE, 2, {8, 4, 0}, {4, 4, 4});
  expect_exact(AV_PIX_FMT_RGB444BE, 2, {8, 4, 0}, {4, 4, 4}, true);
  expect_exact(AV_PIX_FMT_RGB8, 1, {5, 2, 0}, {3, 3, 2});
  expect_exact(AV_PIX_FMT_BGR8, 1, {0, 3, 6}, {3, 3, 2});
}

TEST(SmallRgb, OtherFormatsAreLeftToSwscale) {
  for (const AVPixelFormat f :
       {AV_PIX_FMT_RGB24, AV_PIX_FMT_RGBA, AV_PIX_FMT_PAL8, AV_PIX_FMT_RGB4, AV_PIX_FMT_GRAY8,
        AV_PIX_FMT_YUV420P, AV_PIX_FMT_GBRP, AV_PIX_FMT_X2RGB10LE, AV_PIX_FMT_NONE})
    EXPECT_FALSE(SmallRgb::reads(f)) << f;
}

/// Returns the column of the edge between two colours in 4:1:1 chroma, after the conversion to RGBA.
double edge_of_411(AVChromaLocation location) {
  constexpr int kWidth = 64, kHeight = 8, kQuarter = kWidth / 4;
  ff::FramePtr frame = ff::make_frame();
  frame->format = AV_PIX_FMT_YUV411P, frame->width = kWidth, frame->height = kHeight;
  frame->chroma_location = location;
  ff::check_memory(av_frame_get_buffer(frame.get(), 0));
  for (int y = 0; y < kHeight; ++y) {
    std::fill_n(frame->data[0] + y * frame->linesize[0], kWidth, uint8_t{120});
    for (const int plane : {1, 2})
      for (int x = 0; x < kQuarter; ++x)
        frame->data[plane][y * frame->linesize[plane] + x] = x < kQuarter / 2 ? 110 : 150;
  }
  PictureAllocator allocator(MemoryKind::host);
  ConvertFallback fallback(allocator);
  fallback.convert(frame);
  const uint8_t* const row = frame->data[0] + 4 * frame->linesize[0];
  const double first = row[0], last = row[4 * (kWidth - 1)];
  double sum = 0;
  for (int x = 0; x < kWidth; ++x) sum += (row[4 * x] - last) / (first - last);
  return sum - 0.5;
}

// Sample 7 is at column 28 and sample 8 at column 32 if they are sited left, else 1.5 columns further right.
TEST(PixelFormats, ConversionsHonourTheSitingOf411) {
  EXPECT_NEAR(edge_of_411(AVCHROMA_LOC_LEFT), 30, 0.1);
  EXPECT_NEAR(edge_of_411(AVCHROMA_LOC_UNSPECIFIED), 30, 0.1);
  EXPECT_NEAR(edge_of_411(AVCHROMA_LOC_CENTER), 31.5, 0.1);
}

TEST(PixelFormats, LayoutsMatchTheFormat) {
  const auto yuyv = *picture_format(AV_PIX_FMT_YUYV422);
  EXPECT_EQ(yuyv.plane_count, 1);
  EXPECT_EQ(yuyv.chroma_shift_x, 1);
  EXPECT_EQ(yuyv.chroma_shift_y, 0);
  EXPECT_EQ(yuyv.components[0], (ComponentLayout{0, 2, 0, 0}));
  EXPECT_EQ(yuyv.components[1], (ComponentLayout{0, 4, 1, 0}));
  EXPECT_EQ(yuyv.components[2], (ComponentLayout{0, 4, 3, 0}));
  const auto nv21 = *picture_format(AV_PIX_FMT_NV21);
  EXPECT_EQ(nv21.components[1], (ComponentLayout{1, 2, 1, 0}));
  EXPECT_EQ(nv21.components[2], (ComponentLayout{1, 2, 0, 0}));
  const auto p010 = *picture_format(AV_PIX_FMT_P010LE);
  EXPECT_EQ(p010.depth, 10);
  EXPECT_EQ(p010.components[0], (ComponentLayout{0, 2, 0, 6}));
  const auto abgr = *picture_format(AV_PIX_FMT_ABGR);
  EXPECT_EQ(abgr.model, ColourModel::rgb);
  EXPECT_TRUE(abgr.has_alpha);
  EXPECT_EQ(abgr.components[0].offset, 3);
  EXPECT_EQ(abgr.components[3].offset, 0);
  const auto gbrp = *picture_format(AV_PIX_FMT_GBRP);
  EXPECT_EQ(gbrp.components[0].plane, 2);
  EXPECT_EQ(gbrp.components[1].plane, 0);
  EXPECT_FALSE(picture_format(AV_PIX_FMT_0RGB)->has_alpha);
}

/// plane_row_bytes() and plane_rows() agree with FFmpeg for every format that needs no conversion.
TEST(PixelFormats, PlaneSizesAgreeWithFfmpeg) {
  int checked = 0;
  const AVPixFmtDescriptor* d = nullptr;
  while ((d = av_pix_fmt_desc_next(d))) {
    const AVPixelFormat f = av_pix_fmt_desc_get_id(d);
    const auto format = picture_format(f);
    if (!format) continue;
    ++checked;
    for (const Extent extent : {Extent{64, 48}, Extent{17, 31}, Extent{1, 1}}) {
      PictureInfo info;
      info.format = *format;
      info.extent = extent;
      int line_sizes[4];
      ASSERT_GE(av_image_fill_linesizes(line_sizes, f, extent.width), 0);
      const bool packed_yuv = format->plane_count == 1 && format->chroma_shift_x;
      for (int p = 0; p < format->plane_count; ++p) {
        // FFmpeg ends the rows of a packed 4:2:2 picture of odd width within the last pair of pixels.
        const size_t wanted =
            static_cast<size_t>(packed_yuv && extent.width % 2 ? line_sizes[p] + 2 : line_sizes[p]);
        if (packed_yuv && extent.width % 2)
          EXPECT_LE(info.plane_row_bytes(p), wanted) << d->name;
        else
          EXPECT_EQ(info.plane_row_bytes(p), wanted)
              << d->name << " plane " << p << " width " << extent.width;
        const bool chroma = (p == 1 || p == 2) && format->model == ColourModel::yuv;
        const int rows = chroma ? AV_CEIL_RSHIFT(extent.height, d->log2_chroma_h) : extent.height;
        EXPECT_EQ(info.plane_rows(p), rows) << d->name << " plane " << p;
      }
    }
  }
  EXPECT_GT(checked, 60);
}

}  // namespace
}  // namespace lensd
