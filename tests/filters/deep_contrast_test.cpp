// auto_contrast on 16-bit images: the ends are exact among all 65536 values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "kernels/auto_contrast/auto_contrast.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

using Ends = std::vector<double>;  ///< low and high of each channel, in samples

/// Returns an image with the colour samples sample(i, c) of pixel i; alpha is i.
Image contrast_image(PixelFormat format, Extent extent, const std::function<int(int, int)>& sample) {
  Image image({format, extent});
  for (int y = 0; y < extent.height; ++y)
    for (int x = 0; x < extent.width; ++x)
      for (int c = 0, i = y * extent.width + x; c < image.channels(); ++c)
        image.set_sample(x, y, c, c == 3 ? i % 65536 : sample(i, c));
  return image;
}

struct ContrastRun {
  Image image;
  Ends ends;
  AutoContrastStats stats;
};

/// Runs frames on one backend and compares images and statistics with the oracle.
class ContrastRig {
 public:
  ContrastRig(const ImageFormat& format, const AutoContrastParams& params, Backend backend,
              Placement placement, int threads = 2) {
    set(params);
    const ImageFormat formats[] = {format};
    rig_ = backend == Backend::cpu
               ? make_cpu_rig(filter_, {.images = formats}, placement, threads)
               : make_cuda_rig(filter_, {.images = formats, .backend = backend}, placement);
    if (backend == Backend::cuda) rig_->capture();
  }
  void set(const AutoContrastParams& params) {
    *static_cast<AutoContrastParams*>(static_cast<Filter&>(filter_).params()) = params;
  }
  ContrastRun run(const Image& in) {
    const RunOutput out = rig_->run({in});
    EXPECT_TRUE(out.guards_untouched);
    oracle_.in = {in};
    filter_.reference(oracle_);
    EXPECT_EQ(difference(oracle_.out, out.image), "");
    ContrastRun run{.image = out.image, .ends = {}, .stats = {}};
    EXPECT_EQ(out.stats.size(), oracle_.stats.size());
    for (size_t i = 0; i < std::min(out.stats.size(), oracle_.stats.size()); ++i) {
      EXPECT_EQ(out.stats[i].value, oracle_.stats[i].value) << out.stats[i].name;
      run.ends.push_back(out.stats[i].value * 257);
    }
    if (out.stats_bytes.size() >= sizeof(run.stats))
      std::memcpy(&run.stats, out.stats_bytes.data(), sizeof(run.stats));
    return run;
  }

 private:
  AutoContrast filter_;
  std::unique_ptr<Rig> rig_;
  ReferenceRun oracle_;
};

constexpr AutoContrastParams clip(double low, double high, bool per_channel = false, double smooth = 0) {
  return {.clip_low = low, .clip_high = high, .per_channel = per_channel, .smooth = smooth};
}

/// Runs one frame on all backends. Returns the CPU's results.
ContrastRun run_contrast(const Image& in, const AutoContrastParams& params) {
  if (cuda_unavailable().empty()) ContrastRig(in.format, params, Backend::cuda, kHalfAligned).run(in);
  return ContrastRig(in.format, params, Backend::cpu, kOdd).run(in);
}

void expect_ends(const Ends& expected, const Ends& ends) {
  ASSERT_EQ(expected.size(), ends.size());
  for (size_t i = 0; i < ends.size(); ++i) EXPECT_NEAR(expected[i], ends[i], 1e-9) << "end " << i;
}

TEST(DeepContrast, NarrowRangeIsClippedExactly) {
  // A thermal picture: 200 samples of each value within one high byte, and within two.
  for (const int first : {7000, 7130}) {
    const Image in =
        contrast_image(PixelFormat::gray16, {200, 90}, [&](int i, int) { return first + i % 90; });
    const ContrastRun none = run_contrast(in, clip(0, 0));
    expect_ends({first + 0., first + 89.}, none.ends);
    const ContrastRun run = run_contrast(in, clip(1, 0));
    expect_ends({first + 0., first + 89.}, run.ends);  // 180 of 18000 samples are fewer than 200
    expect_ends({first + 1., first + 89.}, run_contrast(in, clip(1.2, 0)).ends);
    expect_ends({first + 0., first + 80.}, run_contrast(in, clip(0, 10)).ends);
    const ContrastRun both = run_contrast(in, clip(5, 10));
    expect_ends({first + 4., first + 80.}, both.ends);
    for (int x = 0; x < 90; ++x)
      EXPECT_NEAR(both.image.sample(x, 0), std::clamp((x - 4) * 65535 / 76., 0., 65535.), 3) << x;
  }
}

