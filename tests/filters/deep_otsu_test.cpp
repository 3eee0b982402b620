// threshold with otsu on 16-bit images: the level is the best of all 65536 values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/threshold/threshold.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

ImageFormat otsu_format(PixelFormat format, Extent extent) {
  return {format, extent};
}

/// Returns an image with the colour samples sample(c); alpha counts pixels.
template <class Sample>
Image otsu_image(const ImageFormat& format, Sample sample) {
  Image image(format);
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c)
        image.set_sample(x, y, c, c == 3 ? (y * image.width() + x) % 65536 : sample(c));
  return image;
}

struct OtsuRun {
  Image image;
  std::vector<double> levels;  ///< in samples
  DeepThresholdStats stats;
};

/// Runs the filter on one backend and compares image and statistics with the oracle.
OtsuRun run_otsu(const Image& in, Backend backend, Placement placement, int threads = 2) {
  Threshold filter;
  EXPECT_EQ(filter.set("otsu", ParamValue{true}), std::nullopt);
  const ImageFormat formats[] = {in.format};
  const auto rig = backend == Backend::cpu
                       ? make_cpu_rig(filter, {.images = formats}, placement, threads)
                       : make_cuda_rig(filter, {.images = formats, .backend = backend}, placement);
  const RunOutput out = rig->run({in});
  EXPECT_TRUE(out.guards_untouched);
  ReferenceRun oracle{.in = {in}, .out = {}, .state = {}, .stats = {}};
  filter.reference(oracle);
  EXPECT_EQ(difference(oracle.out, out.image), "");
  OtsuRun run{.image = out.image, .levels = {}, .stats = {}};
  EXPECT_EQ(out.stats.size(), oracle.stats.size());
  for (size_t i = 0; i < std::min(out.stats.size(), oracle.stats.size()); ++i) {
    EXPECT_EQ(out.stats[i].value, oracle.stats[i].value) << out.stats[i].name;
    run.levels.push_back(std::round(out.stats[i].value * 257));
  }
  if (out.stats_bytes.size() >= sizeof(run.stats))
    std::memcpy(&run.stats, out.stats_bytes.data(), sizeof(run.stats));
  return run;
}
/// Runs the filter on all backends. Returns the CPU's results.
OtsuRun run_otsu(const Image& in) {
  if (cuda_unavailable().empty()) run_otsu(in, Backend::cuda, kHalfAligned);
  return run_otsu(in, Backend::cpu, kOdd);
}

/// Variance between the classes of channel `c` at `level`, from the definition: shares and means of the
/// samples, one by one.
double class_variance(const Image& in, int c, double level) {
  double n[2] = {}, mean[2] = {};
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x) {
      const double v = in.sample(x, y, c);
      const int k = v > level;
      mean[k] += (v - mean[k]) / ++n[k];
    }
  const double all = n[0] + n[1];
  return n[0] == 0 || n[1] == 0 ? 0 : n[0] / all * (n[1] / all) * (mean[1] - mean[0]) * (mean[1] - mean[0]);
}

TEST(DeepOtsu, NarrowPopulationsAreSeparatedExactly) {
  // A thermal picture: all values within 2 % of the range, then within one high byte.
  struct Populations {
    int cold, cold_width, warm, warm_width;
  };
  std::mt19937 random(1);
  for (const Populations& p : {Populations{7000, 400, 8100, 400}, {7000, 40, 7060, 30}, {7424, 1, 7425, 1}}) {
    const Image in = otsu_image(otsu_format(PixelFormat::gray16, {161, 97}), [&](int) {
      return random() % 3 ? p.cold + static_cast<int>(random() % static_cast<unsigned>(p.cold_width))
                          : p.warm + static_cast<int>(random() % static_cast<unsigned>(p.warm_width));
    });
    const OtsuRun run = run_otsu(in);
    EXPECT_EQ(run.levels, std::vector<double>{p.cold + p.cold_width - 1.0});
    for (int y = 0; y < in.height(); ++y)
      for (int x = 0; x < in.width(); ++x)
        ASSERT_EQ(run.image.sample(x, y), in.sample(x, y) >= p.warm ? 65535 : 0) << in.sample(x, y);
  }
}

TEST(DeepOtsu, EachChannelHasItsLevel) {
  std::mt19937 random(2);
  const Image in = otsu_image(otsu_format(PixelFormat::rgba16, {67, 43}), [&](int c) {
    const bool high = random() % 2;
    return c == 0   ? (high ? 301 : 299)
           : c == 1 ? (high ? 65535 : 0)
                    : (high ? 40010 : 40000) - int(random() % 4);
  });
  const OtsuRun run = run_otsu(in);
  EXPECT_EQ(run.levels, (std::vector<double>{299, 0, 40000}));
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x) {
      ASSERT_EQ(run.image.sample(x, y, 0), in.sample(x, y, 0) == 301 ? 65535 : 0);
      ASSERT_EQ(run.image.sample(x, y, 1), in.sample(x, y, 1));
      ASSERT_EQ(run.image.sample(x, y, 2), in.sample(x, y, 2) > 40000 ? 65535 : 0);
      ASSERT_EQ(run.image.sample(x, y, 3), in.sample(x, y, 3)) << "alpha";
    }
}

