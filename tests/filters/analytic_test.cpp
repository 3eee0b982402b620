// Filters on pictures with a known result, and compared with double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "kernels/common/border/border.hpp"
#include "kernels/gaussian/gaussian_math.hpp"
#include "kernels/registry.hpp"
#include "kernels/temporal_denoise/temporal_denoise.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/instruction_set.hpp"

namespace lensd::test {
namespace {

using Params = std::vector<std::pair<std::string, ParamValue>>;

RunOutput apply(const std::string& name, const Params& params, const Image& in) {
  const auto filter = registry().find(name)->make();
  for (const auto& [key, value] : params) {
    const auto problem = filter->set(key, value);
    EXPECT_FALSE(problem.has_value()) << *problem;
  }
  const ImageFormat formats[] = {in.format};
  return make_cpu_rig(*filter, {.images = formats}, kAligned, 2)->run({in});
}

Image filled(ImageFormat format, int value) {
  Image image(format);
  for (uint8_t& v : image.pixels) v = static_cast<uint8_t>(value);
  return image;
}

TEST(Analytic, ConstantPicturesStayConstant) {
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgba8})
    for (const int value : {0, 1, 127, 254, 255}) {
      const Image in = filled({format, {37, 23}}, value);
      for (const char* border : {"replicate", "reflect", "reflect101", "wrap"}) {
        const std::pair<std::string, ParamValue> rule{"border", std::string(border)};
        for (const double sigma : {0.1, 0.5, 1.6, 5.0, 20.0})
          EXPECT_EQ(difference(in, apply("gaussian", {{"sigma", sigma}, rule}, in).image), "")
              << sigma << border;
        for (const int radius : {1, 2, 3, 8, 25})
          EXPECT_EQ(difference(in, apply("median", {{"radius", int64_t{radius}}, rule}, in).image), "");
      }
      EXPECT_EQ(difference(in, apply("mosaic", {{"block", int64_t{7}}}, in).image), "");
      const Image gray = filled({PixelFormat::gray8, {37, 23}}, value);
      EXPECT_EQ(difference(gray, apply("grayscale", {}, in).image), "");
    }
}

TEST(Analytic, GaussianOfAnImpulseIsItsTaps) {
  Image in({PixelFormat::gray8, {21, 21}});
  in.at(10, 10) = 255;
  const Image out = apply("gaussian", {{"sigma", 1.6}}, in).image;
  double sum = 0;
  for (int i = -5; i <= 5; ++i) sum += std::exp(-0.5 * i * i / (1.6 * 1.6));
  for (int y = 0; y < 21; ++y)
    for (int x = 0; x < 21; ++x) {
      const int dx = x - 10, dy = y - 10;
      const bool inside = std::abs(dx) <= 5 && std::abs(dy) <= 5;
      const double exact =
          inside ? 255 * std::exp(-0.5 * (dx * dx + dy * dy) / (1.6 * 1.6)) / (sum * sum) : 0;
      EXPECT_NEAR(out.at(x, y), exact, 0.52) << x << ' ' << y;
      EXPECT_EQ(out.at(x, y), out.at(20 - x, y));
      EXPECT_EQ(out.at(x, y), out.at(x, 20 - y));
    }
}

TEST(Analytic, GaussianTapsSumToOne) {
  for (double sigma = 0.1; sigma <= 20; sigma *= 1.07)
    for (int radius = 0; radius <= kGaussianMaxRadius; ++radius) {
      const GaussianBlock block = GaussianBlock::make({.sigma = sigma, .radius = radius});
      int sum = 0;
      for (int i = 0; i <= 2 * block.radius; ++i) sum += block.tap(i);
      ASSERT_EQ(sum, 65536) << sigma << ' ' << radius;
    }
}

/// Returns the blurred picture in double precision, with weights exp(−d²/2σ²), normalised over the window.
std::vector<double> exact_gaussian(const Image& in, const GaussianParams& params) {
  const int r = params.effective_radius(), w = in.width(), h = in.height();
  std::vector<double> taps(static_cast<size_t>(2 * r + 1));
  double sum = 0;
  for (int i = -r; i <= r; ++i)
    sum += taps[static_cast<size_t>(i + r)] = std::exp(-0.5 * i * i / (params.sigma * params.sigma));
  const auto at = [&](int x, int y) { return static_cast<size_t>(y * w + x); };
  std::vector<double> across(in.pixels.size()), out(in.pixels.size());
  for (int pass = 0; pass < 2; ++pass)
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        double v = 0;
        for (int i = -r; i <= r; ++i) {
          const int xi = pass == 0 ? border_index(x + i, w, params.border) : x;
          const int yi = pass == 0 ? y : border_index(y + i, h, params.border);
          if (xi >= 0 && yi >= 0)
            v += taps[static_cast<size_t>(i + r)] / sum * (pass == 0 ? in.at(xi, yi) : across[at(xi, yi)]);
        }
        (pass == 0 ? across : out)[at(x, y)] = v;
      }
  return out;
}

