// Formats of the virtual camera: rates, layouts in shared memory, and the description that PipeWire gets.
#include "core/media/pipewire/frame_formats.hpp"
#include "core/image/dither.hpp"

#include <gtest/gtest.h>
#include <spa/param/format.h>
#include <spa/param/video/format-utils.h>
#include <spa/pod/filter.h>

#include <array>
#include <vector>

#include "core/base/contains.hpp"
#include "core/image/image.hpp"

namespace lensd {
namespace {

TEST(FrameFormats, RatesBecomeFractions) {
  const struct {
    double fps;
    uint32_t num, denom;
  } cases[] = {{30, 30, 1},
               {29.97002997, 30000, 1001},
               {59.94005994, 60000, 1001},
               {23.976, 24000, 1001},
               {12.5, 12500, 1000},
               {0.0001, 1, 1000},
               {0, 0, 1},
               {-1, 0, 1},
               {1e9, 0, 1}};
  for (const auto& c : cases) {
    const spa_fraction rate = rate_fraction(c.fps);
    EXPECT_EQ(rate.num, c.num) << c.fps;
    EXPECT_EQ(rate.denom, c.denom) << c.fps;
  }
}

TEST(FrameFormats, RowsAreMultiplesOfFourBytes) {
  EXPECT_EQ(sent_row_bytes(SPA_VIDEO_FORMAT_GRAY8, 64), 64);
  EXPECT_EQ(sent_row_bytes(SPA_VIDEO_FORMAT_GRAY8, 65), 68);
  EXPECT_EQ(sent_row_bytes(SPA_VIDEO_FORMAT_RGBA, 65), 260);
}

Image numbered(PixelFormat format, int width, int height) {
  Image image({format, {width, height}});
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(i * 7 + 3);
  return image;
}

TEST(FrameFormats, AFormatThatCannotBeParsedIsNoneOfThoseSent) {
  const spa_pod none = {0, SPA_TYPE_None};
  spa_video_info_raw info = {};
  EXPECT_LT(spa_format_video_raw_parse(&none, &info), 0);
  for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::gray8})
    EXPECT_FALSE(contains(sent_formats(format), info.format));
}

TEST(FrameFormats, ColourIsCopiedWithItsAlpha) {
  const Image image = numbered(PixelFormat::rgba8, 3, 2);
  std::vector<uint8_t> out(image.pixels.size());
  copy_frame(image.ref(), SPA_VIDEO_FORMAT_RGBA, out.data());
  EXPECT_EQ(out, image.pixels);
}

TEST(FrameFormats, GrayIsCopiedOrExpanded) {
  const Image image = numbered(PixelFormat::gray8, 3, 2);
  std::vector<uint8_t> gray(8, 99), colour(24, 99);
  copy_frame(image.ref(), SPA_VIDEO_FORMAT_GRAY8, gray.data());
  EXPECT_EQ(gray, (std::vector<uint8_t>{3, 10, 17, 99, 24, 31, 38, 99}));
  copy_frame(image.ref(), SPA_VIDEO_FORMAT_RGBx, colour.data());
  for (size_t i = 0; i < 6; ++i)
    for (size_t c = 0; c < 4; ++c) EXPECT_EQ(colour[4 * i + c], c == 3 ? 255 : image.pixels[i]);
}

TEST(FrameFormats, SamplesOf16BitsAreRounded) {
  Image deep({PixelFormat::gray16, {6, 1}}), image(as_8_bits(deep.format));
  const int samples[] = {0, 128, 129, 257, 65406, 65535}, expected[] = {0, 0, 1, 1, 254, 255};
  for (int x = 0; x < 6; ++x) deep.set_sample(x, 0, 0, samples[x]);
  copy_as_8_bits(deep.ref(), false, image.ref());
  ASSERT_EQ(image.format.format, PixelFormat::gray8);
  for (int x = 0; x < 6; ++x) EXPECT_EQ(image.at(x, 0), expected[x]) << samples[x];
  EXPECT_EQ(as_8_bits({PixelFormat::rgba16, {2, 1}}).format, PixelFormat::rgba8);
}

