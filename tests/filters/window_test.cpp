// Neighbourhood filters with known results: box, sobel, canny, convolve, unsharp, bilateral, diffusion.
// parity_test compares backends and oracles.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.hpp"
#include "kernels/bilateral/bilateral_math.hpp"
#include "kernels/box/box_math.hpp"
#include "kernels/convolve/convolve.hpp"
#include "kernels/registry.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

using Params = std::vector<std::pair<std::string, ParamValue>>;

Image filtered(const char* name, const Image& in, const Params& params) {
  const auto filter = registry().find(name)->make();
  for (const auto& [key, value] : params) {
    const auto problem = filter->set(key, value);
    EXPECT_EQ(problem.value_or(""), "");
  }
  const ImageFormat formats[] = {in.format};
  return make_cpu_rig(*filter, {.images = formats}, kOdd, 2)->run({in}).image;
}

template <class Value>
Image picture(int width, int height, Value value) {
  Image image({PixelFormat::gray8, {width, height}});
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image.at(x, y) = static_cast<uint8_t>(value(x, y));
  return image;
}

Image uniform_noise(int width, int height) {
  std::mt19937 random(5);
  return picture(width, height, [&](int, int) { return random() & 255; });
}

TEST(Box, RoundsTheMeanAndCountsZerosOutside) {
  const Image impulse = picture(9, 9, [](int x, int y) { return x == 4 && y == 4 ? 255 : 0; });
  const Image out = filtered("box", impulse, {{"radius", int64_t{1}}});
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 9; ++x)
      EXPECT_EQ(out.at(x, y), std::abs(x - 4) <= 1 && std::abs(y - 4) <= 1 ? 28 : 0);
  const Image white = picture(40, 40, [](int, int) { return 255; });
  const Image dark = filtered("box", white, {{"radius", int64_t{3}}, {"border", std::string("constant")}});
  EXPECT_EQ(dark.at(0, 0), 83);  // 16 of 49 pixels
  EXPECT_EQ(dark.at(20, 20), 255);
}

TEST(Box, WrappedWindowOfTheWholePictureIsItsMean) {
  const Image in = uniform_noise(255, 255);
  uint32_t sum = 0;
  for (const uint8_t v : in.pixels) sum += v;
  const Image out = filtered("box", in, {{"radius", int64_t{127}}, {"border", std::string("wrap")}});
  for (const uint8_t v : out.pixels) ASSERT_EQ(v, (sum + 65025 / 2) / 65025);
}

TEST(Box, SixteenBitsAreEnoughForSmallWindows) {
  for (int radius = 1; radius <= kBoxNarrowRadius; ++radius) {
    const BoxBlock block = BoxBlock::make({.radius = radius});
    const auto n = static_cast<uint32_t>((2 * radius + 1) * (2 * radius + 1));
    for (uint32_t sum = 0; sum <= 255 * n; ++sum) {
      const uint32_t rounded = sum + n / 2;
      ASSERT_LE(rounded, 0xffffu);
      ASSERT_EQ((rounded * block.narrow_reciprocal()) >> 16 >> block.narrow_shift(), rounded / n)
          << sum << " in a window of radius " << radius;
    }
  }
}

TEST(Sobel, RampsHaveTheirSlopeAndDirection) {
  const Image across = picture(60, 20, [](int x, int) { return 4 * x; });
  const Image down = picture(20, 60, [](int, int y) { return 4 * y; });
  const auto at = [](const Image& in, const char* output) {
    return int{filtered("sobel", in, {{"output", std::string(output)}}).at(10, 10)};
  };
  EXPECT_EQ(at(across, "x"), 32);
  EXPECT_EQ(at(across, "y"), 0);
  EXPECT_EQ(at(down, "y"), 32);
  EXPECT_EQ(at(down, "magnitude"), 32);
  EXPECT_EQ(at(across, "direction"), 0);
  EXPECT_EQ(at(down, "direction"), 64);
}

/// Two steps of 20 levels (weak); the left one is 60 levels high (strong) in its first ten rows.
TEST(Canny, FollowsAWeakEdgeFromItsStrongEndAndNoOther) {
  const Image in = picture(120, 700, [](int x, int y) {
    return x < 40 ? (y < 10 ? 0 : 40) : x < 80 ? 60 : 80;
  });
  const Image out = filtered("canny", in, {{"low", 50.0}, {"high", 150.0}});
  for (int y = 20; y < 700; ++y) {
    int left = 0, right = 0;
    for (int x = 30; x < 50; ++x) left += out.at(x, y) == 255;
    for (int x = 70; x < 90; ++x) right += out.at(x, y) == 255;
    ASSERT_EQ(left, 1) << y;
    ASSERT_EQ(right, 0) << y;
  }
}

