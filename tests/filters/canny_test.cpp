// canny with fixed parameters on every instruction set, against an oracle that is written from the definition
// (Canny 1986, with the thresholds and roundings of cv::Canny) and shares no code with the filter.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/canny/canny.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/instruction_set.hpp"

namespace lensd::test {
namespace {

struct CannySettings {
  int aperture;
  double low, high;
  bool l2;
};

/// Rows of Pascal's triangle, and their convolution with (-1, 0, 1).
constexpr int kSmooth[3][7] = {{1, 2, 1}, {1, 4, 6, 4, 1}, {1, 6, 15, 20, 15, 6, 1}};
constexpr int kDerive[3][7] = {{-1, 0, 1}, {-1, -2, 0, 2, 1}, {-1, -4, -5, 0, 5, 4, 1}};

struct Gradient {
  long long x = 0, y = 0;
};

/// Rounds to the nearest integer, ties to even.
long long rounded(long long sum, long long divisor) {
  long long floor = sum / divisor;
  if (floor * divisor > sum) --floor;
  const long long twice = 2 * (sum - floor * divisor);
  if (twice > divisor || (twice == divisor && floor % 2 != 0)) ++floor;
  return floor;
}

Gradient gradient(const Image& in, int x, int y, int aperture) {
  Gradient sum;
  const int reach = aperture / 2;
  for (int j = 0; j < aperture; ++j)
    for (int i = 0; i < aperture; ++i) {
      const int column = std::min(std::max(x + i - reach, 0), in.width() - 1);
      const int row = std::min(std::max(y + j - reach, 0), in.height() - 1);
      const int v = in.at(column, row);
      sum.x += kDerive[reach - 1][i] * kSmooth[reach - 1][j] * v;
      sum.y += kSmooth[reach - 1][i] * kDerive[reach - 1][j] * v;
    }
  if (aperture == 7) sum = {rounded(sum.x, 16), rounded(sum.y, 16)};
  return sum;
}

Image oracle(const Image& in, const CannySettings& s) {
  const int w = in.width(), h = in.height();
  const auto index = [&](int x, int y) {
    return static_cast<size_t>(y) * static_cast<size_t>(w) + static_cast<size_t>(x);
  };
  std::vector<Gradient> at(in.pixels.size());
  std::vector<long long> strength(in.pixels.size());
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const Gradient g = at[index(x, y)] = gradient(in, x, y, s.aperture);
      strength[index(x, y)] = s.l2 ? g.x * g.x + g.y * g.y : std::llabs(g.x) + std::llabs(g.y);
    }
  const auto outside_is_zero = [&](int x, int y) {
    return x < 0 || y < 0 || x >= w || y >= h ? 0 : strength[index(x, y)];
  };
  const double scale = s.aperture == 7 ? 1 / 16.0 : 1;
  const double low = s.l2 ? s.low * scale * s.low * scale : s.low * scale;
  const double high = s.l2 ? s.high * scale * s.high * scale : s.high * scale;
  const auto over = [](long long m, double limit) { return m > static_cast<long long>(limit); };
  const auto peak = [&](int x, int y) {
    const long long m = strength[index(x, y)];
    const Gradient g = at[index(x, y)];
    // tan(22.5°) and tan(67.5°) = tan(22.5°) + 2, with 15 fractional bits.
    const long long dx = std::llabs(g.x), dy = std::llabs(g.y) << 15, flat = dx * 13573;
    if (dy < flat) return m > outside_is_zero(x - 1, y) && m >= outside_is_zero(x + 1, y);
    if (dy > flat + (dx << 16)) return m > outside_is_zero(x, y - 1) && m >= outside_is_zero(x, y + 1);
    const int along = (g.x < 0) == (g.y < 0) ? 1 : -1;
    return m > outside_is_zero(x - along, y - 1) && m > outside_is_zero(x + along, y + 1);
  };
  Image out(in.format);
  std::vector<std::pair<int, int>> open;
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      out.at(x, y) = 0;
      if (over(strength[index(x, y)], high) && over(strength[index(x, y)], low) && peak(x, y))
        open.emplace_back(x, y);
    }
  while (!open.empty()) {
    const auto [x, y] = open.back();
    open.pop_back();
    if (x < 0 || y < 0 || x >= w || y >= h || out.at(x, y) == 255) continue;
    if (!over(strength[index(x, y)], low) || !peak(x, y)) continue;
    out.at(x, y) = 255;
    for (int j = -1; j <= 1; ++j)
      for (int i = -1; i <= 1; ++i) open.emplace_back(x + i, y + j);
  }
  return out;
}

