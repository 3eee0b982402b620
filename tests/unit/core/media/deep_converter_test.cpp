// Images with 16 bits to the pixel formats of encoders, against the definitions of BT.601, BT.709 and BT.2020
// in double precision.
#include <gtest/gtest.h>

extern "C" {
#include <libavutil/pixdesc.h>
}

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>

#include "core/image/image.hpp"
#include "core/media/ffmpeg/deep_converter.hpp"
#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd::test {
namespace {

struct Converted {
  PictureFormat format;
  ff::FramePtr frame = ff::make_frame();

  int sample(int component, int x, int y) const {
    const ComponentLayout& c = format.components[static_cast<size_t>(component)];
    const uint8_t* p =
        frame->data[c.plane] + std::ptrdiff_t{y} * frame->linesize[c.plane] + x * c.step + c.offset;
    return format.depth > 8 ? (p[0] | p[1] << 8) >> c.shift : *p;
  }
};

Converted converted(const Image& image, AVPixelFormat format, YuvMatrix matrix, bool full, bool dither) {
  const PixelsFormat from = pixels_format(image.format);
  const PixelsFormat to{format, image.format.extent, matrix, full};
  EXPECT_TRUE(DeepConverter::supports(from, to)) << av_get_pix_fmt_name(format);
  Converted out{.format = *picture_format(format)};
  out.frame->format = format, out.frame->width = image.width(), out.frame->height = image.height();
  ff::check_memory(av_frame_get_buffer(out.frame.get(), 0));
  for (int p = 0; p < out.format.plane_count; ++p)
    std::fill_n(out.frame->data[p], out.frame->linesize[p], uint8_t{77});
  DeepConverter converter;
  converter.open(from, to, dither);
  converter.convert(pixels(image.ref()), *out.frame);
  return out;
}

Image noise(PixelFormat format, Extent extent, std::mt19937& random) {
  Image image({format, extent});
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c)
        image.set_sample(x, y, c, static_cast<int>(random() & 0xffff));
  return image;
}

Image flat(Extent extent, int r, int g, int b) {
  Image image({PixelFormat::rgba16, extent});
  const int values[] = {r, g, b, 65535};
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < 4; ++c) image.set_sample(x, y, c, values[c]);
  return image;
}

struct Weights {
  double r, b;
};
constexpr Weights kWeights[] = {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}};

/// Returns Y, U and V of a pixel: Y from 0 to 1, U and V from −0.5 to 0.5. Positions outside repeat the
/// border.
std::array<double, 3> yuv_at(const Image& image, YuvMatrix matrix, int x, int y) {
  x = std::clamp(x, 0, image.width() - 1), y = std::clamp(y, 0, image.height() - 1);
  const bool gray = image.channels() == 1;
  const double r = image.sample(x, y, 0) / 65535.0, g = gray ? r : image.sample(x, y, 1) / 65535.0,
               b = gray ? r : image.sample(x, y, 2) / 65535.0;
  const Weights w = kWeights[static_cast<size_t>(matrix)];
  const double luma = w.r * r + (1 - w.r - w.b) * g + w.b * b;
  return {luma, (b - luma) / (2 * (1 - w.b)), (r - luma) / (2 * (1 - w.r))};
}

/// Returns chroma averaged around a position of the chroma planes.
double chroma_at(const Image& image, YuvMatrix matrix, const PictureFormat& f, int component, int cx,
                 int cy) {
  double sum = 0, weights = 0;
  const int x = cx << f.chroma_shift_x, y = cy << f.chroma_shift_y;
  for (int dy = 0; dy <= f.chroma_shift_y; ++dy)
    for (int dx = -f.chroma_shift_x; dx <= f.chroma_shift_x; ++dx) {
      const double weight = dx == 0 ? 2 : 1;
      sum += weight * yuv_at(image, matrix, x + dx, y + dy)[static_cast<size_t>(component)],
          weights += weight;
    }
  return sum / weights;
}

/// Returns the exact value of a sample, not rounded.
double expected(const Image& image, YuvMatrix matrix, bool full, const PictureFormat& f, int component, int x,
                int y) {
  const double unit = std::exp2(f.depth - 8), most = std::exp2(f.depth) - 1;
  if (component == 3) return image.channels() == 1 ? most : image.sample(x, y, 3) / 65535.0 * most;
  if (f.model == ColourModel::rgb)
    return image.sample(x, y, image.channels() == 1 ? 0 : component) / 65535.0 * most;
  const bool limited = f.model == ColourModel::yuv && !full;
  if (component == 0) {
    const double luma = yuv_at(image, matrix, x, y)[0];
    return limited ? unit * (16 + 219 * luma) : luma * most;
  }
  const double chroma = chroma_at(image, matrix, f, component, x, y);
  return std::min(most, 128 * unit + chroma * (limited ? 224 * unit : most));
}

constexpr AVPixelFormat kFormats[] = {AV_PIX_FMT_YUV420P,     AV_PIX_FMT_YUVA420P,  AV_PIX_FMT_YUV422P,
                                      AV_PIX_FMT_YUV444P,     AV_PIX_FMT_NV12,      AV_PIX_FMT_YUYV422,
                                      AV_PIX_FMT_YUV420P10LE, AV_PIX_FMT_P010LE,    AV_PIX_FMT_YUV422P12LE,
                                      AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_GRAY8,     AV_PIX_FMT_GRAY10LE,
                                      AV_PIX_FMT_RGB24,       AV_PIX_FMT_BGR0,      AV_PIX_FMT_BGRA,
                                      AV_PIX_FMT_GBRP10LE,    AV_PIX_FMT_GBRAP16LE, AV_PIX_FMT_RGBA64LE};