TEST(Canny, OverlayDimsThePictureUnderTheEdges) {
  const Image in = picture(40, 40, [](int x, int) { return x < 20 ? 10 : 200; });
  const Image out = filtered("canny", in, {{"output", std::string("overlay")}});
  EXPECT_EQ(out.at(5, 5), 5);
  EXPECT_EQ(out.at(35, 35), 100);
  EXPECT_EQ(int{out.at(19, 20) == 255} + int{out.at(20, 20) == 255}, 1);
}

TEST(Convolve, ComposedKernelIsOneAfterTheOther) {
  const Image in = picture(50, 40, [](int x, int y) { return 100 + (x * 7 + y * 5) % 23; });
  const Image once = filtered("convolve", in, {{"compose", std::string("box(3), box(5)")}});
  for (int y = 3; y < 37; ++y)
    for (int x = 3; x < 47; ++x) {
      double sum = 0;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
          for (int v = -2; v <= 2; ++v)
            for (int u = -2; u <= 2; ++u) sum += in.at(x + i + u, y + j + v);
      ASSERT_NEAR(once.at(x, y), sum / 225, 0.51);
    }
}

TEST(Convolve, ShiftsAndBiasAreExact) {
  const Image in = uniform_noise(50, 30);
  const Image shifted = filtered("convolve", in, {{"kernel", Matrix{1, 3, {0, 0, 1}}}, {"bias", 3.0}});
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 49; ++x) ASSERT_EQ(shifted.at(x, y), std::min(255, in.at(x + 1, y) + 3));
}

TEST(Convolve, AFractionOfTheBiasIsRoundedOnce) {
  const Image in = uniform_noise(50, 30);
  for (const double bias : {0.2, 0.25, 0.3, 0.49, 0.5, 0.7, -0.3, -0.5, -0.7, 12.3})
    for (const double weight : {1.0, 5.0, 100.0}) {
      const Matrix kernel{1, 3, {1 - weight, weight, 0}};
      const Image out = filtered("convolve", in, {{"kernel", kernel}, {"bias", bias}});
      for (int y = 0; y < 30; ++y)
        for (int x = 1; x < 50; ++x) {
          const double exact = (1 - weight) * in.at(x - 1, y) + weight * in.at(x, y) + bias;
          ASSERT_EQ(out.at(x, y), std::clamp(std::floor(exact + 0.5), 0.0, 255.0)) << bias << ", " << weight;
        }
    }
}

/// Kernels of various shapes, with weights of one to four bytes. parity_test does not draw kernels.
TEST(Convolve, OwnKernelsAreTheOraclesOnBothBackends) {
  std::mt19937 random(3);
  const auto uniform = [&](double reach) { return std::uniform_real_distribution(-reach, reach)(random); };
  struct Kind {
    double centre, others;
    bool whole;
    int bytes;
  };
  for (const Kind kind : {Kind{5, 2, true, 1}, Kind{0.25, 0.004, false, 2}, Kind{4, 0.05, false, 3},
                          Kind{32, 0.0004, false, 4}})
    for (const auto& [rows, cols] : {std::pair{1, 1}, {1, 15}, {15, 1}, {3, 5}, {9, 7}, {15, 15}}) {
      ConvolveParams params{.kernel = {rows, cols, {}}, .border = static_cast<Border>(random() % 5)};
      for (int i = 0; i < rows * cols; ++i) {
        const double weight = i == rows * cols / 2 ? kind.centre : uniform(kind.others);
        params.kernel.values.push_back(kind.whole ? std::round(weight) : weight);
      }
      if (rows * cols == 225) {
        EXPECT_EQ(ConvolveBlock::make(params).bytes, kind.bytes);
      }
      for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgba8}) {
        const ImageFormat formats[] = {{format, {333, 70}}};
        Convolve filter;
        *static_cast<ConvolveParams*>(filter.params()) = params;
        ReferenceRun oracle{.in = {noise(formats[0], random)}, .out = {}, .state = {}, .stats = {}};
        filter.reference(oracle);
        for (const Placement placement : {kAligned, kOdd}) {
          SCOPED_TRACE(testing::Message() << rows << "x" << cols << ", " << kind.bytes << " bytes");
          const auto cpu = make_cpu_rig(filter, {.images = formats}, placement, 2);
          ASSERT_EQ(difference(oracle.out, cpu->run(oracle.in).image), "");
          if (!cuda_unavailable().empty()) continue;
          const auto cuda = make_cuda_rig(filter, {.images = formats, .backend = Backend::cuda}, placement);
          const RunOutput output = cuda->run(oracle.in);
          ASSERT_EQ(difference(oracle.out, output.image), "");
          ASSERT_TRUE(output.guards_untouched);
        }
      }
    }
}