/// Overlapping discs of different brightness with some noise: edges of all directions and strengths.
Image discs(Extent extent) {
  std::mt19937 random(20'260'101);
  Image image({PixelFormat::gray8, extent});
  for (int y = 0; y < extent.height; ++y)
    for (int x = 0; x < extent.width; ++x) {
      int value = 30;
      for (int disc = 0; disc < 9; ++disc) {
        const int dx = x - disc * 53 % (extent.width + 7), dy = y - disc * 31 % (extent.height + 5);
        if (dx * dx + dy * dy < (7 + 3 * disc) * (7 + 3 * disc)) value = 20 + disc * 97 % 220;
      }
      image.at(x, y) = static_cast<uint8_t>(value + static_cast<int>(random() % 9));
    }
  return image;
}

TEST(Canny, EqualsItsDefinitionOnEveryInstructionSet) {
  constexpr CannySettings settings[] = {
      {3, 50, 150, false},      {3, 40, 200, true},      {5, 300, 1500, false},  {5, 420, 1800, true},
      {5, 700.5, 700.5, false}, {7, 5000, 20000, false}, {7, 6000, 30000, true}, {7, 100, 9000.7, false},
  };
  for (const Extent extent : {Extent{1, 1}, {5, 3}, {17, 31}, {67, 45}, {149, 70}})
    for (const CannySettings& s : settings) {
      const Image in = discs(extent), expected = oracle(in, s);
      const auto edges = std::ranges::count(expected.pixels, uint8_t{255});
      if (extent.width > 60) {
        EXPECT_GT(edges, 100) << "the test checks little";
        EXPECT_LT(edges, extent.width * extent.height / 3);
      }
      for (const int64_t set : instruction_sets()) {
        const InstructionSet limited(set);
        Canny canny;
        ASSERT_EQ(canny.set("aperture", int64_t{s.aperture}), std::nullopt);
        ASSERT_EQ(canny.set("low", s.low), std::nullopt);
        ASSERT_EQ(canny.set("high", s.high), std::nullopt);
        ASSERT_EQ(canny.set("l2", s.l2), std::nullopt);
        const auto rig = make_cpu_rig(canny, {.images = {&in.format, 1}}, kOdd, 2);
        ASSERT_EQ(difference(expected, rig->run({in}).image), "")
            << hwy::TargetName(set) << ", aperture " << s.aperture << ", low " << s.low << ", "
            << extent.width << 'x' << extent.height;
      }
    }
}

/// Calls `check(canny, image, edges)` for noise in which most edges are weak and form long winding chains.
/// CUDA joins tiles of 32×32: each of the links between two pixels on both sides of a tile's border decides
/// about some edge of one of these pictures.
template <class Check>
void for_each_maze(Check check) {
  constexpr CannySettings settings{3, 100, 840, false};
  std::mt19937 random(20'261'129);
  for (int i = 0; i < 48; ++i) {
    SCOPED_TRACE(i);
    const Image image = noise({PixelFormat::gray8, {128, 96}}, random), edges = oracle(image, settings);
    Canny canny;
    ASSERT_EQ(canny.set("low", settings.low), std::nullopt);
    ASSERT_EQ(canny.set("high", settings.high), std::nullopt);
    check(canny, image, edges);
    Image deep({PixelFormat::gray16, image.format.extent}), deep_edges(deep.format);
    for (size_t k = 0; k < image.pixels.size(); ++k) {  // v · 257 has the byte v twice
      deep.pixels[2 * k] = deep.pixels[2 * k + 1] = image.pixels[k];
      deep_edges.pixels[2 * k] = deep_edges.pixels[2 * k + 1] = edges.pixels[k];
    }
    check(canny, deep, deep_edges);
  }
}

TEST(Canny, FollowsWeakEdgesEverywhere) {
  for_each_maze([](Canny& canny, const Image& image, const Image& edges) {
    const auto rig = make_cpu_rig(canny, {.images = {&image.format, 1}}, kAligned, 2);
    EXPECT_EQ(difference(edges, rig->run({image}).image), "");
  });
}

TEST(Canny, CudaFollowsWeakEdgesEverywhere) {
  if (const std::string reason = cuda_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  for_each_maze([](Canny& canny, const Image& image, const Image& edges) {
    const FilterInputs inputs{.images = {&image.format, 1}, .backend = Backend::cuda};
    EXPECT_EQ(difference(edges, make_cuda_rig(canny, inputs, kAligned)->run({image}).image), "");
  });
}

}  // namespace
}  // namespace lensd::test
