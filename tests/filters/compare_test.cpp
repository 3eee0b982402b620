// Comparison of two images: known distances, and both backends against the oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/compare/compare.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

Comparison of(const Image& a, const Image& b) {
  return Compare().compare_reference(a, b);
}

TEST(Comparisons, EqualImagesAreInfinitelyCloseAndFullySimilar) {
  std::mt19937 random(3);
  const Image a = noise({PixelFormat::rgba8, {64, 48}}, random);
  const Comparison c = of(a, a);
  EXPECT_TRUE(std::isinf(c.psnr()));
  EXPECT_DOUBLE_EQ(c.ssim(), 1);
  EXPECT_EQ(c.windows, 15u * 11u);
}

TEST(Comparisons, AConstantDistanceHasItsNoiseRatio) {
  Image a({PixelFormat::gray8, {40, 30}}), b = a;
  for (uint8_t& v : b.pixels) v = 5;
  const Comparison c = of(a, b);
  EXPECT_NEAR(c.psnr(), 20 * std::log10(255 / 5.0), 1e-12);
  // Flat windows differ in their means alone: (2·0·5 + C1) / (0 + 25 + C1) with C1 = (0.01 · 255)².
  const double c1 = 0.01 * 255 * 0.01 * 255;
  EXPECT_NEAR(c.ssim(), c1 / (25 + c1), 2e-4);
}

TEST(Comparisons, SamplesOf16BitsAreComparedWithAllBits) {
  Image a({PixelFormat::rgba16, {40, 30}}), b = a;
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) b.set_sample(x, y, 1, 3);
  EXPECT_NEAR(of(a, b).psnr(), 10 * std::log10(65535.0 * 65535.0 / 3), 1e-12);
  EXPECT_LT(of(a, b).ssim(), 1);
}

/// The mean structural similarity of two 16-bit images by the definition of Wang et al., in double precision.
double similarity_by_definition(const Image& a, const Image& b) {
  const auto luma_at = [](const Image& i, int x, int y) {
    if (i.channels() == 1) return static_cast<double>(i.sample(x, y));
    return 0.299 * i.sample(x, y, 0) + 0.587 * i.sample(x, y, 1) + 0.114 * i.sample(x, y, 2);
  };
  const double c1 = std::pow(0.01 * 65535, 2), c2 = std::pow(0.03 * 65535, 2);
  double sum = 0;
  int windows = 0;
  for (int y = 0; y + 8 <= a.height(); y += 4)
    for (int x = 0; x + 8 <= a.width(); x += 4, ++windows) {
      double ma = 0, mb = 0, va = 0, vb = 0, covariance = 0;
      for (int i = 0; i < 64; ++i) {
        ma += luma_at(a, x + i % 8, y + i / 8) / 64, mb += luma_at(b, x + i % 8, y + i / 8) / 64;
      }
      for (int i = 0; i < 64; ++i) {
        const double p = luma_at(a, x + i % 8, y + i / 8) - ma, q = luma_at(b, x + i % 8, y + i / 8) - mb;
        va += p * p / 63, vb += q * q / 63, covariance += p * q / 63;
      }
      sum += (2 * ma * mb + c1) * (2 * covariance + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
    }
  return sum / windows;
}

/// Returns an image whose samples are `base` plus noise of `amplitude` values.
Image deep_noise(PixelFormat format, int base, int amplitude, std::mt19937& random) {
  Image image({format, {43, 30}});
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c)
        image.set_sample(x, y, c, base + static_cast<int>(random() % static_cast<unsigned>(amplitude)));
  return image;
}

TEST(Comparisons, SimilarityOf16BitsIsThatOfTheDefinition) {
  std::mt19937 random(6);
  for (const PixelFormat format : {PixelFormat::gray16, PixelFormat::rgba16})
    for (const int amplitude : {1, 3, 200, 2000, 30000}) {
      SCOPED_TRACE(std::string(name(format)) + " " + std::to_string(amplitude));
      const double tolerance = format == PixelFormat::gray16 ? 1e-7 : 5e-6;  // the luma of colours is rounded
      const Image a = deep_noise(format, 7000, amplitude, random);
      Image b = a;
      for (int y = 0; y < b.height(); ++y)
        for (int x = 0; x < b.width(); ++x)
          for (int c = 0; c < b.channels(); ++c)
            b.set_sample(x, y, c, a.sample(x, y, c) / 2 + 3500 + static_cast<int>(random() % 300));
      EXPECT_NEAR(of(a, b).ssim(), similarity_by_definition(a, b), tolerance);
      const Image other = deep_noise(format, 65535 - amplitude, amplitude, random);
      EXPECT_NEAR(of(a, other).ssim(), similarity_by_definition(a, other), tolerance);
    }
}