TEST(DeepContrast, FewLevelsAreSpreadEvenly) {
  for (const int first : {0, 40000, 65520})
    for (int levels = 2; levels <= 11; ++levels) {
      const Image in = contrast_image(PixelFormat::rgba16, {levels, 3},
                                      [&](int i, int c) { return c == 1 ? first : first + i % levels; });
      const ContrastRun run = run_contrast(in, clip(0, 0));
      for (int x = 0; x < levels; ++x)
        EXPECT_NEAR(run.image.sample(x, 0, 0), x * 65535. / (levels - 1), 0.51) << first << ", " << levels;
    }
}

TEST(DeepContrast, SmoothedPointsOfFewLevelsAreExact) {
  const auto picture = [](int first) {
    return contrast_image(PixelFormat::gray16, {5, 2}, [first](int i, int) { return first + i % 5; });
  };
  const Image before = picture(50000), after = picture(50003);
  ContrastRig rig(before.format, clip(0, 0, false, 0.5), Backend::cpu, kOdd);
  rig.run(before);
  const ContrastRun run = rig.run(after);
  expect_ends({50001.5, 50005.5}, run.ends);
  for (int x = 0; x < 5; ++x)
    EXPECT_NEAR(run.image.sample(x, 0), std::min((x + 1.5) * 65535 / 4, 65535.), 0.51) << x;
}

TEST(DeepContrast, EveryCountDecides) {
  // 100 samples: 5 × 256, 1 × 300, 46 × 40000, 46 × 40010, 2 × 40255.
  const Image in = contrast_image(PixelFormat::gray16, {10, 10}, [](int i, int) {
    return i < 5 ? 256 : i < 6 ? 300 : i < 98 ? 40000 + i % 2 * 10 : 40255;
  });
  expect_ends({256, 40255}, run_contrast(in, clip(4.99, 1.99)).ends);
  expect_ends({300, 40255}, run_contrast(in, clip(5, 1.99)).ends);
  expect_ends({256, 40010}, run_contrast(in, clip(4.99, 2)).ends);
  expect_ends({40000, 40010}, run_contrast(in, clip(6, 2)).ends);
  expect_ends({40000, 40010}, run_contrast(in, clip(49, 47)).ends);
  // Both ends are 40000, so they are 0 and 255.
  expect_ends({0, 65535}, run_contrast(in, clip(6, 48)).ends);
}

TEST(DeepContrast, ChannelsAreClippedTogetherOrSeparately) {
  // Red has the low end of all channels, blue the high one; the channels' high bytes differ.
  const int base[] = {1000, 30000, 60000};
  const Image in = contrast_image(PixelFormat::rgba16, {100, 3},
                                  [&](int i, int c) { return base[c] + i % 100 * (c + 1); });
  expect_ends({1000, 60297, 1000, 60297, 1000, 60297}, run_contrast(in, clip(0, 0)).ends);
  // 10 % of the samples of all channels are 30 % of red's, and of blue's.
  const Ends together = run_contrast(in, clip(10, 10)).ends;
  expect_ends({1030, 60207, 1030, 60207, 1030, 60207}, together);
  expect_ends({1010, 1089, 30020, 30178, 60030, 60267}, run_contrast(in, clip(10, 10, true)).ends);
  expect_ends({1000, 1089, 30000, 30178, 60000, 60267}, run_contrast(in, clip(0, 10, true)).ends);
  // The ends of all channels together are within one high byte, in different channels.
  const Image near =
      contrast_image(PixelFormat::rgba16, {100, 3}, [](int i, int c) { return 5000 + 10 * c + i % 10; });
  expect_ends({5003, 5026, 5003, 5026, 5003, 5026}, run_contrast(near, clip(10, 10)).ends);
}

TEST(DeepContrast, FlatPictureIsNotChanged) {
  for (const int v : {0, 255, 256, 7777, 65535}) {
    const Image in = contrast_image(PixelFormat::rgba16, {9, 5}, [v](int, int) { return v; });
    for (const bool per_channel : {false, true}) {
      const ContrastRun run = run_contrast(in, clip(20, 20, per_channel));
      expect_ends({0, 65535, 0, 65535, 0, 65535}, run.ends);
      EXPECT_EQ(difference(in, run.image), "");
    }
  }
}

