// The pictures that a live source shows while it has none.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/media/live/glyphs.hpp"
#include "core/media/live/placeholder.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {
namespace {

class PlaceholderTest : public testing::TestWithParam<int> {};

struct TextPixels {
  int count = 0;
  double row = 0;  ///< mean
};

/// Returns the pixels that are as bright as text.
TextPixels text_in(const Picture& picture) {
  const PictureFormat& f = picture.planes.info.format;
  const ComponentLayout& c = f.components[0];
  int count = 0;
  double rows = 0;
  for (int y = 0; y < picture.planes.info.extent.height; ++y)
    for (int x = 0; x < picture.planes.info.extent.width; ++x) {
      const uint8_t* p = picture.planes.planes[c.plane] + y * picture.planes.pitch_bytes[c.plane] +
                         std::ptrdiff_t{x} * c.step + c.offset;
      const int value = f.depth > 8 ? (p[0] | p[1] << 8) >> c.shift >> (f.depth - 8) : *p;
      if (value > 180) ++count, rows += y;
    }
  return {count, rows / std::max(count, 1)};
}

int text_pixels(const Picture& picture) {
  return text_in(picture).count;
}

PictureInfo format_number(int i) {
  PictureInfo info = Placeholder::default_info({320, 240});
  switch (i) {
    case 1:  // P010: 10 bits in the high bits, interleaved chroma
      info.format = {.model = ColourModel::yuv,
                     .depth = 10,
                     .chroma_shift_x = 1,
                     .chroma_shift_y = 1,
                     .plane_count = 2,
                     .components = {{{0, 2, 0, 6}, {1, 4, 0, 6}, {1, 4, 2, 6}, {}}}};
      break;
    case 2:  // packed RGBA
      info.format = {.model = ColourModel::rgb,
                     .depth = 8,
                     .has_alpha = true,
                     .plane_count = 1,
                     .components = {{{0, 4, 0, 0}, {0, 4, 1, 0}, {0, 4, 2, 0}, {0, 4, 3, 0}}}};
      break;
    case 3:
      info.format = {
          .model = ColourModel::gray, .depth = 8, .plane_count = 1, .components = {{{0, 1, 0, 0}}}};
      break;
    case 4:
      info.orientation = {true, true, false};
      break;
    case 5:  // YUYV
      info.format = {.model = ColourModel::yuv,
                     .depth = 8,
                     .chroma_shift_x = 1,
                     .plane_count = 1,
                     .components = {{{0, 2, 0, 0}, {0, 4, 1, 0}, {0, 4, 3, 0}, {}}}};
      break;
    default:
      break;
  }
  return info;
}

TEST_P(PlaceholderTest, KeepsTheFormatAndShowsText) {
  const PictureInfo info = format_number(GetParam());
  Placeholder placeholder;
  placeholder.set_background(info, nullptr);
  const Picture plain = placeholder.make("", "", {});
  const Picture shown = placeholder.make("stalled 3 s", "no new pictures", {});
  EXPECT_EQ(shown.planes.info, info);
  EXPECT_EQ(text_pixels(plain), 0);
  EXPECT_GT(text_pixels(shown), 300);
  EXPECT_NEAR(text_in(shown).row, info.extent.height / 2.0, info.extent.height / 10.0) << "in the middle";
  Placeholder again;
  again.set_background(info, &shown);  // the last picture, darkened
  EXPECT_EQ(text_pixels(again.make("", "", {})), 0);
}
INSTANTIATE_TEST_SUITE_P(Formats, PlaceholderTest, testing::Range(0, 6));

TEST(PlaceholderSizes, SmallestAndOdd) {
  for (const Extent size : {Extent{1, 1}, Extent{3, 3}, Extent{17, 31}, Extent{4095, 7}}) {
    Placeholder placeholder;
    placeholder.set_background(Placeholder::default_info(size), nullptr);
    EXPECT_TRUE(placeholder.make("reconnecting 12 s", "a reason with quite a few words in it", {}));
  }
}

TEST(PlaceholderText, CharactersOutsideAsciiAreReplaced) {
  Placeholder placeholder;
  placeholder.set_background(Placeholder::default_info({320, 240}), nullptr);
  const auto shown = [&](const std::string& text) {
    const Picture picture = placeholder.make("", text, {});
    const PictureRef& planes = picture.planes;
    return std::string(reinterpret_cast<const char*>(planes.planes[0]),
                       static_cast<size_t>(planes.pitch_bytes[0] * planes.info.extent.height));
  };
  EXPECT_EQ(shown("16×8 from udp://…@host"), shown("16x8 from udp://...@host"));
  EXPECT_EQ(shown("für"), shown("f?r"));
  EXPECT_NE(shown("16x8"), shown("16 8"));
}

TEST(Glyphs, EveryLetterAndDigitIsThereAndDiffers) {
  std::set<std::array<uint8_t, kGlyphHeight>> seen;
  for (const char c : std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")) seen.insert(glyph(c));
  EXPECT_EQ(seen.size(), 36u);
  EXPECT_EQ(glyph('a'), glyph('A'));
}

}  // namespace
}  // namespace lensd
