// deinterlace on pictures with a known result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/deinterlace/deinterlace.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

/// A smooth picture with a bar of 12 columns that starts at column `at`.
Image bar_at(PixelFormat format, int at) {
  Image image({format, {96, 64}});
  const int unit = max_sample(format) / 255;
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 96; ++x)
      for (int c = 0; c < image.channels(); ++c)
        image.set_sample(x, y, c, unit * (x >= at && x < at + 12 ? 220 : 40 + x / 2 + y / 4));
  return image;
}

/// Weaves two fields: rows y with y % 2 = first_row come from `first`, the others from `second`.
Image woven(const Image& first, const Image& second, int first_row) {
  Image image = first;
  for (int y = 1 - first_row; y < image.height(); y += 2)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c) image.set_sample(x, y, c, second.sample(x, y, c));
  return image;
}

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) sum += std::abs(a.sample(x, y, 0) - b.sample(x, y, 0));
  return sum / (a.width() * a.height()) / (max_sample(a.format.format) / 255);
}

std::unique_ptr<Rig> rig_of(Filter& filter, const Image& image) {
  const ImageFormat formats[] = {image.format};
  return make_cpu_rig(filter, {.images = formats}, kAligned, 2);
}

constexpr PixelFormat kFormats[] = {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16,
                                    PixelFormat::rgba16};

TEST(Deinterlace, AStillPictureStaysAsItIs) {
  std::mt19937 random(3);
  for (const PixelFormat format : kFormats) {
    const Image still = noise({format, {37, 24}}, random);
    Deinterlace filter;
    filter.set("check", false);
    const auto rig = rig_of(filter, still);
    rig->run({still});
    EXPECT_EQ(difference(still, rig->run({still}).image), "") << name(format);
  }
}

TEST(Deinterlace, AMovingBarHasNoCombs) {
  for (const PixelFormat format : kFormats)
    for (const FieldOrder order : {FieldOrder::top_first, FieldOrder::bottom_first}) {
      const int first_row = order == FieldOrder::top_first ? 0 : 1;
      Deinterlace filter;
      const auto rig = rig_of(filter, bar_at(format, 0));
      for (int i = 0; i < 8; ++i) {
        const Image whole = bar_at(format, 8 * i);  // the bar moves by 4 columns from field to field
        const Image comb = woven(whole, bar_at(format, 8 * i + 4), first_row);
        const Image out = rig->run({comb}, RunExtras{.fields = order}).image;
        EXPECT_GT(mean_difference(whole, comb), 4);
        EXPECT_LT(mean_difference(whole, out), 0.25) << name(format) << " frame " << i;
        for (int y = first_row; y < out.height(); y += 2)
          for (int x = 0; x < out.width(); ++x) ASSERT_EQ(out.sample(x, y, 0), whole.sample(x, y, 0));
      }
    }
}

TEST(Deinterlace, TheFirstFieldIsThatOfTheMarkOrTheParameter) {
  std::mt19937 random(4);
  const Image picture = noise({PixelFormat::gray8, {30, 20}}, random);
  const auto kept_rows = [&](const char* parity, FieldOrder mark) {
    Deinterlace filter;
    filter.set("parity", std::string(parity));
    const Image out = rig_of(filter, picture)->run({picture}, RunExtras{.fields = mark}).image;
    bool kept[2] = {true, true};
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 30; ++x) kept[y % 2] = kept[y % 2] && out.at(x, y) == picture.at(x, y);
    return kept[0] == kept[1] ? -1 : kept[0] ? 0 : 1;
  };
  EXPECT_EQ(kept_rows("auto", FieldOrder::progressive), 0);
  EXPECT_EQ(kept_rows("auto", FieldOrder::top_first), 0);
  EXPECT_EQ(kept_rows("auto", FieldOrder::bottom_first), 1);
  EXPECT_EQ(kept_rows("top", FieldOrder::bottom_first), 0);
  EXPECT_EQ(kept_rows("bottom", FieldOrder::top_first), 1);
}

TEST(Deinterlace, FramesWithoutAMarkCanBeCopied) {
  std::mt19937 random(5);
  const Image picture = noise({PixelFormat::rgba8, {30, 20}}, random);
  Deinterlace filter;
  filter.set("frames", std::string("interlaced"));
  const auto rig = rig_of(filter, picture);
  EXPECT_EQ(difference(picture, rig->run({picture}).image), "");
  EXPECT_NE(
      difference(picture, rig->run({picture}, RunExtras{.cut = true, .fields = FieldOrder::top_first}).image),
      "");
}

/// An edge without symmetry, so that every wrong direction gives another value.
uint8_t edge_at(int x) {
  constexpr uint8_t kEdge[] = {0, 10, 200, 240};
  return kEdge[std::clamp(x - 4, 0, 3)];
}

TEST(Deinterlace, EdgesOfEveryDirectionAreFollowed) {
  constexpr int kPixels = 16;
  for (const int step : {1, 4})
    for (int shift = -2; shift <= 2; ++shift) {
      // The other channels of the pixels have values that must not be used.
      std::vector<uint8_t> above(static_cast<size_t>(kPixels * step), 77), below = above;
      for (int x = 0; x < kPixels; ++x) {
        const auto i = static_cast<size_t>(x * step + step - 1);
        above[i] = edge_at(x - shift), below[i] = edge_at(x + shift);
      }
      FieldRows<const uint8_t*> rows{};
      rows.above = above.data(), rows.below = below.data();
      EXPECT_EQ(predict_in_field(rows, 5 * step + step - 1, kPixels * step, step), edge_at(5))
          << "shifted by " << shift << ", " << step << " samples per pixel";
    }
}

TEST(Deinterlace, RowsAreMissingByParityAndMark) {
  FrameBlock frame{};
  const auto missing = [&](FieldParity parity, FieldOrder fields, bool marked_only) {
    frame.fields = fields;
    return DeinterlaceBlock{parity, marked_only, true}.missing_rows(frame);
  };
  using enum FieldOrder;
  for (const FieldParity parity : {FieldParity::automatic, FieldParity::top, FieldParity::bottom}) {
    EXPECT_EQ(missing(parity, progressive, true), -1);
    const bool top = parity != FieldParity::bottom;
    EXPECT_EQ(missing(parity, progressive, false), top ? 1 : 0);
    EXPECT_EQ(missing(parity, top_first, true), top ? 1 : 0);
    EXPECT_EQ(missing(parity, bottom_first, true), parity == FieldParity::top ? 1 : 0);
  }
}

}  // namespace
}  // namespace lensd::test