TEST(DeepContrast, CountsLowBytesOnlyIfClipped) {
  const Image in = contrast_image(PixelFormat::gray16, {90, 10}, [](int i, int) { return 7000 + i % 900; });
  const auto counted = [&in](double low, double high) {
    const ContrastRun run = run_contrast(in, clip(low, high));
    std::vector<uint32_t> sums;
    for (const Histogram& table : run.stats.low_bytes) {
      sums.push_back(0);
      for (const uint32_t n : table.count[0]) sums.back() += n;
    }
    return sums;
  };
  using Sums = std::vector<uint32_t>;
  EXPECT_EQ(counted(0, 0), (Sums{0, 0}));
  EXPECT_EQ(counted(0.1, 0.1), (Sums{0, 0})) << "0.1 % of 900 samples is none";
  EXPECT_EQ(counted(1, 0), (Sums{168, 0}));
  EXPECT_EQ(counted(0, 1), (Sums{0, 220}));
  EXPECT_EQ(counted(1, 1), (Sums{168, 220}));
}

/// Changes clipping while frames run, with and without `smooth`.
void run_changes(Backend backend, Placement placement) {
  const Image dark = contrast_image(PixelFormat::gray16, {90, 20}, [](int i, int) { return 7000 + i % 90; });
  const Image bright =
      contrast_image(PixelFormat::gray16, {90, 20}, [](int i, int) { return 9000 + i % 90; });
  ContrastRig rig(dark.format, clip(0, 0), backend, placement);
  expect_ends({7000, 7089}, rig.run(dark).ends);
  rig.set(clip(10, 0));
  expect_ends({7009, 7089}, rig.run(dark).ends);
  rig.set(clip(10, 20));
  expect_ends({9009, 9071}, rig.run(bright).ends);
  rig.set(clip(0, 0));
  expect_ends({7000, 7089}, rig.run(dark).ends);
  rig.set(clip(10, 20, false, 0.75));
  expect_ends({7002.25, 7084.5}, rig.run(dark).ends);
  expect_ends({0.75 * 7002.25 + 0.25 * 9009, 0.75 * 7084.5 + 0.25 * 9071}, rig.run(bright).ends);
}

TEST(DeepContrast, ParametersChangeBetweenFrames) {
  run_changes(Backend::cpu, kOdd);
}
TEST(DeepContrast, ParametersChangeBetweenFramesOnCuda) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  run_changes(Backend::cuda, kAligned);
}

/// Images with different histograms.
std::vector<Image> contrast_images(PixelFormat format, Extent extent, std::mt19937& random) {
  const auto below = [&random](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const int width = 1 + below(700), base = below(60000);
  int value[8];
  for (int& v : value) v = below(65536);
  return {contrast_image(format, extent, [&](int, int) { return below(65536); }),
          contrast_image(format, extent, [&](int, int c) { return base + below(width) * (c + 1); }),
          contrast_image(format, extent, [&](int, int) { return value[below(8)]; }),
          contrast_image(format, extent, [&](int, int c) { return c * 256 + 255 + below(2); }),
          contrast_image(format, extent, [&](int, int) { return below(2) * 65535; })};
}

constexpr AutoContrastParams kContrastParams[] = {clip(0, 0),        clip(0.5, 0),        clip(0, 3),
                                                  clip(1, 1),        clip(30, 49),        clip(0, 0, true),
                                                  clip(2, 49, true), clip(0, 0.01, true), clip(49, 49)};

void compare_all(Backend backend, const std::vector<Placement>& placements, int threads) {
  std::mt19937 random(4);
  for (const PixelFormat format : {PixelFormat::gray16, PixelFormat::rgba16})
    for (const Extent extent : {Extent{1, 1}, {1, 9}, {7, 3}, {130, 65}, {641, 239}})
      for (const Image& in : contrast_images(format, extent, random))
        for (const AutoContrastParams& params : kContrastParams)
          for (const Placement placement : placements)
            ContrastRig(in.format, params, backend, placement, threads).run(in);
}

TEST(DeepContrast, CpuEqualsOracle) {
  for (const int threads : {1, 3}) compare_all(Backend::cpu, {threads == 1 ? kAligned : kOdd}, threads);
}
TEST(DeepContrast, CudaEqualsOracle) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  compare_all(Backend::cuda, {kAligned, kHalfAligned, kOdd}, 1);
}

}  // namespace
}  // namespace lensd::test