TEST(DeepOtsu, EqualSamplesHaveLevelZero) {
  for (const int v : {0, 1, 255, 256, 7777, 65535}) {
    const OtsuRun run =
        run_otsu(otsu_image(otsu_format(PixelFormat::gray16, {9, 5}), [v](int) { return v; }));
    EXPECT_EQ(run.levels, std::vector<double>{0});
    EXPECT_EQ(run.stats.range[0].begin, static_cast<uint32_t>(v / 256));
    EXPECT_EQ(run.stats.range[0].values(), 256u);
    EXPECT_EQ(run.image.sample(8, 4), v > 0 ? 65535 : 0);
  }
}

TEST(DeepOtsu, SumsOfTheLargestImageAreExact) {
  std::vector<uint32_t> count(kOtsuValues);
  count[65534] = count[65535] = 1u << 27;
  EXPECT_EQ(deep_otsu_level(count.data()), 65534u);
  count[65534] = 1, count[65535] = (1u << 28) - 1;
  EXPECT_EQ(deep_otsu_level(count.data()), 65534u);
  const OtsuSums all = otsu_sums(255, 1u << 28, 255ull << 28);
  EXPECT_EQ(all.sum, 65535ull << 28);
  EXPECT_EQ(static_cast<uint64_t>(static_cast<double>(all.sum)), all.sum);
}

/// Images with different shapes of the histogram.
std::vector<Image> otsu_images(PixelFormat format, Extent extent, std::mt19937& random) {
  const auto below = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const auto normal = [&random](double mean, double deviation) {
    return std::clamp(static_cast<int>(std::lround(std::normal_distribution(mean, deviation)(random))), 0,
                      65535);
  };
  const int width = 1 + below(4000), base = below(60000), values = 2 + below(6);
  int value[8], count = 0;
  for (int& v : value) v = below(65536);
  const ImageFormat f = otsu_format(format, extent);
  return {otsu_image(f, [&](int) { return below(65536); }),
          otsu_image(f, [&](int) { return base + below(width); }),
          otsu_image(f, [&](int) { return value[below(values)]; }),
          otsu_image(f, [&](int) { return below(256) * 257; }),
          otsu_image(f, [&](int) { return below(2) * 65535; }),
          otsu_image(f, [&](int c) { return normal(9000 + 20000 * c, 3000); }),
          otsu_image(f, [&](int) { return below(3) ? normal(20000, 2000) : normal(40000, 5000); }),
          // Levels below and above the few values in the middle are nearly as good as each other.
          otsu_image(f, [&](int) {
            return ++count % 251 == 0 ? 32630 + below(20) : count % 2 ? 100 : 65160;
          })};
}

TEST(DeepOtsu, NoLevelHasAHigherVariance) {
  std::mt19937 random(3);
  for (int round = 0; round < 4; ++round)
    for (const Image& in : otsu_images(PixelFormat::gray16, {21, 17}, random)) {
      const OtsuRun run = run_otsu(in);
      ASSERT_EQ(run.levels.size(), 1u);
      double best = 0;
      for (int y = 0; y < in.height(); ++y)
        for (int x = 0; x < in.width(); ++x) best = std::max(best, class_variance(in, 0, in.sample(x, y)));
      EXPECT_NEAR(class_variance(in, 0, run.levels[0]) / best, 1, 1e-12);
    }
}

constexpr Extent kOtsuExtents[] = {{1, 1}, {1, 9}, {7, 3}, {130, 65}, {641, 479}};

TEST(DeepOtsu, CpuEqualsOracle) {
  std::mt19937 random(4);
  for (const PixelFormat format : {PixelFormat::gray16, PixelFormat::rgba16})
    for (const Extent extent : kOtsuExtents)
      for (const Image& in : otsu_images(format, extent, random))
        for (const int threads : {1, 3}) run_otsu(in, Backend::cpu, threads == 1 ? kAligned : kOdd, threads);
}

TEST(DeepOtsu, CudaEqualsOracle) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  std::mt19937 random(5);
  for (const PixelFormat format : {PixelFormat::gray16, PixelFormat::rgba16})
    for (const Extent extent : kOtsuExtents)
      for (const Image& in : otsu_images(format, extent, random))
        for (const Placement placement : {kAligned, kHalfAligned, kOdd})
          run_otsu(in, Backend::cuda, placement);
}

TEST(DeepOtsu, UsuallyCountsFewValues) {
  std::mt19937 random(6);
  const std::vector<Image> images = otsu_images(PixelFormat::gray16, {400, 300}, random);
  std::vector<uint32_t> values;
  for (const Image& in : images) values.push_back(run_otsu(in).stats.range[0].values());
  for (size_t i = 0; i + 1 < values.size(); ++i) EXPECT_LE(values[i], 2048u) << "image " << i;
  EXPECT_GT(values.back(), 4096u) << "the images must exceed the window of the CUDA kernel";
}

}  // namespace
}  // namespace lensd::test