TEST(Convolve, RefusesWhatItCannotCompose) {
  const ImageFormat formats[] = {{PixelFormat::gray8, {8, 8}}};
  for (const char* text : {"blur", "gaussian(0)", "box(2)", "box(9), box(9)", "sharpen(", "sharpen,"}) {
    const auto filter = registry().find("convolve")->make();
    ASSERT_FALSE(filter->set("compose", std::string(text)));
    EXPECT_THROW(filter->configure({.images = formats}), Error) << text;
  }
}

TEST(Convolve, ComposesKernelsWhoseNumbersHaveExponents) {
  const auto weights = [](const char* text) {
    std::string problem;
    const Matrix made = convolve_kernel({.compose = text}, &problem);
    EXPECT_EQ(problem, "") << text;
    return made.values;
  };
  EXPECT_EQ(weights("gaussian(1e+0)"), weights("gaussian(1)"));
  EXPECT_EQ(weights("gaussian(1e+0)+sharpen(5e-1)"), weights("[gaussian(1), sharpen(0.5)]"));
  EXPECT_NE(weights("gaussian(1)"), weights("gaussian(1)+sharpen(0.5)"));
}

TEST(Convolve, RefusesComposedWeightsThatAreTooLarge) {
  std::string many = "kernel";
  for (int i = 0; i < 60; ++i) many += ", kernel";
  for (const std::string& text : {many, std::string("kernel, kernel, kernel")}) {
    ConvolveParams params{.kernel = {1, 1, {1e6}}, .compose = text};
    std::string problem;
    EXPECT_EQ(convolve_kernel(params, &problem).values, std::vector<double>{1});
    EXPECT_NE(problem.find("too large"), std::string::npos) << problem;
  }
}

/// Weights whose sums exceed 32 bits by far: results above 0 are white.
TEST(Convolve, LargeNormalisedWeightsGiveBlackOrWhite) {
  const Image in = uniform_noise(50, 30);
  const Image out =
      filtered("convolve", in, {{"kernel", Matrix{1, 3, {1e6, -1e6 + 2e-9, 0}}}, {"normalize", true}});
  for (int y = 0; y < 30; ++y)
    for (int x = 1; x < 50; ++x) ASSERT_EQ(out.at(x, y), in.at(x - 1, y) > in.at(x, y) ? 255 : 0);
}

TEST(Unsharp, AddsTheDifferenceToTheBlurAboveTheThreshold) {
  const Image in = uniform_noise(70, 50), blurred = filtered("gaussian", in, {{"sigma", 2.0}});
  const Image out = filtered("unsharp", in, {{"sigma", 2.0}, {"amount", 0.5}, {"threshold", 20.0}});
  for (int y = 0; y < 50; ++y)
    for (int x = 0; x < 70; ++x) {
      const int d = in.at(x, y) - blurred.at(x, y);
      const int expected =
          std::abs(d) > 20 ? static_cast<int>(std::floor(in.at(x, y) + 0.5 * d + 0.5)) : in.at(x, y);
      ASSERT_EQ(out.at(x, y), std::clamp(expected, 0, 255));
    }
}

