// Point filters and filters with frame statistics: cases with a known result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kernels/blend/blend.hpp"
#include "kernels/registry.hpp"
#include "kernels/threshold/threshold.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

using Params = std::vector<std::pair<std::string, ParamValue>>;

/// A filter with its rigs for CPU and, with a device, CUDA. run() compares both outputs and returns one.
class Bench {
 public:
  Bench(const std::string& name, const ImageFormat& format, const Params& params = {}, size_t inputs = 1)
      : filter_(registry().find(name)->make()), formats_(inputs, format) {
    set(params);
    rigs_.push_back(make_cpu_rig(*filter_, {.images = formats_}, kOdd, 2));
    if (cuda_unavailable().empty())
      rigs_.push_back(make_cuda_rig(*filter_, {.images = formats_, .backend = Backend::cuda}, kAligned));
  }

  void set(const Params& params) {
    for (const auto& [key, value] : params) EXPECT_EQ(filter_->set(key, value), std::nullopt);
  }

  Image run(const std::vector<Image>& in) {
    RunOutput first = rigs_[0]->run(in);
    for (size_t i = 1; i < rigs_.size(); ++i) EXPECT_EQ(difference(first.image, rigs_[i]->run(in).image), "");
    stats_ = first.stats;
    return first.image;
  }

  double stat(const std::string& name) const {
    for (const Statistic& s : stats_)
      if (s.name == name) return s.value;
    ADD_FAILURE() << "no statistic " << name;
    return NAN;
  }

 private:
  std::unique_ptr<Filter> filter_;
  std::vector<ImageFormat> formats_;
  std::vector<std::unique_ptr<Rig>> rigs_;
  std::vector<Statistic> stats_;
};

ImageFormat gray(int width, int height) {
  return {PixelFormat::gray8, {width, height}};
}
ImageFormat rgba(int width, int height) {
  return {PixelFormat::rgba8, {width, height}};
}

/// Returns one row with the values 0 to 255.
Image ramp() {
  Image image(gray(256, 1));
  for (int x = 0; x < 256; ++x) image.at(x, 0) = static_cast<uint8_t>(x);
  return image;
}

Image solid(const ImageFormat& format, std::vector<int> pixel) {
  Image image(format);
  for (size_t i = 0; i < image.pixels.size(); ++i)
    image.pixels[i] = static_cast<uint8_t>(pixel[i % static_cast<size_t>(image.channels())]);
  return image;
}

std::vector<int> pixel(const Image& image, int x, int y) {
  std::vector<int> values;
  for (int c = 0; c < image.channels(); ++c) values.push_back(image.at(x, y, c));
  return values;
}

TEST(Levels, DefaultsChangeNothing) {
  std::mt19937 random(1);
  const Image in = noise(rgba(67, 5), random);
  EXPECT_EQ(difference(in, Bench("levels", in.format).run({in})), "");
  EXPECT_EQ(difference(ramp(), Bench("levels", ramp().format).run({ramp()})), "");
}

TEST(Levels, PointsToneAndNegative) {
  const auto at = [](const Params& params, int v) {
    return int{Bench("levels", gray(256, 1), params).run({ramp()}).at(v, 0)};
  };
  const Params points{{"black", int64_t{50}}, {"white", int64_t{150}}};
  EXPECT_EQ(at(points, 50), 0);
  EXPECT_EQ(at(points, 100), 128);  // 127.5 rounded
  EXPECT_EQ(at(points, 150), 255);
  EXPECT_EQ(at({{"black", int64_t{255}}, {"white", int64_t{0}}}, 200), 55);
  EXPECT_EQ(at({{"black", int64_t{90}}, {"white", int64_t{90}}}, 90), 0);
  EXPECT_EQ(at({{"black", int64_t{90}}, {"white", int64_t{90}}}, 91), 255);
  EXPECT_EQ(at({{"gamma", 2.0}}, 64), std::lround(255 * std::sqrt(64 / 255.0)));
  EXPECT_EQ(at({{"contrast", 3.0}}, 100), 45);  // 3·100 − 255
  EXPECT_EQ(at({{"brightness", 0.2}}, 100), 151);
}