TEST(Analytic, GaussianMeetsDoublePrecision) {
  std::mt19937 random(5);
  const Image in = noise({PixelFormat::gray8, {257, 131}}, random);
  for (const double sigma : {0.1, 0.3, 0.5, 0.8, 1.6, 3.0, 5.0, 10.0, 20.0})
    for (const int radius : {0, 1, 31})
      for (const Border border : {Border::reflect101, Border::constant}) {
        SCOPED_TRACE(std::to_string(sigma) + " " + std::to_string(radius));
        const std::vector<double> exact = exact_gaussian(in, {sigma, radius, border});
        const char* rule = border == Border::constant ? "constant" : "reflect101";
        const Image out =
            apply("gaussian", {{"sigma", sigma}, {"radius", int64_t{radius}}, {"border", std::string(rule)}},
                  in)
                .image;
        size_t equal = 0;
        for (size_t i = 0; i < exact.size(); ++i) {
          ASSERT_LT(std::abs(out.pixels[i] - exact[i]), 1.0);
          equal += out.pixels[i] == std::lround(exact[i]);
        }
        EXPECT_GE(static_cast<double>(equal) / static_cast<double>(exact.size()), 0.99);
      }
}

TEST(Analytic, GaussianKeepsRampsInside) {
  Image in({PixelFormat::gray8, {128, 64}});
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 128; ++x) in.at(x, y) = static_cast<uint8_t>(x + y);
  const Image out = apply("gaussian", {{"sigma", 2.0}}, in).image;
  for (int y = 6; y < 58; ++y)
    for (int x = 6; x < 122; ++x) ASSERT_EQ(out.at(x, y), x + y);
}

TEST(Analytic, MedianRemovesSpecksAndKeepsEdges) {
  for (const int radius : {1, 2, 3, 7, 12}) {
    Image in({PixelFormat::gray8, {40, 30}});
    for (int y = 0; y < 30; ++y)
      for (int x = 20; x < 40; ++x) in.at(x, y) = 200;
    const Image clean = in;
    in.at(8, 8) = 255, in.at(30, 20) = 0;
    EXPECT_EQ(difference(clean, apply("median", {{"radius", int64_t{radius}}}, in).image), "");
  }
}

TEST(Analytic, MedianOfARampIsTheRamp) {
  Image in({PixelFormat::gray8, {60, 50}});
  for (int y = 0; y < 50; ++y)
    for (int x = 0; x < 60; ++x) in.at(x, y) = static_cast<uint8_t>(3 * x + y);
  for (const int radius : {2, 3, 7, 8, 20}) {
    const Image out = apply("median", {{"radius", int64_t{radius}}}, in).image;
    for (int y = radius; y < 50 - radius; ++y)
      for (int x = radius; x < 60 - radius; ++x) ASSERT_EQ(out.at(x, y), 3 * x + y) << radius;
  }
}

/// Compares every radius on every instruction set with the middle of the sorted window, for pictures with two
/// values, smooth pictures and noise.
TEST(Analytic, MedianIsTheMiddleOfTheSortedWindow) {
  std::mt19937 random(8);
  for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgba8})
    for (int radius = 1; radius <= 25; ++radius) {
      Image in = noise({format, {81, 37}}, random);
      if (radius % 3 == 1)
        for (uint8_t& v : in.pixels) v = v < 100 ? 0 : 255;
      if (radius % 3 == 2)
        for (size_t i = 0; i < in.pixels.size(); ++i)
          in.pixels[i] = static_cast<uint8_t>(i / 97 + in.pixels[i] % 16);
      const Params params{{"radius", int64_t{radius}}, {"border", std::string("reflect101")}};
      const Image out = apply("median", params, in).image;
      for (const int64_t set : instruction_sets()) {
        const InstructionSet limited(set);
        EXPECT_EQ(difference(out, apply("median", params, in).image), "")
            << hwy::TargetName(set) << ", radius " << radius;
      }
      std::vector<uint8_t> window;
      for (int y = 0; y < in.height(); y += 3)
        for (int x = 0; x < in.width(); x += 5)
          for (int c = 0; c < std::min(3, in.channels()); ++c) {
            window.clear();
            for (int dy = -radius; dy <= radius; ++dy)
              for (int dx = -radius; dx <= radius; ++dx)
                window.push_back(in.at(border_index(x + dx, in.width(), Border::reflect101),
                                       border_index(y + dy, in.height(), Border::reflect101), c));
            std::sort(window.begin(), window.end());
            ASSERT_EQ(out.at(x, y, c), window[window.size() / 2])
                << radius << ": " << x << ' ' << y << ' ' << c;
          }
    }
}