TEST(DeepConverter, EveryFormatIsRoundedFromTheExactValues) {
  std::mt19937 random(20261125);
  for (const AVPixelFormat pixel_format : kFormats)
    for (const PixelFormat working : {PixelFormat::rgba16, PixelFormat::gray16})
      for (const Extent extent : {Extent{1, 1}, Extent{2, 3}, Extent{17, 5}, Extent{34, 8}})
        for (const YuvMatrix matrix : {YuvMatrix::bt601, YuvMatrix::bt709, YuvMatrix::bt2020})
          for (const bool full : {false, true}) {
            SCOPED_TRACE(std::string(av_get_pix_fmt_name(pixel_format)) + " " + std::to_string(extent.width));
            const Image image = noise(working, extent, random);
            const Converted out = converted(image, pixel_format, matrix, full, false);
            const PictureFormat& f = out.format;
            for (int c = 0; c < 4; ++c) {
              if (c == 3 ? !f.has_alpha : c > 0 && f.model == ColourModel::gray) continue;
              const bool chroma = f.model == ColourModel::yuv && (c == 1 || c == 2);
              const int sx = chroma ? f.chroma_shift_x : 0, sy = chroma ? f.chroma_shift_y : 0;
              for (int y = 0; y < (extent.height + sy) >> sy; ++y)
                for (int x = 0; x < (extent.width + sx) >> sx; ++x)
                  ASSERT_NEAR(out.sample(c, x, y), expected(image, matrix, full, f, c, x, y), 0.52)
                      << "component " << c << " at " << x << ", " << y;
            }
          }
}

TEST(DeepConverter, BlackWhiteAndGrayHaveTheStandardsCodes) {
  struct Case {
    AVPixelFormat format;
    int black, white, grey;
  };
  for (const Case& c : {Case{AV_PIX_FMT_YUV420P, 16, 235, 128}, Case{AV_PIX_FMT_YUV420P10LE, 64, 940, 512},
                        Case{AV_PIX_FMT_YUV444P12LE, 256, 3760, 2048}}) {
    for (const int value : {0, 65535}) {
      const Converted out =
          converted(flat({9, 6}, value, value, value), c.format, YuvMatrix::bt709, false, true);
      EXPECT_EQ(out.sample(0, 8, 5), value ? c.white : c.black);
      EXPECT_EQ(out.sample(1, 4, 2), c.grey);
      EXPECT_EQ(out.sample(2, 4, 2), c.grey);
    }
  }
}

TEST(DeepConverter, DitherKeepsTheMeanOfEveryBlock) {
  const Extent extent{24, 16};
  for (const int value : {1000, 30003, 61234}) {
    const Image image = flat(extent, value, value / 2, 65535 - value);
    for (const AVPixelFormat format : {AV_PIX_FMT_YUV444P, AV_PIX_FMT_NV12, AV_PIX_FMT_GBRP}) {
      const Converted plain = converted(image, format, YuvMatrix::bt709, false, false);
      const Converted out = converted(image, format, YuvMatrix::bt709, false, true);
      for (int c = 0; c < 3; ++c) {
        const double exact = expected(image, YuvMatrix::bt709, false, out.format, c, 0, 0);
        double sum = 0;
        for (int y = 0; y < 8; ++y)
          for (int x = 0; x < 8; ++x) {
            sum += out.sample(c, x, y);
            EXPECT_LT(std::abs(out.sample(c, x, y) - exact), 1);
            EXPECT_EQ(plain.sample(c, x, y), std::lround(exact));
          }
        EXPECT_NEAR(sum / 64, exact, 1.0 / 64) << av_get_pix_fmt_name(format) << " component " << c;
      }
    }
  }
}

TEST(DeepConverter, OnlyEightBitsAreDithered) {
  const Image image = flat({16, 8}, 30003, 30003, 30003);
  const Converted out = converted(image, AV_PIX_FMT_YUV420P10LE, YuvMatrix::bt709, false, true);
  for (int x = 0; x < 16; ++x) EXPECT_EQ(out.sample(0, x, 3), out.sample(0, 0, 0));
}

TEST(DeepConverter, UnusedBytesAre255) {
  const Image image = flat({5, 4}, 1000, 2000, 3000);
  const Converted out = converted(image, AV_PIX_FMT_BGR0, YuvMatrix::bt601, true, false);
  for (int x = 0; x < 5; ++x) EXPECT_EQ(out.frame->data[0][4 * x + 3], 255);
  const Converted pairs = converted(image, AV_PIX_FMT_YUYV422, YuvMatrix::bt601, false, false);
  EXPECT_EQ(pairs.frame->data[0][10], 255) << "luma of the sixth column";
}

TEST(DeepConverter, ImagesWithEightBitsAreLeftToSwscale) {
  const PixelsFormat yuv{AV_PIX_FMT_YUV420P, {8, 8}};
  EXPECT_FALSE(DeepConverter::supports({AV_PIX_FMT_RGBA, {8, 8}}, yuv));
  EXPECT_FALSE(DeepConverter::supports({AV_PIX_FMT_RGBA64, {8, 8}}, {AV_PIX_FMT_PAL8, {8, 8}}));
  EXPECT_TRUE(DeepConverter::supports({AV_PIX_FMT_RGBA64, {8, 8}}, yuv));
  const PixelsFormat limited{AV_PIX_FMT_GRAY16, {8, 8}, YuvMatrix::bt601, false};
  EXPECT_FALSE(DeepConverter::supports(limited, yuv)) << "decoded gray with limited range";
}

}  // namespace
}  // namespace lensd::test
