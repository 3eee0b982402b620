// colour over all layouts, sizes, orientations: oracle == CPU == CUDA, and the oracle against double
// precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/colour/colour.hpp"
#include "kernels/common/samples.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/instruction_set.hpp"
#include "tests/filters/pictures.hpp"

namespace lensd::test {
namespace {

constexpr Extent kSizes[] = {{1, 1}, {2, 2}, {1, 6}, {5, 1}, {3, 5}, {17, 31}, {66, 20}, {131, 35}};

class ColourLayout : public testing::TestWithParam<NamedFormat> {
 protected:
  std::mt19937 random_{20261121};

  PictureInfo info(Extent extent) {
    PictureInfo out{.format = GetParam().format, .extent = extent, .colour = {}, .orientation = {}};
    out.colour.matrix = static_cast<YuvMatrix>(random_() % 3);
    out.colour.range = static_cast<Range>(random_() % 2);
    out.colour.siting = static_cast<ChromaSiting>(random_() % 3);
    return out;
  }
  static std::string trace(const PictureInfo& info) {
    const Orientation& o = info.orientation;
    return describe(info) + ", " + std::to_string(info.extent.width) + "x" +
           std::to_string(info.extent.height) + (o.transpose ? ", transposed" : "") +
           (o.flip_x ? ", flip x" : "") + (o.flip_y ? ", flip y" : "");
  }
};

TEST_P(ColourLayout, BothBackendsEqualOracleInEveryOrientation) {
  for (const Extent extent : kSizes)
    for (int turn = 0; turn < 16; ++turn) {
      const int precision = turn < 8 ? 8 : 16;
      PictureInfo what = info(extent);
      what.orientation = {(turn & 1) != 0, (turn & 2) != 0, (turn & 4) != 0};
      SCOPED_TRACE(trace(what));
      const HostPicture picture = random_picture(what, random_, 3, turn % 8 == 5);
      const Image oracle = colour_reference(picture.ref, precision);
      Colour filter;
      for (const int64_t set : instruction_sets()) {
        const InstructionSet only(set);
        const auto rig =
            make_cpu_rig(filter, {.images = {}, .picture = &what, .precision = precision}, kOdd, 1);
        const RunOutput output = rig->run({}, &picture.ref);
        ASSERT_EQ(difference(oracle, output.image), "") << hwy::TargetName(set);
        ASSERT_TRUE(output.guards_untouched) << hwy::TargetName(set);
      }
      for (const Placement placement : {kAligned, kOdd}) {
        for (const int threads : {1, 2}) {
          const auto rig = make_cpu_rig(filter, {.images = {}, .picture = &what, .precision = precision},
                                        placement, threads);
          const RunOutput output = rig->run({}, &picture.ref);
          ASSERT_EQ(difference(oracle, output.image), "");
          ASSERT_TRUE(output.guards_untouched);
        }
        if (!cuda_unavailable().empty()) continue;
        const auto rig = make_cuda_rig(
            filter, {.images = {}, .picture = &what, .precision = precision, .backend = Backend::cuda},
            placement);
        const RunOutput output = rig->run({}, &picture.ref);
        ASSERT_EQ(difference(oracle, output.image), "") << "CUDA";
        ASSERT_TRUE(output.guards_untouched) << "CUDA";
      }
    }
}

/// Returns the rows 0, 2, 4 … (`parity` 0) or 1, 3, 5 … of a picture, as a progressive picture.
PictureRef field(PictureRef picture, int parity) {
  picture.info.interlaced = {}, picture.info.extent.height /= 2;
  for (size_t p = 0; p < picture.planes.size(); ++p)
    picture.planes[p] += parity * picture.pitch_bytes[p], picture.pitch_bytes[p] *= 2;
  return picture;
}

TEST_P(ColourLayout, FieldsOfInterlacedPicturesAreConvertedSeparately) {
  const bool halved = GetParam().format.model == ColourModel::yuv && GetParam().format.chroma_shift_y == 1;
  for (const Extent extent : {Extent{5, 4}, Extent{66, 20}, Extent{131, 36}})
    for (int turn = 0; turn < 4; ++turn) {
      const int precision = turn % 2 == 0 ? 8 : 16;
      PictureInfo what = info(extent);
      what.orientation.flip_x = turn > 1, what.interlaced.value = true;
      SCOPED_TRACE(trace(what));
      const HostPicture picture = random_picture(what, random_, 3, turn == 1);
      Image expected = colour_reference(picture.ref, precision);
      for (int parity = 0; parity < 2; ++parity) {
        const Image rows = colour_reference(field(picture.ref, parity), precision);
        const size_t bytes = rows.format.row_bytes();
        for (size_t y = 0; y < static_cast<size_t>(rows.format.extent.height); ++y)
          std::copy_n(&rows.pixels[y * bytes], bytes,
                      &expected.pixels[(2 * y + static_cast<size_t>(parity)) * bytes]);
      }
      PictureRef progressive = picture.ref;
      progressive.info.interlaced.value = false;
      EXPECT_EQ(difference(expected, colour_reference(progressive, precision)) == "", !halved);
      Colour filter;
      for (const int64_t set : instruction_sets()) {
        const InstructionSet only(set);
        const auto rig =
            make_cpu_rig(filter, {.images = {}, .picture = &what, .precision = precision}, kOdd, 2);
        ASSERT_EQ(difference(expected, rig->run({}, &picture.ref).image), "") << hwy::TargetName(set);
      }
      ASSERT_EQ(difference(expected, colour_reference(picture.ref, precision)), "");
      for (const Placement placement : {kAligned, kOdd}) {
        if (!cuda_unavailable().empty()) continue;
        const auto rig = make_cuda_rig(
            filter, {.images = {}, .picture = &what, .precision = precision, .backend = Backend::cuda},
            placement);
        const RunOutput output = rig->run({}, &picture.ref);
        ASSERT_EQ(difference(expected, output.image), "") << "CUDA";
        ASSERT_TRUE(output.guards_untouched) << "CUDA";
      }
    }
}

TEST_P(ColourLayout, SumsOfExtremeSamplesFit) {
  PictureInfo what = info({131, 35});
  for (const Range range : {Range::limited, Range::full}) {
    what.colour.range = range;
    SCOPED_TRACE(trace(what));
    HostPicture picture = random_picture(what, random_);
    for (auto& plane : picture.planes)
      for (size_t i = 0; i < plane.size(); ++i)
        plane[i] = i % 2 != 0 ? plane[i - 1] : random_() % 2 != 0 ? uint8_t{255} : uint8_t{0};
    const Image oracle = colour_reference(picture.ref);
    Colour filter;
    for (const int64_t set : instruction_sets()) {
      const InstructionSet only(set);
      const auto rig = make_cpu_rig(filter, {.images = {}, .picture = &what}, kOdd, 1);
      ASSERT_EQ(difference(oracle, rig->run({}, &picture.ref).image), "") << hwy::TargetName(set);
    }
  }
}

/// Returns the chroma at luma position (x, y), interpolated linearly between samples.
double chroma_at(const PictureRef& picture, int component, int x, int y) {
  const PictureInfo& info = picture.info;
  const auto axis = [](int position, int shift, bool cosited, int size, int& first, int& second) {
    const int n = (size + (1 << shift) - 1) >> shift;
    const double at = shift == 0 ? position : (position - (cosited ? 0.0 : 0.5)) / 2;
    const int below = static_cast<int>(std::floor(at));
    first = std::clamp(below, 0, n - 1), second = std::clamp(below + 1, 0, n - 1);
    return at - below;
  };
  int x0, x1, y0, y1;
  const double fx = axis(x, info.format.chroma_shift_x, info.colour.siting != ChromaSiting::center,
                         info.extent.width, x0, x1);
  const double fy = axis(y, info.format.chroma_shift_y, info.colour.siting == ChromaSiting::top_left,
                         info.extent.height, y0, y1);
  const auto s = [&](int cx, int cy) { return static_cast<double>(sample_of(picture, component, cx, cy)); };
  return (1 - fy) * ((1 - fx) * s(x0, y0) + fx * s(x1, y0)) + fy * ((1 - fx) * s(x0, y1) + fx * s(x1, y1));
}

/// Returns the RGBA values of a pixel in double precision, 0 to 255. For upright pictures only.
std::array<double, 4> exact_pixel(const PictureRef& picture, int x, int y) {
  const PictureInfo& info = picture.info;
  const double unit = std::ldexp(1.0, info.format.depth - 8), top = std::ldexp(1.0, info.format.depth) - 1;
  const bool limited = info.colour.range == Range::limited;
  const auto level = [&](double v) { return limited ? (v - 16 * unit) / (219 * unit) : v / top; };
  const auto chroma = [&](double v) { return (v - 128 * unit) / (limited ? 224 * unit : top); };
  const auto sample = [&](int c) { return static_cast<double>(sample_of(picture, c, x, y)); };
  std::array<double, 4> out{};
  out[3] = info.format.has_alpha ? sample(3) / top : 1;
  if (info.format.model != ColourModel::yuv) {
    for (int c = 0; c < (info.format.model == ColourModel::rgb ? 3 : 1); ++c)
      out[static_cast<size_t>(c)] = level(sample(c));
  } else {
    const double kr = std::array{0.299, 0.2126, 0.2627}[static_cast<size_t>(info.colour.matrix)];
    const double kb = std::array{0.114, 0.0722, 0.0593}[static_cast<size_t>(info.colour.matrix)];
    const double luma = level(sample(0)), cb = chroma(chroma_at(picture, 1, x, y)),
                 cr = chroma(chroma_at(picture, 2, x, y));
    out[0] = luma + 2 * (1 - kr) * cr;
    out[2] = luma + 2 * (1 - kb) * cb;
    out[1] = (luma - kr * out[0] - kb * out[2]) / (1 - kr - kb);
  }
  for (double& v : out) v = std::clamp(255 * v, 0.0, 255.0);
  return out;
}

TEST_P(ColourLayout, WithinOneOfDoublePrecision) {
  for (const Extent extent : {Extent{64, 48}, {33, 17}})
    for (int draw = 0; draw < 6; ++draw) {
      const PictureInfo what = info(extent);
      SCOPED_TRACE(trace(what));
      const HostPicture picture = random_picture(what, random_);
      const Image fixed = colour_reference(picture.ref), deep = colour_reference(picture.ref, 16);
      double worst = 0, worst_deep = 0;
      for (int y = 0; y < extent.height; ++y)
        for (int x = 0; x < extent.width; ++x) {
          const auto exact = exact_pixel(picture.ref, x, y);
          for (int c = 0; c < fixed.channels(); ++c) {
            const double v = exact[static_cast<size_t>(c)];
            worst = std::max(worst, std::abs(v - fixed.at(x, y, c)));
            worst_deep = std::max(worst_deep, std::abs(257 * v - deep.sample(x, y, c)));
          }
        }
      EXPECT_LT(worst, 0.6);  // half a rounding step, plus the rounding of the coefficients
      EXPECT_LT(worst_deep, 0.55);
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, ColourLayout, testing::ValuesIn(picture_formats()),
                         [](const auto& instance) { return instance.param.name; });

PictureInfo info_of(const std::string& name, Extent extent) {
  for (const NamedFormat& f : picture_formats())
    if (f.name == name) return {.format = f.format, .extent = extent, .colour = {}, .orientation = {}};
  ADD_FAILURE() << name;
  return {};
}

TEST(Colour, KnownColours) {
  std::mt19937 random(1);
  HostPicture picture = random_picture(info_of("yuv444p", {1, 1}), random);
  const auto convert = [&](int y, int u, int v) {
    picture.planes[0][0] = static_cast<uint8_t>(y), picture.planes[1][0] = static_cast<uint8_t>(u);
    picture.planes[2][0] = static_cast<uint8_t>(v);
    return colour_reference(picture.ref).pixels;
  };
  using Pixel = std::vector<uint8_t>;
  EXPECT_EQ(convert(16, 128, 128), (Pixel{0, 0, 0, 255}));
  EXPECT_EQ(convert(235, 128, 128), (Pixel{255, 255, 255, 255}));
  EXPECT_EQ(convert(126, 128, 128), (Pixel{128, 128, 128, 255}));
  EXPECT_EQ(convert(81, 90, 240), (Pixel{254, 0, 0, 255}));  // bt601 red, in 8-bit studio range
  EXPECT_EQ(convert(0, 128, 128), (Pixel{0, 0, 0, 255}));    // below black is clamped
}

/// Samples of 16 bits and full range are not changed.
TEST(Colour, KeepsSamplesOf16Bits) {
  std::mt19937 random(2);
  for (const NamedFormat& format : picture_formats()) {
    if (format.format.depth != 16 || format.format.model == ColourModel::yuv) continue;
    PictureInfo info = info_of(format.name, {40, 10});
    info.colour.range = Range::full;
    const HostPicture picture = random_picture(info, random);
    const Image image = colour_reference(picture.ref, 16);
    for_each_sample(info.extent, colour_channels(image.format.format), [&](int x, int y, int c) {
      ASSERT_EQ(image.sample(x, y, c), sample_of(picture.ref, c, x, y)) << format.name;
    });
  }
}

TEST(Colour, RefusesQuarteredChroma) {
  PictureInfo info = info_of("yuv420p", {8, 8});
  info.format.chroma_shift_x = 2;
  Colour filter;
  EXPECT_ANY_THROW(filter.configure({.images = {}, .picture = &info}));
}

}  // namespace
}  // namespace lensd::test
