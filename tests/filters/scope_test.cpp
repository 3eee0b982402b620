// Scopes: the oracle on pictures with known counts, and both backends against the oracle.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>

#include "kernels/scopes/scopes.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/instruction_set.hpp"

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

/// Returns a 16-bit image with samples of 257 times the 8-bit ones.
Image widened(const Image& shallow) {
  Image deep(
      {is_gray(shallow.format.format) ? PixelFormat::gray16 : PixelFormat::rgba16, shallow.format.extent});
  for_each_sample(shallow.format.extent, shallow.channels(),
                  [&](int x, int y, int c) { deep.set_sample(x, y, c, 257 * shallow.at(x, y, c)); });
  return deep;
}

TEST(Scopes, WidenedSamplesHaveTheSameCounts) {
  std::mt19937 random(5);
  const Image shallow = noise({PixelFormat::rgba8, {300, 30}}, random);
  const auto level = [](size_t v) { return static_cast<size_t>(std::lround(v * 1023 / 255.0)); };
  for (const ScopeKind kind : {ScopeKind::histogram, ScopeKind::parade}) {
    const auto few = counts_of(kind, shallow), many = counts_of(kind, widened(shallow));
    ASSERT_EQ(many.size(), 4 * few.size());
    // The luma of 8-bit samples is rounded once more, so that its level differs.
    const size_t compared = kind == ScopeKind::histogram ? 3 * 256 : few.size();
    std::vector<uint32_t> expected(many.size());
    for (size_t i = 0; i < compared; ++i) expected[i / 256 * 1024 + level(i % 256)] = few[i];
    for (size_t i = 0; i < 4 * compared; ++i) ASSERT_EQ(many[i], expected[i]) << name(kind) << " " << i;
  }
}

TEST(Scopes, ARampOf12BitsHasAll1024LevelsOfAWaveform) {
  Image ramp({PixelFormat::gray16, {1, 4096}});
  for (int y = 0; y < 4096; ++y) ramp.set_sample(0, y, 0, (y * 65535 + 2047) / 4095);
  const auto counts = counts_of(ScopeKind::waveform, ramp);
  ASSERT_EQ(counts.size(), 1024u);
  for (size_t v = 0; v < 1024; ++v) {
    const uint32_t edge = v == 0 || v == 1023 ? 3 : 4;
    ASSERT_GE(counts[v], edge - 1) << v;
    ASSERT_LE(counts[v], edge + 1) << v;
  }
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0u), 4096u);
}

TEST(Scopes, AGreyRampIsADiagonalInEachPlaneOfAParade) {
  Image ramp({PixelFormat::gray16, {256, 5}});
  for_each_sample({256, 5}, 1, [&](int x, int y, int) { ramp.set_sample(x, y, 0, 257 * x); });
  const auto counts = counts_of(ScopeKind::parade, ramp);
  ASSERT_EQ(counts.size(), 3u * 256 * 1024);
  for (size_t plane = 0; plane < 3; ++plane)
    for (size_t x = 0; x < 256; ++x) {
      const auto v = static_cast<size_t>(std::lround(static_cast<double>(x) * 1023 / 255));
      EXPECT_EQ(counts[(plane * 256 + x) * 1024 + v], 5u) << x;
    }
}

TEST(Scopes, VectorscopeOf16BitsHas1024Levels) {
  const auto at = [](int r, int g, int b, YuvMatrix matrix) {
    return place_of_all(counts_of(ScopeKind::vectorscope, widened(filled({4, 4}, r, g, b)), matrix), 16);
  };
  const auto place = [](size_t cb, size_t cr) { return cr * 1024 + cb; };
  for (const int v : {0, 1, 100, 128, 254, 255}) EXPECT_EQ(at(v, v, v, YuvMatrix::bt601), place(512, 512));
  // The weights in 1/32768 times 1023 plus 512, for example 512 − 1023 · 5529 / 32768 = 339.39.
  EXPECT_EQ(at(255, 0, 0, YuvMatrix::bt601), place(339, 1023)) << "1023.5 is clamped";
  EXPECT_EQ(at(0, 255, 0, YuvMatrix::bt601), place(173, 84)) << "173.11, 83.67";
  EXPECT_EQ(at(0, 0, 255, YuvMatrix::bt601), place(1023, 429)) << "428.83";
  EXPECT_EQ(at(0, 255, 255, YuvMatrix::bt601), place(685, 1)) << "684.61, 0.5";
  EXPECT_EQ(at(255, 0, 0, YuvMatrix::bt709), place(395, 1023)) << "394.80";
  EXPECT_EQ(at(0, 255, 0, YuvMatrix::bt709), place(118, 47)) << "117.70, 47.39";
  EXPECT_EQ(at(0, 0, 255, YuvMatrix::bt709), place(1023, 465)) << "465.11";
}