TEST(Levels, SaturationMovesAlongLuma) {
  const Image in = solid(rgba(37, 3), {200, 100, 50, 77});
  const int luma = 124;  // 0.299·200 + 0.587·100 + 0.114·50 = 124.2
  EXPECT_EQ(pixel(Bench("levels", in.format, {{"saturation", 0.0}}).run({in}), 36, 2),
            (std::vector{luma, luma, luma, 77}));
  EXPECT_EQ(pixel(Bench("levels", in.format, {{"saturation", 2.0}}).run({in}), 3, 1),
            (std::vector{255, 2 * 100 - luma, 0, 77}));
}

TEST(Threshold, IsStrictlyAbove) {
  const Image out = Bench("threshold", ramp().format, {{"level", int64_t{200}}}).run({ramp()});
  for (int v = 0; v < 256; ++v) EXPECT_EQ(out.at(v, 0), v > 200 ? 255 : 0) << v;
}

TEST(Threshold, OtsuPartsTwoClassesOfEachChannel) {
  // Red has the values 10 and 200, green 100 and 110. Blue has one value; its level is 0, as in OpenCV.
  Image in(rgba(40, 20));
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x) {
      in.at(x, y, 0) = (x + y) % 3 ? 10 : 200, in.at(x, y, 1) = x < 13 ? 100 : 110, in.at(x, y, 2) = 7;
      in.at(x, y, 3) = static_cast<uint8_t>(x);
    }
  Bench bench("threshold", in.format, {{"otsu", true}});
  const Image out = bench.run({in});
  EXPECT_EQ(bench.stat("level_r"), 10);
  EXPECT_EQ(bench.stat("level_g"), 100);
  EXPECT_EQ(bench.stat("level_b"), 0);
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 40; ++x)
      ASSERT_EQ(pixel(out, x, y), (std::vector{(x + y) % 3 ? 0 : 255, x < 13 ? 0 : 255, 255, x}));
  Bench fixed("threshold", in.format, {{"level", int64_t{42}}});
  fixed.run({in});
  EXPECT_EQ(fixed.stat("level_g"), 42);
}

TEST(Threshold, OtsuFindsTheBestOfAllLevels) {
  std::mt19937 random(5);
  for (int round = 0; round < 50; ++round) {
    uint32_t count[256];
    double pixels = 0, moment = 0;
    for (int v = 0; v < 256; ++v) {
      count[v] = random() % 4 ? static_cast<uint32_t>(random() % 1000) : 0;
      pixels += count[v], moment += v * static_cast<double>(count[v]);
    }
    const auto variance = [&](uint32_t level) {
      double n = 0, sum = 0;
      for (uint32_t v = 0; v <= level; ++v) n += count[v], sum += v * static_cast<double>(count[v]);
      if (n == 0 || n == pixels) return 0.0;
      const double difference = sum / n - (moment - sum) / (pixels - n);
      return n * (pixels - n) * difference * difference;
    };
    const double found = variance(otsu_level(count, pixels));
    for (uint32_t level = 1; level < 254; ++level) EXPECT_LE(variance(level), found * (1 + 1e-12)) << level;
  }
}

TEST(Difference, ComparesWithTheFrameBefore) {
  const Image a = solid(rgba(19, 9), {10, 200, 30, 1}), b = solid(rgba(19, 9), {15, 100, 30, 2});
  Bench bench("difference", a.format, {{"gain", 3.0}});
  EXPECT_EQ(difference(solid(a.format, {0, 0, 0, 1}), bench.run({a})), "");
  EXPECT_EQ(difference(solid(a.format, {15, 255, 0, 2}), bench.run({b})), "");
  EXPECT_EQ(difference(solid(a.format, {0, 0, 0, 2}), bench.run({b})), "");
}

