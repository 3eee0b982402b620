// Scopes: the oracle on pictures with known counts, and both backends against the oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/scopes/scopes.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

constexpr ScopeKind kAll[] = {ScopeKind::histogram, ScopeKind::waveform, ScopeKind::parade,
                              ScopeKind::vectorscope};

/// Returns the description of a source with this matrix.
PictureInfo source(YuvMatrix matrix) {
  PictureInfo info;
  info.colour.matrix = matrix;
  return info;
}

Image filled(Extent extent, int r, int g, int b) {
  Image image({PixelFormat::rgba8, extent});
  for (size_t i = 0; i < image.pixels.size(); i += 4) {
    const int rgba[] = {r, g, b, static_cast<int>(i % 256)};
    for (size_t c = 0; c < 4; ++c) image.pixels[i + c] = static_cast<uint8_t>(rgba[c]);
  }
  return image;
}

std::vector<uint32_t> counts_of(ScopeKind kind, const Image& image, YuvMatrix matrix = YuvMatrix::bt601) {
  Scope scope(kind);
  const ImageFormat formats[] = {image.format};
  const PictureInfo info = source(matrix);
  scope.configure({.images = formats, .picture = &info});
  return scope.count_reference(image);
}

size_t place_of_all(const std::vector<uint32_t>& counts, uint32_t all) {
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] == all) return i;
  return counts.size();
}

TEST(Scopes, HistogramCountsValues) {
  const auto counts = counts_of(ScopeKind::histogram, filled({10, 3}, 1, 20, 255));
  EXPECT_EQ(counts[1], 30u);
  EXPECT_EQ(counts[256 + 20], 30u);
  EXPECT_EQ(counts[512 + 255], 30u);
  EXPECT_EQ(counts[768 + 41], 30u) << "0.299 + 0.587 · 20 + 0.114 · 255";
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0u), 120u);
}

TEST(Scopes, HistogramOf16BitsHas1024Values) {
  Image image({PixelFormat::rgba16, {7, 2}});
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 7; ++x)
      for (int c = 0; c < 3; ++c) image.set_sample(x, y, c, c == 0 ? 64 * 100 + 33 : c == 1 ? 65535 : 32);
  const auto counts = counts_of(ScopeKind::histogram, image);
  ASSERT_EQ(counts.size(), 4096u);
  EXPECT_EQ(counts[100], 14u) << "6433 · 1023 / 65535 = 100.42";
  EXPECT_EQ(counts[1024 + 1023], 14u);
  EXPECT_EQ(counts[2048 + 0], 14u) << "32 · 1023 / 65535 = 0.4995";
  for (uint32_t v = 0; v < 65536; ++v) ASSERT_EQ(deep_bin(v), std::lround(v * 1023.0 / 65535.0)) << v;
}

TEST(Scopes, SamplesOf16BitsAreRoundedTo8) {
  std::mt19937 random(5);
  const Image shallow = noise({PixelFormat::rgba8, {40, 30}}, random);
  Image deep({PixelFormat::rgba16, {40, 30}});
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x)
      for (int c = 0; c < 4; ++c) deep.set_sample(x, y, c, 257 * shallow.at(x, y, c));
  EXPECT_EQ(counts_of(ScopeKind::parade, shallow), counts_of(ScopeKind::parade, deep));
  EXPECT_EQ(counts_of(ScopeKind::vectorscope, shallow), counts_of(ScopeKind::vectorscope, deep));
}

TEST(Scopes, VectorscopePutsColourBarsWhereTheStandardsSay) {
  const Extent extent{4, 4};
  const auto at = [&](int r, int g, int b, YuvMatrix matrix) {
    return place_of_all(counts_of(ScopeKind::vectorscope, filled(extent, r, g, b), matrix), 16);
  };
  for (const int v : {0, 1, 100, 128, 254, 255}) EXPECT_EQ(at(v, v, v, YuvMatrix::bt601), 128 * 256 + 128u);
  EXPECT_EQ(at(255, 0, 0, YuvMatrix::bt601), 255 * 256 + 85u);
  EXPECT_EQ(at(0, 0, 255, YuvMatrix::bt601), 107 * 256 + 255u);
  EXPECT_EQ(at(0, 255, 0, YuvMatrix::bt709), 12 * 256 + 30u);
  EXPECT_EQ(at(255, 0, 0, YuvMatrix::bt709), 255 * 256 + 99u);
}