TEST(FrameFormats, SamplesOf16BitsAreDithered) {
  Image deep({PixelFormat::rgba16, {19, 16}}), image(as_8_bits(deep.format));
  const int values[] = {0, 30000, 257 * 40, 65535};
  for (int y = 0; y < deep.height(); ++y)
    for (int x = 0; x < deep.width(); ++x)
      for (int c = 0; c < 4; ++c) deep.set_sample(x, y, c, values[c]);
  copy_as_8_bits(deep.ref(), true, image.ref());
  double sum = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      EXPECT_EQ(image.at(x, y, 0), 0);
      EXPECT_EQ(image.at(x, y, 1), static_cast<int>(30000 / 257.0 + dither_threshold(x, y)));
      EXPECT_EQ(image.at(x, y, 2), 40);
      EXPECT_EQ(image.at(x, y, 3), 255);
      if (x < 16) sum += image.at(x, y, 1);
    }
  EXPECT_NEAR(sum / (16 * 16), 30000 / 257.0, 1.0 / 128);
}

/// Returns the format that a receiver gets that accepts only `format` and, if given, `aspect`;
/// SPA_VIDEO_FORMAT_UNKNOWN if it is not on offer.
spa_video_info_raw negotiated(const OfferedVideo& offered, spa_video_format format,
                              const spa_fraction* aspect = nullptr) {
  std::array<uint8_t, 1024> ours, theirs, both;
  spa_pod_builder our_builder = SPA_POD_BUILDER_INIT(ours.data(), ours.size());
  spa_pod_builder their_builder = SPA_POD_BUILDER_INIT(theirs.data(), theirs.size());
  spa_pod_builder builder = SPA_POD_BUILDER_INIT(both.data(), both.size());
  const spa_pod* offer = build_offer(our_builder, offered);
  spa_pod_frame object;
  spa_pod_builder_push_object(&their_builder, &object, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat);
  spa_pod_builder_add(&their_builder, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
                      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
                      SPA_POD_Id(format), 0);
  if (aspect)
    spa_pod_builder_add(&their_builder, SPA_FORMAT_VIDEO_pixelAspectRatio, SPA_POD_Fraction(aspect), 0);
  const auto* wanted = static_cast<const spa_pod*>(spa_pod_builder_pop(&their_builder, &object));
  spa_video_info_raw info = {};
  spa_pod* result = nullptr;
  if (spa_pod_filter(&builder, &result, offer, wanted) < 0) return info;
  spa_pod_fixate(result);
  spa_format_video_raw_parse(result, &info);
  return info;
}

TEST(FrameFormats, TheOfferHasSizeRateAndFormats) {
  const OfferedVideo colour{{PixelFormat::rgba8, {640, 360}}, rate_fraction(29.97)};
  const spa_video_info_raw info = negotiated(colour, SPA_VIDEO_FORMAT_RGBA);
  EXPECT_EQ(info.format, SPA_VIDEO_FORMAT_RGBA);
  EXPECT_EQ(info.size.width, 640u);
  EXPECT_EQ(info.size.height, 360u);
  EXPECT_EQ(info.framerate.num, 30000u);
  EXPECT_EQ(info.framerate.denom, 1001u);
  EXPECT_EQ(negotiated(colour, SPA_VIDEO_FORMAT_RGBx).format, SPA_VIDEO_FORMAT_RGBx);
  EXPECT_EQ(negotiated(colour, SPA_VIDEO_FORMAT_GRAY8).format, SPA_VIDEO_FORMAT_UNKNOWN);
  EXPECT_EQ(info.pixel_aspect_ratio.num, 0u);
  const OfferedVideo anamorphic{{PixelFormat::rgba8, {720, 576}}, {25, 1}, {64, 45}};
  const spa_video_info_raw wide = negotiated(anamorphic, SPA_VIDEO_FORMAT_RGBA);
  EXPECT_EQ(wide.pixel_aspect_ratio.num, 64u);
  EXPECT_EQ(wide.pixel_aspect_ratio.denom, 45u);
  EXPECT_EQ(wide.size.width, 720u);
  const spa_fraction square = {1, 1};
  EXPECT_EQ(negotiated(anamorphic, SPA_VIDEO_FORMAT_RGBA, &square).size.width, 720u);
  const OfferedVideo gray{{PixelFormat::gray8, {5, 4}}, {25, 1}};
  EXPECT_EQ(negotiated(gray, SPA_VIDEO_FORMAT_GRAY8).format, SPA_VIDEO_FORMAT_GRAY8);
  EXPECT_EQ(negotiated(gray, SPA_VIDEO_FORMAT_RGBA).format, SPA_VIDEO_FORMAT_RGBA);
}

}  // namespace
}  // namespace lensd