TEST(Difference, ComparesTwoInputs) {
  std::mt19937 random(6);
  for (const ImageFormat& format : {gray(65, 7), rgba(65, 7), rgba(1, 1)})
    for (const double gain : {0.0, 0.3, 1.0, 64.0}) {
      Bench bench("difference", format, {{"gain", gain}}, 2);
      for (int frame = 0; frame < 2; ++frame) {  // no state between frames
        const Image a = noise(format, random), b = noise(format, random), out = bench.run({a, b});
        for (size_t i = 0; i < a.pixels.size(); ++i) {
          const int distance = std::abs(a.pixels[i] - b.pixels[i]);
          const double expected =
              std::min(255.0, std::floor(distance * (std::round(gain * 256) / 256) + 0.5));
          const bool alpha = a.channels() == 4 && i % 4 == 3;
          ASSERT_EQ(out.pixels[i], alpha ? a.pixels[i] : expected);
        }
      }
    }
}

/// Returns the exactly rounded result of a blend mode.
int blended_exactly(const std::string& mode, int a, int b) {
  const auto rounded = [](double v) { return static_cast<int>(std::floor(v + 0.5)); };
  if (mode == "normal") return b;
  if (mode == "add") return std::min(255, a + b);
  if (mode == "screen") return 255 - rounded((255 - a) * (255 - b) / 255.0);
  if (mode == "difference") return std::abs(a - b);
  return rounded(a * b / 255.0);
}

TEST(Blend, EveryPairOfValues) {
  Image a(gray(256, 256)), b(gray(256, 256));
  for (int y = 0; y < 256; ++y)
    for (int x = 0; x < 256; ++x) a.at(x, y) = static_cast<uint8_t>(x), b.at(x, y) = static_cast<uint8_t>(y);
  for (const std::string mode : {"normal", "add", "screen", "multiply", "difference", "mask"})
    for (const int opacity : {0, 51, 256}) {
      const Image out =
          Bench("blend", a.format, {{"mode", mode}, {"opacity", opacity / 256.0}}, 2).run({a, b});
      for (int y = 0; y < 256; ++y)
        for (int x = 0; x < 256; ++x) {
          const int f = blended_exactly(mode, x, y);
          ASSERT_EQ(out.at(x, y), (x * (256 - opacity) + f * opacity + 128) / 256)
              << mode << " " << x << " " << y;
        }
    }
}

TEST(Blend, PairsAreTheSameAsSingleValues) {
  for (int m = 0; m <= static_cast<int>(BlendMode::mask); ++m)
    for (uint32_t a = 0; a < 256; ++a)
      for (uint32_t b = 0; b < 256; ++b) {
        const auto mode = static_cast<BlendMode>(m);
        const uint32_t a2 = (7 * a + 3 * b + 11) % 256, b2 = (5 * b + a) % 256;
        const uint32_t f = pair_blended(mode, a | a2 << 16, b | b2 << 16);
        ASSERT_EQ(f, blended(mode, a, b) | blended(mode, a2, b2) << 16);
        const uint32_t opacity = (a + b) % 257;
        ASSERT_EQ(pair_faded(a | a2 << 16, f, opacity),
                  faded(a, f & 255, opacity) | faded(a2, f >> 16, opacity) << 16);
      }
}

TEST(Blend, MaskShowsTheFirstByTheLumaOfTheSecond) {
  const Image a = solid(rgba(33, 2), {255, 100, 0, 9});
  Bench bench("blend", a.format, {{"mode", std::string("mask")}}, 2);
  EXPECT_EQ(difference(a, bench.run({a, solid(a.format, {255, 255, 255, 0})})), "");
  EXPECT_EQ(difference(solid(a.format, {0, 0, 0, 9}), bench.run({a, solid(a.format, {0, 0, 0, 255})})), "");
  EXPECT_EQ(difference(solid(a.format, {149, 58, 0, 9}), bench.run({a, solid(a.format, {0, 255, 0, 0})})),
            "");
}

TEST(GreyWorld, MakesMeansEqualOrAddsToDarkChannels) {
  const ImageFormat format = rgba(50, 20);
  Bench bench("grey_world", format);
  EXPECT_EQ(difference(solid(format, {100, 100, 100, 5}), bench.run({solid(format, {50, 100, 150, 5})})), "");
  EXPECT_EQ(bench.stat("gain_r"), 2);
  EXPECT_EQ(bench.stat("mean_b"), 150 / 255.0);
  // A blue mean of 12/255 is below 0.05: the mean of all channels, 104, is added. 13/255 is above:
  // multiplied.
  EXPECT_EQ(difference(solid(format, {104, 104, 116, 5}),
                       Bench("grey_world", format).run({solid(format, {200, 100, 12, 5})})),
            "");
  EXPECT_EQ(difference(solid(format, {104, 104, 104, 5}),
                       Bench("grey_world", format).run({solid(format, {200, 99, 13, 5})})),
            "");
}