TEST(Unsharp, TheThresholdOfSixteenBitsHasAFraction) {
  const Image bytes = uniform_noise(70, 50);
  Image in({PixelFormat::gray16, {70, 50}});
  for (int y = 0; y < 50; ++y)
    for (int x = 0; x < 70; ++x) in.set_sample(x, y, 0, 257 * bytes.at(x, y) ^ (31 * x & 0xff));
  const Image blurred = filtered("gaussian", in, {{"sigma", 2.0}});
  const Image out = filtered("unsharp", in, {{"sigma", 2.0}, {"amount", 0.5}, {"threshold", 20.4}});
  const double threshold = std::round(20.4 * 257);
  int between = 0;  // differences that a whole threshold would treat otherwise
  for (int y = 0; y < 50; ++y)
    for (int x = 0; x < 70; ++x) {
      const int v = in.sample(x, y), d = v - blurred.sample(x, y);
      between += std::abs(d) > 20 * 257 && std::abs(d) <= threshold;
      const double sharp = std::floor(v + 0.5 * d + 0.5);
      ASSERT_EQ(out.sample(x, y), std::abs(d) > threshold ? std::clamp(sharp, 0.0, 65535.0) : v);
    }
  EXPECT_GT(between, 0);
}

TEST(Bilateral, IsTheWeightedMeanWithinOne) {
  const Image in = uniform_noise(41, 33);
  const double space = 3, colour = 40;
  const Image out =
      filtered("bilateral", in, {{"sigma_space", space}, {"sigma_color", colour}, {"radius", int64_t{4}}});
  for (int y = 4; y < 29; ++y)
    for (int x = 4; x < 37; ++x) {
      double sum = 0, weights = 0;
      for (int j = -4; j <= 4; ++j)
        for (int i = -4; i <= 4; ++i) {
          if (i * i + j * j > 16) continue;
          const double d = in.at(x + i, y + j) - in.at(x, y);
          const double w = std::exp(-(i * i + j * j) / (2 * space * space) - d * d / (2 * colour * colour));
          sum += w * in.at(x + i, y + j), weights += w;
        }
      ASSERT_NEAR(out.at(x, y), sum / weights, 1);
    }
}

TEST(Bilateral, OnlyTheCentreWeighsSixteenBits) {
  const BilateralBlock block = BilateralBlock::make({.sigma_space = 20, .sigma_color = 255, .radius = 1});
  for (int t = 0; t < block.taps_count; ++t) {
    const uint32_t weight = bilateral_weight(block.taps[t].weight, 4096);
    EXPECT_EQ(weight > 0x7fff, block.taps[t].x == 0 && block.taps[t].y == 0) << weight;
  }
}

/// The weights become 0 near a difference of 127, in the middle of the table of differences.
TEST(Bilateral, EqualsOracleWhereTheWeightsEndHalfWay) {
  const ImageFormat formats[] = {{PixelFormat::gray8, {200, 30}}};
  for (double colour = 29.5; colour < 30.6; colour += 0.1) {
    const auto filter = registry().find("bilateral")->make();
    ASSERT_FALSE(filter->set("sigma_color", colour));
    ReferenceRun oracle{.in = {uniform_noise(200, 30)}, .out = {}, .state = {}, .stats = {}};
    filter->reference(oracle);
    const auto rig = make_cpu_rig(*filter, {.images = formats}, kOdd, 1);
    ASSERT_EQ(difference(oracle.out, rig->run(oracle.in).image), "") << "sigma_color " << colour;
  }
}

TEST(Diffusion, AtMaximalKappaIsAGaussian) {
  const Image in = uniform_noise(96, 96);
  const int iterations = 20;
  const double lambda = 0.2, variance = 2 * lambda * iterations;
  const Image out =
      filtered("diffusion", in, {{"iterations", int64_t{iterations}}, {"lambda", lambda}, {"kappa", 1000.0}});
  for (int y = 20; y < 76; y += 5)
    for (int x = 20; x < 76; x += 5) {
      double sum = 0, weights = 0;
      for (int j = -20; j < 20; ++j)
        for (int i = -20; i < 20; ++i) {
          const double w = std::exp(-(i * i + j * j) / (2 * variance));
          sum += w * in.at(x + i, y + j), weights += w;
        }
      ASSERT_NEAR(out.at(x, y), sum / weights, 1.1);
    }
}

TEST(Diffusion, KeepsEdgesAboveKappaAndFlattensBelow) {
  const Image in = picture(64, 16, [](int x, int y) { return (x < 32 ? 50 : 200) + (x + y) % 2 * 4; });
  const Image out = filtered("diffusion", in, {{"iterations", int64_t{20}}, {"lambda", 0.2}, {"kappa", 8.0}});
  for (int x = 0; x < 64; ++x) EXPECT_NEAR(out.at(x, 8), x < 32 ? 52 : 202, 3) << x;
}

}  // namespace
}  // namespace lensd::test