TEST(Analytic, GrayscaleWeights) {
  std::mt19937 random(6);
  const Image in = noise({PixelFormat::rgba8, {64, 64}}, random);
  const struct {
    const char* name;
    double r, g, b;
  } cases[] = {
      {"bt601", 0.299, 0.587, 0.114}, {"bt709", 0.2126, 0.7152, 0.0722}, {"average", 1. / 3, 1. / 3, 1. / 3}};
  for (const auto& weights : cases) {
    const Image out = apply("grayscale", {{"weights", std::string(weights.name)}}, in).image;
    for (int y = 0; y < 64; ++y)
      for (int x = 0; x < 64; ++x)
        ASSERT_NEAR(out.at(x, y),
                    weights.r * in.at(x, y, 0) + weights.g * in.at(x, y, 1) + weights.b * in.at(x, y, 2),
                    0.52);
  }
}

TEST(Analytic, MosaicMeansAndStatistics) {
  Image in({PixelFormat::gray8, {5, 3}});
  for (int i = 0; i < 15; ++i) in.pixels[static_cast<size_t>(i)] = static_cast<uint8_t>(i * 10);
  const RunOutput out = apply("mosaic", {{"block", int64_t{2}}}, in);
  // Blocks of 2×2: (0 10 50 60) (20 30 70 80) (40 90), then the last row by twos.
  const std::vector<uint8_t> expected = {30, 30, 50, 50, 65, 30, 30, 50, 50, 65, 105, 105, 125, 125, 140};
  EXPECT_EQ(out.image.pixels, expected);
  ASSERT_EQ(out.stats.size(), 1u);
  EXPECT_EQ(out.stats[0].name, "mean");
  EXPECT_EQ(out.stats[0].value, 70);
}

/// Filters that move pixels also move their alpha; all others leave it in place.
TEST(Analytic, AlphaPassesThrough) {
  const std::set<std::string> movers{"crop", "flip", "rotate", "resize"};
  std::mt19937 random(8);
  const Image in = noise({PixelFormat::rgba8, {50, 40}}, random);
  for (const FilterEntry& entry : registry().filters) {
    const auto filter = entry.make();
    if (movers.contains(entry.schema().name)) continue;
    if (entry.min_inputs > 1 || entry.needs_tracks || entry.accepts == Accepts::gray) continue;
    const ImageFormat formats[] = {in.format};
    if (!(filter->configure({.images = formats}).output == in.format)) continue;
    const Image out = apply(entry.schema().name, {}, in).image;
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 50; ++x) ASSERT_EQ(out.at(x, y, 3), in.at(x, y, 3)) << entry.schema().name;
  }
}

TEST(TemporalDenoiseMath, EstimatesFollowSlowlyUpToTheThreshold) {
  const TemporalDenoiseBlock block = TemporalDenoiseBlock::make({.strength = 0.5, .motion_threshold = 16});
  EXPECT_EQ(block.base_q8, 128);
  EXPECT_EQ(block.threshold, 16 * 256);
  EXPECT_EQ(block.slope, 2048);
  constexpr uint32_t kHundred = 100 * 256 + 1;
  EXPECT_EQ(next_estimate(0, 100, block), kHundred) << "the first frame";
  EXPECT_EQ(next_estimate(kHundred, 100, block), kHundred);
  EXPECT_EQ(next_estimate(kHundred, 108, block), kHundred + 6 * 256) << "three quarters of the way";
  EXPECT_EQ(next_estimate(kHundred, 92, block), kHundred - 6 * 256);
  EXPECT_EQ(next_estimate(kHundred, 115, block), kHundred + 3720);
  EXPECT_EQ(next_estimate(kHundred, 116, block), kHundred + 16 * 256) << "motion";
  EXPECT_EQ(next_estimate(kHundred, 84, block), kHundred - 16 * 256);
  EXPECT_EQ(estimated_value(kHundred), 100u);
  EXPECT_EQ(estimated_value(kHundred + 127), 100u);
  EXPECT_EQ(estimated_value(kHundred + 128), 101u) << "halves round up";
  const TemporalDenoiseBlock none = TemporalDenoiseBlock::make({.strength = 0, .motion_threshold = 16});
  EXPECT_EQ(none.threshold, 0) << "every change is motion";
}

}  // namespace
}  // namespace lensd::test