TEST(GreyWorld, StrengthMixesAndSmoothFollowsSlowly) {
  const ImageFormat format = rgba(9, 9);
  const Image in = solid(format, {50, 100, 150, 5});
  EXPECT_EQ(pixel(Bench("grey_world", format, {{"strength", 0.5}}).run({in}), 4, 4),
            (std::vector{75, 100, 125, 5}));
  EXPECT_EQ(difference(in, Bench("grey_world", format, {{"strength", 0.0}}).run({in})), "");
  Bench bench("grey_world", format, {{"smooth", 0.75}});
  bench.run({in});
  bench.run({solid(format, {100, 100, 100, 5})});
  EXPECT_EQ(bench.stat("gain_r"), 0.75 * 2 + 0.25 * 1);
  bench.set({{"smooth", 0.0}});
  EXPECT_EQ(difference(solid(format, {100, 100, 100, 5}), bench.run({in})), "");
}

TEST(AutoContrast, StretchesToTheFullRange) {
  Image in(gray(151, 3));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 151; ++x) in.at(x, y) = static_cast<uint8_t>(50 + x);
  Bench bench("auto_contrast", in.format, {{"smooth", 0.0}});
  const Image out = bench.run({in});
  for (int x = 0; x < 151; ++x) EXPECT_EQ(out.at(x, 2), static_cast<int>(x * 255 / 150.0 + 0.5)) << x;
  EXPECT_EQ(bench.stat("low"), 50);
  EXPECT_EQ(bench.stat("high"), 200);
  const Image plain = solid(in.format, {33});
  EXPECT_EQ(difference(plain, bench.run({plain})), "");
}

TEST(Levels, LumaOf16BitsIsThatOfDoublePrecision) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> sample(0, 65535);
  for (int i = 0; i < 1000; ++i) {
    const int r = sample(random), g = sample(random), b = sample(random);
    EXPECT_NEAR(deep_luma(r, g, b), 0.299 * r + 0.587 * g + 0.114 * b, 1) << r << ' ' << g << ' ' << b;
  }
  EXPECT_EQ(deep_luma(65535, 65535, 65535), 65535);
}

TEST(AutoContrast, StretchesNarrowRangesOf16Bits) {
  for (const int lowest : {8200, 3084, 65000}) {  // the first range has a single high byte
    Image in({PixelFormat::gray16, {201, 2}});
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 201; ++x) in.set_sample(x, y, 0, lowest + x);
    Bench bench("auto_contrast", in.format, {{"smooth", 0.0}});
    const Image out = bench.run({in});
    for (int x = 0; x < 201; ++x) EXPECT_NEAR(out.sample(x, 1), x * 65535 / 200.0, 3) << lowest << ' ' << x;
    EXPECT_DOUBLE_EQ(bench.stat("low"), lowest / 257.0);
    EXPECT_DOUBLE_EQ(bench.stat("high"), (lowest + 200) / 257.0);
    const Image plain = bench.run({in});
    EXPECT_EQ(difference(out, plain), "");
  }
}

TEST(AutoContrast, ClipsExactCounts) {
  // 100 samples: 5 × 0, 1 × 20, 46 × 100, 46 × 120, 2 × 255.
  Image in(gray(100, 1));
  for (int x = 0; x < 100; ++x)
    in.at(x, 0) = static_cast<uint8_t>(x < 5 ? 0 : x < 6 ? 20 : x < 98 ? 100 + x % 2 * 20 : 255);
  const auto ends = [&](double low, double high) {
    Bench bench("auto_contrast", in.format, {{"smooth", 0.0}, {"clip_low", low}, {"clip_high", high}});
    bench.run({in});
    return std::pair(bench.stat("low"), bench.stat("high"));
  };
  EXPECT_EQ(ends(0, 0), std::pair(0.0, 255.0));
  EXPECT_EQ(ends(4.99, 1.99), std::pair(0.0, 255.0));
  EXPECT_EQ(ends(5, 2), std::pair(20.0, 120.0));
  EXPECT_EQ(ends(6, 40), std::pair(100.0, 120.0));
}