TEST(Scopes, ColourDifferencesOf16BitsAreRoundedOnce) {
  std::mt19937 random(3);
  for (const LumaWeights matrix : {LumaWeights::bt601, LumaWeights::bt709}) {
    const ScopeBlock block = ScopeBlock::make({matrix});
    for (int i = 0; i < 200'000; ++i) {
      int v[3];
      for (int& sample : v) sample = i % 3 == 0 ? 65535 * static_cast<int>(random() % 2) : random() & 65535;
      for (const LumaBlock& w : {block.cb, block.cr}) {
        const double sum = static_cast<double>(w.r) * v[0] + static_cast<double>(w.g) * v[1] +
                           static_cast<double>(w.b) * v[2];
        const double level = std::floor(512.5 + 1023 * sum / (32768.0 * 65535));
        ASSERT_EQ(deep_colour_difference(w, v[0], v[1], v[2]), std::min(level, 1023.0))
            << v[0] << " " << v[1] << " " << v[2];
      }
    }
  }
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
void compare(const std::vector<uint32_t>& expected, Rig& rig, const Image& image) {
  const RunOutput output = rig.run({image});
  EXPECT_TRUE(output.guards_untouched);
  ASSERT_EQ(output.stats_bytes.size(), expected.size() * sizeof(uint32_t));
  EXPECT_EQ(std::memcmp(output.stats_bytes.data(), expected.data(), output.stats_bytes.size()), 0);
}

/// Calls `check(scope, inputs, image, expected)` with the oracle's counts for each kind, format and size.
template <class Check>
void for_each_case(YuvMatrix matrix, Backend backend, const Check& check) {
  std::mt19937 random(11);
  const PictureInfo info = source(matrix);
  for (const ScopeKind kind : kAll)
    for (const PixelFormat format :
         {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16, PixelFormat::rgba16})
      for (const Extent extent :
           within_limit({{1, 1}, {1, 7}, {3, 3}, {17, 31}, {255, 64}, {641, 479}, {1920, 1080}})) {
        Scope scope(kind);
        SCOPED_TRACE(std::string(name(kind)) + " " + name(format) + " " + std::to_string(extent.width));
        Image flat({format, extent});
        for (size_t i = 0; i < flat.pixels.size(); ++i) flat.pixels[i] = static_cast<uint8_t>(40 * (i % 4));
        const ImageFormat formats[] = {flat.format};
        const FilterInputs inputs{.images = formats, .picture = &info, .backend = backend};
        scope.configure(inputs);
        for (const Image& image : {noise(flat.format, random), flat})
          check(scope, inputs, image, scope.count_reference(image));
      }
}

TEST(Scopes, CpuEqualsOracle) {
  for_each_case(YuvMatrix::bt709, Backend::cpu,
                [](Scope& scope, const FilterInputs& inputs, const Image& image,
                   const std::vector<uint32_t>& expected) {
                  for (const int64_t set : instruction_sets()) {
                    const InstructionSet use(set);
                    for (const int threads : {1, 3})
                      for (const Placement placement : {kAligned, kOdd})
                        compare(expected, *make_cpu_rig(scope, inputs, placement, threads), image);
                  }
                });
}

TEST(Scopes, CudaEqualsOracle) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  for_each_case(YuvMatrix::bt601, Backend::cuda,
                [](Scope& scope, const FilterInputs& inputs, const Image& image,
                   const std::vector<uint32_t>& expected) {
                  for (const Placement placement : {kAligned, kHalfAligned, kOdd})
                    compare(expected, *make_cuda_rig(scope, inputs, placement), image);
                });
}

/// CUDA's vectorscope of RGBA16 has counters of 16 bits in each block: a large image needs more blocks.
TEST(Scopes, LargeImagesOverflowNoCounter) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  const ImageFormat formats[] = {{PixelFormat::rgba16, {8192, 2200}}};
  const PictureInfo info = source(YuvMatrix::bt709);
  Scope scope(ScopeKind::vectorscope);
  const auto rig =
      make_cuda_rig(scope, {.images = formats, .picture = &info, .backend = Backend::cuda}, kAligned);
  std::vector<uint32_t> expected(1024 * 1024);
  expected[512 * 1024 + 512] = 8192 * 2200;
  compare(expected, *rig, Image(formats[0]));
}

}  // namespace
}  // namespace lensd::test