TEST(Comparisons, NoiseBelowALevelOf8BitsLowersTheSimilarity) {
  std::mt19937 random(7);
  for (const PixelFormat format : {PixelFormat::gray16, PixelFormat::rgba16}) {
    double last = 1;
    for (const int amplitude : {4, 16, 64, 256}) {
      const Image a = deep_noise(format, 30000, amplitude, random);
      const double ssim = of(a, deep_noise(format, 30000, amplitude, random)).ssim();
      EXPECT_LT(ssim, last) << name(format) << " " << amplitude;
      last = ssim;
      EXPECT_EQ(of(a, a).ssim(), 1);
    }
  }
}

TEST(Comparisons, ExtremesOf16BitsOverflowNoSum) {
  Image a({PixelFormat::gray16, {16, 16}}), b = a, white = a;
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x)
      a.set_sample(x, y, 0, (x + y) % 2 * 65535), b.set_sample(x, y, 0, (x + y + 1) % 2 * 65535),
          white.set_sample(x, y, 0, 65535);
  for (const Image* other : {&a, &b, &white})
    EXPECT_NEAR(of(a, *other).ssim(), similarity_by_definition(a, *other), 1e-6);
  EXPECT_LT(of(a, b).ssim(), -0.99);
  EXPECT_EQ(of(white, white).ssim(), 1);
}

TEST(Comparisons, SimilarityIsThatOfTheDefinition) {
  std::mt19937 random(5);
  const Image a = noise({PixelFormat::gray8, {8, 8}}, random);
  Image b = a;
  for (uint8_t& v : b.pixels) v = static_cast<uint8_t>(v / 2 + random() % 40);
  double ma = 0, mb = 0, va = 0, vb = 0, cov = 0;
  for (size_t i = 0; i < 64; ++i) ma += a.pixels[i] / 64.0, mb += b.pixels[i] / 64.0;
  for (size_t i = 0; i < 64; ++i) {
    va += (a.pixels[i] - ma) * (a.pixels[i] - ma) / 63, vb += (b.pixels[i] - mb) * (b.pixels[i] - mb) / 63;
    cov += (a.pixels[i] - ma) * (b.pixels[i] - mb) / 63;
  }
  const double c1 = 6.5025, c2 = 58.5225;
  const double expected = (2 * ma * mb + c1) * (2 * cov + c2) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
  EXPECT_NEAR(of(a, b).ssim(), expected, 1e-5);
}

TEST(Comparisons, SmallImagesHaveNoWindows) {
  const Image a({PixelFormat::gray8, {7, 40}});
  EXPECT_TRUE(std::isnan(of(a, a).ssim()));
  EXPECT_TRUE(std::isinf(of(a, a).psnr()));
}

void check(Rig& rig, const Image& a, const Image& b, const Comparison& expected) {
  const RunOutput output = rig.run({a, b});
  EXPECT_TRUE(output.guards_untouched);
  ASSERT_GE(output.stats_bytes.size(), sizeof(Comparison));
  EXPECT_EQ(std::memcmp(output.stats_bytes.data(), &expected, sizeof(expected)), 0);
}

template <class Check>
void for_each_pair(Check run) {
  std::mt19937 random(11);
  for (const PixelFormat format :
       {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16, PixelFormat::rgba16})
    for (const Extent extent :
         within_limit({{1, 1}, {1, 7}, {3, 3}, {8, 8}, {17, 31}, {255, 64}, {641, 479}, {1920, 1080}})) {
      SCOPED_TRACE(std::string(name(format)) + " " + std::to_string(extent.width));
      const Image a = noise({format, extent}, random);
      Image b = a;
      for (uint8_t& v : b.pixels) v = static_cast<uint8_t>(v + random() % 9);
      run({a.format, a.format}, a, b);
      run({a.format, a.format}, a, Image(a.format));
      if (!a.is_deep() || extent.width > 255) continue;
      for (int y = 0; y < b.height(); ++y)
        for (int x = 0; x < b.width(); ++x)
          for (int c = 0; c < b.channels(); ++c)
            b.set_sample(x, y, c, std::max(0, a.sample(x, y, c) - static_cast<int>(random() % 9)));
      run({a.format, a.format}, a, b);
    }
}

TEST(Comparisons, CpuEqualsOracle) {
  for_each_pair([](const std::vector<ImageFormat>& formats, const Image& a, const Image& b) {
    const Comparison expected = of(a, b);
    for (const int threads : {1, 3})
      for (const Placement placement : {kAligned, kOdd}) {
        Compare filter;
        check(*make_cpu_rig(filter, {.images = formats}, placement, threads), a, b, expected);
      }
  });
}

TEST(Comparisons, CudaEqualsOracle) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  for_each_pair([](const std::vector<ImageFormat>& formats, const Image& a, const Image& b) {
    const Comparison expected = of(a, b);
    for (const Placement placement : {kAligned, kHalfAligned, kOdd}) {
      Compare filter;
      check(*make_cuda_rig(filter, {.images = formats, .backend = Backend::cuda}, placement), a, b, expected);
    }
  });
}

}  // namespace
}  // namespace lensd::test