TEST(AutoContrast, KeepsColoursUnlessPerChannel) {
  Image in(rgba(2, 1));
  in.pixels = {55, 105, 55, 1, 105, 155, 155, 2};  // red 55-105, green 105-155, blue 55-155
  Bench bench("auto_contrast", in.format, {{"smooth", 0.0}});
  EXPECT_EQ(bench.run({in}).pixels, (std::vector<uint8_t>{0, 128, 0, 1, 128, 255, 255, 2}));
  bench.set({{"per_channel", true}});
  EXPECT_EQ(bench.run({in}).pixels, (std::vector<uint8_t>{0, 0, 0, 1, 255, 255, 255, 2}));
}

TEST(AutoContrast, SmoothMovesTheEndsSlowly) {
  Image dim(gray(2, 1)), full(gray(2, 1));
  dim.pixels = {100, 140}, full.pixels = {0, 240};
  Bench bench("auto_contrast", dim.format, {{"smooth", 0.5}});
  EXPECT_EQ(bench.run({dim}).pixels, (std::vector<uint8_t>{0, 255}));
  bench.run({full});
  EXPECT_EQ(bench.stat("low"), 50);
  EXPECT_EQ(bench.stat("high"), 190);
}

TEST(TemporalDenoise, FirstFrameAndMotionPass) {
  std::mt19937 random(8);
  const Image first = noise(rgba(45, 6), random);
  Bench bench("temporal_denoise", first.format, {{"motion_threshold", 20.0}});
  EXPECT_EQ(difference(first, bench.run({first})), "");
  Image moved = first;
  for (size_t i = 0; i < moved.pixels.size(); ++i)
    moved.pixels[i] = static_cast<uint8_t>(first.pixels[i] + (first.pixels[i] < 128 ? 20 : -20));
  EXPECT_EQ(difference(moved, bench.run({moved})), "");
}

TEST(TemporalDenoise, RestingPictureIsReachedExactly) {
  const ImageFormat format = rgba(21, 5);
  Bench bench("temporal_denoise", format, {{"strength", 0.98}, {"motion_threshold", 255.0}});
  bench.run({solid(format, {100, 90, 7, 50})});
  const Image rest = solid(format, {110, 80, 0, 60});
  EXPECT_EQ(pixel(bench.run({rest}), 20, 4), (std::vector{101, 89, 7, 60}));
  Image out;
  for (int frame = 0; frame < 400; ++frame) out = bench.run({rest});
  EXPECT_EQ(difference(rest, out), "");
}

TEST(TemporalDenoise, TakesNoiseAwayAsItsRecursionPromises) {
  // The recursion e += p·(v − e) reduces white noise of variance s² to s²·p/(2 − p). Here p is 0.25 without
  // change and 0.32 for a change of three standard deviations.
  std::mt19937 random(9);
  std::normal_distribution<double> normal(128, 8);
  Bench bench("temporal_denoise", gray(200, 100), {{"strength", 0.75}, {"motion_threshold", 255.0}});
  Image in(gray(200, 100)), out;
  for (int frame = 0; frame < 30; ++frame) {
    for (uint8_t& v : in.pixels) v = static_cast<uint8_t>(std::clamp(std::lround(normal(random)), 0l, 255l));
    out = bench.run({in});
  }
  double sum = 0, squares = 0;
  for (const uint8_t v : out.pixels) sum += v, squares += double{1} * v * v;
  const double n = static_cast<double>(out.pixels.size()), mean = sum / n;
  EXPECT_NEAR(mean, 128, 0.3);
  const double variance = squares / n - mean * mean;
  EXPECT_GT(variance, 64 * 0.25 / 1.75);
  EXPECT_LT(variance, 64 * 0.32 / 1.68);
}

}  // namespace
}  // namespace lensd::test