TEST(Scopes, ColumnsAreEqualSharesOfTheWidth) {
  for (const int width : {1, 2, 255, 256, 257, 641, 1920, 16384}) {
    const int columns = scope_columns(width);
    EXPECT_EQ(scope_column_begin(0, width), 0);
    EXPECT_EQ(scope_column_begin(columns, width), width);
    for (int c = 0; c < columns; ++c) {
      const int pixels = scope_column_begin(c + 1, width) - scope_column_begin(c, width);
      EXPECT_GE(pixels, width / columns);
      EXPECT_LE(pixels, width / columns + 1);
      EXPECT_EQ(scope_column_begin(c, width) * columns / width, c);
    }
  }
  Image ramp({PixelFormat::gray8, {256, 5}});
  for (int y = 0; y < 5; ++y)
    for (int x = 0; x < 256; ++x) ramp.at(x, y) = static_cast<uint8_t>(x);
  const auto counts = counts_of(ScopeKind::waveform, ramp);
  for (size_t x = 0; x < 256; ++x) EXPECT_EQ(counts[x * 256 + x], 5u);
}

/// Compares the rig's counts with the oracle's.
void compare(const Scope& scope, Rig& rig, const Image& image) {
  const RunOutput output = rig.run({image});
  EXPECT_TRUE(output.guards_untouched);
  const auto expected = scope.count_reference(image);
  ASSERT_EQ(output.stats_bytes.size(), expected.size() * sizeof(uint32_t));
  EXPECT_EQ(std::memcmp(output.stats_bytes.data(), expected.data(), output.stats_bytes.size()), 0);
}

template <class Check>
void for_each_case(Check check) {
  std::mt19937 random(11);
  for (const ScopeKind kind : kAll)
    for (const PixelFormat format :
         {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16, PixelFormat::rgba16})
      for (const Extent extent :
           {Extent{1, 1}, {1, 7}, {3, 3}, {17, 31}, {255, 64}, {641, 479}, {1920, 1080}}) {
        Scope scope(kind);
        SCOPED_TRACE(std::string(name(kind)) + " " + name(format) + " " + std::to_string(extent.width));
        Image flat({format, extent});
        for (size_t i = 0; i < flat.pixels.size(); ++i) flat.pixels[i] = static_cast<uint8_t>(40 * (i % 4));
        check(scope, std::vector<ImageFormat>{flat.format}, noise(flat.format, random));
        check(scope, std::vector<ImageFormat>{flat.format}, flat);
      }
}

TEST(Scopes, CpuEqualsOracle) {
  const PictureInfo info = source(YuvMatrix::bt709);
  for_each_case([&](Scope& scope, const std::vector<ImageFormat>& formats, const Image& image) {
    for (const int threads : {1, 3})
      for (const Placement placement : {kAligned, kOdd}) {
        const auto rig = make_cpu_rig(scope, {.images = formats, .picture = &info}, placement, threads);
        compare(scope, *rig, image);
      }
  });
}

TEST(Scopes, CudaEqualsOracle) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  const PictureInfo info = source(YuvMatrix::bt601);
  for_each_case([&](Scope& scope, const std::vector<ImageFormat>& formats, const Image& image) {
    for (const Placement placement : {kAligned, kHalfAligned, kOdd}) {
      const auto rig =
          make_cuda_rig(scope, {.images = formats, .picture = &info, .backend = Backend::cuda}, placement);
      compare(scope, *rig, image);
    }
  });
}

}  // namespace
}  // namespace lensd::test
