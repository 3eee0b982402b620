// Corner detection for klt: both backends against the oracle, byte for byte, and the oracle against known
// properties.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels/corners/corners.hpp"
#include "kernels/corners/corners_math.hpp"
#include "tests/filters/corner_cases.hpp"
#include "tests/filters/harness.hpp"

namespace lensd {

namespace test {
namespace {

Image noise_of(Extent e, std::mt19937& random) {
  return noise({PixelFormat::gray8, e}, random);
}

const std::vector<Extent> kCornerSizes{{1, 1},   {1, 7},   {7, 1},   {2, 2},    {3, 3},    {5, 4},
                                       {16, 16}, {17, 31}, {64, 64}, {130, 35}, {641, 479}};
/// Sizes of pictures with many corners.
constexpr Extent kLarge{1920, 1080}, kCrowded{1536, 1536};

/// Compares pictures of every size, with random parameters.
void compare_sizes(Side side, bool deep = false) {
  std::mt19937 random(1);
  for (const Extent e : within_limit(kCornerSizes))
    for (int round = 0; round < (e.width > 200 ? 8 : 24); ++round) {
      const auto pick = [&](auto... values) {
        const float all[] = {static_cast<float>(values)...};
        return all[random() % std::size(all)];
      };
      CornerCase test;
      const int kind = static_cast<int>(random() % 5);
      const int level = static_cast<int>(random() & 255);
      test.luma = kind == 0   ? corner_picture(e, [&](int, int) { return level; })
                  : kind == 1 ? corner_picture(e, [&](int x, int y) { return (x / 4 + y / 4) % 2 * level; })
                  : kind == 2 ? noise_of(e, random)
                  : kind == 3 ? corner_picture(e, [&](int x, int y) { return (x & 4) * 20 + (y & 4) * 30; })
                              : corner_scene(e, random);
      if (deep) test.luma = with_fractions(test.luma, kind < 2 ? nullptr : &random);
      test.params = {.block = static_cast<int>(pick(1, 2, 3, 3, 3, 4, 5, 7, 8, 9, e.width > 200 ? 3 : 31)),
                     .quality = pick(0, 0.001, 0.01, 0.01, 0.1, 1),
                     .min_distance = pick(0, 0.5, 1, 1.5, 2, 3, 7.3, 8, 8, 20, 63, 100, 1e9),
                     .capacity = static_cast<int>(pick(1, 100, 1000, 16384))};
      test.wanted = static_cast<uint32_t>(pick(0, 1, 50, 1000, 16384));
      if (random() % 2) test.living = tracks_in(e, static_cast<int>(pick(1, 30, 500)), random);
      compare_corners(test, side,
                      std::to_string(e.width) + "x" + std::to_string(e.height) + " kind " +
                          std::to_string(kind) + " block " + std::to_string(test.params.block) + " quality " +
                          std::to_string(test.params.quality) + " distance " +
                          std::to_string(test.params.min_distance) + " wanted " +
                          std::to_string(test.wanted));
      if (testing::Test::HasFatalFailure()) return;
    }
}

/// Compares results for large pictures of a scene and of noise, whose luma has fractions.
void compare_large_deep(Side side) {
  const Extent e = kLarge;
  std::mt19937 random(7);
  for (const int block : {3, 31})
    for (const Image& image : {corner_scene(e, random), noise_of(e, random)}) {
      CornerCase test{.luma = with_fractions(image, &random),
                      .params = {.block = block, .capacity = 3300},
                      .living = tracks_in(e, 300, random),
                      .wanted = 3300};
      compare_corners(test, side, "block " + std::to_string(block));
    }
}

void compare_large(Side side) {
  const Extent e = kLarge;
  std::mt19937 random(2);
  CornerCase test{
      .luma = corner_scene(e, random), .params = {.capacity = 3300}, .living = {}, .wanted = 3300};
  compare_corners(test, side, "scene");
  test.living = tracks_in(e, 3300, random), test.params.min_distance = 30;
  compare_corners(test, side, "scene with tracks");
  test = {
      .luma = noise_of(e, random), .params = {.capacity = kMaxTracks}, .living = {}, .wanted = kMaxTracks};
  compare_corners(test, side, "noise");
  test.params.quality = 0, test.params.min_distance = 0;
  compare_corners(test, side, "noise without distance");
  // A pattern with tens of thousands of corners of equal strength.
  test.luma = corner_picture(e, [](int x, int y) { return (x & 4) * 20 + (y & 4) * 30; });
  test.params.min_distance = 8, test.params.quality = 0.01f;
  compare_corners(test, side, "pattern");
}

/// Compares pictures with more accepted corners than are ranked directly on CUDA, of equal, of few and of
/// many different strengths.
void compare_crowds(Side side) {
  const Extent e = kCrowded;
  std::mt19937 random(6);
  const auto chequer = [](int x, int y) { return (x & 4) * 20 + (y & 4) * 30; };
  const Image pictures[] = {corner_picture(e, chequer),
                            corner_picture(e, [&](int x, int y) { return chequer(x, y) >> (x / 192 % 3); }),
                            noise_of({900, 700}, random)};
  for (const uint32_t wanted : {1u, 1000u, static_cast<uint32_t>(kMaxTracks)})
    for (size_t i = 0; i < std::size(pictures); ++i) {
      const float distance = i == 2 ? 0.0f : 8.0f;
      CornerCase test{.luma = pictures[i],
                      .params = {.quality = 0, .min_distance = distance, .capacity = kMaxTracks},
                      .living = {},
                      .wanted = wanted};
      compare_corners(test, side, "picture " + std::to_string(i) + ", wanted " + std::to_string(wanted));
    }
}

TEST(Corners, CpuFindsWhatTheOracleFinds) {
  compare_sizes(Side::cpu);
}
TEST(Corners, CpuFindsWhatTheOracleFindsInLargePictures) {
  if (!within_limit(kLarge)) GTEST_SKIP() << "LENSD_MAX_PIXELS";
  compare_large(Side::cpu);
}
TEST(Corners, CudaFindsWhatTheOracleFinds) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << why;
  compare_sizes(Side::cuda);
}
TEST(Corners, CudaFindsWhatTheOracleFindsInLargePictures) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << why;
  if (!within_limit(kLarge)) GTEST_SKIP() << "LENSD_MAX_PIXELS";
  compare_large(Side::cuda);
}

TEST(DeepCorners, CpuFindsWhatTheOracleFinds) {
  compare_sizes(Side::cpu, true);
}
TEST(DeepCorners, CpuFindsWhatTheOracleFindsInLargePictures) {
  if (!within_limit(kLarge)) GTEST_SKIP() << "LENSD_MAX_PIXELS";
  compare_large_deep(Side::cpu);
}
TEST(DeepCorners, CudaFindsWhatTheOracleFinds) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << why;
  compare_sizes(Side::cuda, true);
}
TEST(DeepCorners, CudaFindsWhatTheOracleFindsInLargePictures) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << why;
  if (!within_limit(kLarge)) GTEST_SKIP() << "LENSD_MAX_PIXELS";
  compare_large_deep(Side::cuda);
}

TEST(DeepCorners, WithoutFractionsAreThoseOf8Bits) {
  std::mt19937 random(8);
  for (const int block : {2, 3, 5, 9, 31}) {
    CornerCase test{.luma = corner_scene({320, 200}, random), .params = {.block = block}, .living = {}};
    const FoundCorners found = corners_on_cpu(test, 1);
    ASSERT_GT(found.corners.size(), 50u);
    test.luma = with_fractions(test.luma, nullptr);
    const FoundCorners deep = corners_on_cpu(test, 1);
    ASSERT_EQ(deep.corners.size(), found.corners.size());
    for (size_t i = 0; i < found.corners.size(); ++i) {
      EXPECT_EQ(deep.corners[i].x, found.corners[i].x) << "block " << block << ", corner " << i;
      EXPECT_EQ(deep.corners[i].y, found.corners[i].y) << "block " << block << ", corner " << i;
    }
  }
}

TEST(DeepCorners, AreFoundWithinOneGreyLevel) {
  // The square has half a grey level more than its surroundings.
  Image square({PixelFormat::gray16, {60, 50}});
  for (int y = 0; y < 50; ++y)
    for (int x = 0; x < 60; ++x)
      square.set_sample(x, y, 0, 77 * 128 + (x >= 20 && x < 41 && y >= 10 && y < 31 ? 64 : 0));
  const FoundCorners found = corners_on_cpu({.luma = square, .params = {.quality = 0.5f}, .living = {}}, 1);
  ASSERT_EQ(found.corners.size(), 4u);
  const int xs[] = {20, 40, 20, 40}, ys[] = {10, 10, 30, 30};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(found.corners[i].x, xs[i], 1) << i;
    EXPECT_NEAR(found.corners[i].y, ys[i], 1) << i;
  }
}

TEST(Corners, CpuFindsWhatTheOracleFindsAmongVeryMany) {
  if (!within_limit(kCrowded)) GTEST_SKIP() << "LENSD_MAX_PIXELS";
  compare_crowds(Side::cpu);
}
TEST(Corners, CudaFindsWhatTheOracleFindsAmongVeryMany) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << why;
  if (!within_limit(kCrowded)) GTEST_SKIP() << "LENSD_MAX_PIXELS";
  compare_crowds(Side::cuda);
}

TEST(Corners, EigenvalueIsThatOfTheTensor) {
  EXPECT_EQ(corner_eigenvalue(0, 0, 0), 0.0f);
  EXPECT_EQ(corner_eigenvalue(2 * 7, 7, 0), 7.0f);          // a multiple of the identity matrix
  EXPECT_EQ(corner_eigenvalue(30 + 1001, 1001, 0), 30.0f);  // diagonal
  std::mt19937 random(3);
  for (int i = 0; i < 10000; ++i) {
    // The structure tensor of two gradients, with values up to those of the largest block.
    const int limit = i % 2 ? 1000 : 21000;
    const auto any = [&] { return static_cast<int>(random() % static_cast<unsigned>(2 * limit)) - limit; };
    const int px = any(), py = any(), qx = any(), qy = any();
    const int32_t a = px * px + qx * qx, c = py * py + qy * qy, b = px * py + qx * qy;
    const double expected_value = (a + c - std::hypot(double(a) - c, 2.0 * b)) / 2;
    ASSERT_NEAR(corner_eigenvalue(a + c, a, b), expected_value,
                1e-6 * expected_value + 1e-6 * (1 + std::abs(double(a) + c) * 1e-9));
  }
}

TEST(Corners, AStraightEdgeHasNone) {
  for (const int slope : {0, 1}) {
    const Image edge = corner_picture({64, 48}, [&](int x, int y) { return x + slope * y < 40 ? 13 : 200; });
    const FoundCorners found = expected_corners({.luma = edge, .params = {.quality = 0}});
    // At the picture's border, a slanted edge and its mirror image form corners; inside there are none.
    for (const Corner& c : found.corners) EXPECT_TRUE(c.x < 2 || c.y < 2 || c.x > 61 || c.y > 45) << c;
    if (slope == 0) {
      EXPECT_TRUE(found.corners.empty());
    }
  }
}

TEST(Corners, ASquareHasFourOfEqualStrength) {
  const Image square = corner_picture(
      {60, 50}, [](int x, int y) { return x >= 20 && x < 41 && y >= 10 && y < 31 ? 180 : 20; });
  const FoundCorners found = expected_corners({.luma = square, .params = {.quality = 0.5f}});
  ASSERT_EQ(found.corners.size(), 4u);
  const int xs[] = {20, 40, 20, 40}, ys[] = {10, 10, 30, 30};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(found.corners[i].x, xs[i], 1) << i;
    EXPECT_NEAR(found.corners[i].y, ys[i], 1) << i;
    EXPECT_EQ(found.corners[i].strength, found.count.strongest);
  }
}

TEST(Corners, KeepTheirDistanceAndTheirOrder) {
  std::mt19937 random(4);
  CornerCase test{.luma = noise_of({300, 200}, random), .params = {.min_distance = 12.5f}, .living = {}};
  test.living = tracks_in({300, 200}, 40, random);
  const FoundCorners found = corners_on_cpu(test, 2);
  ASSERT_GT(found.corners.size(), 50u);
  const auto distance = [](double ax, double ay, double bx, double by) {
    return std::hypot(ax - bx, ay - by);
  };
  for (size_t i = 0; i < found.corners.size(); ++i) {
    const Corner& c = found.corners[i];
    for (size_t j = 0; j < i; ++j) {
      EXPECT_LE(c.strength, found.corners[j].strength);
      EXPECT_GE(distance(c.x, c.y, found.corners[j].x, found.corners[j].y), 12.5);
    }
    for (const Track& t : test.living)
      if (is_alive(t.status)) {
        EXPECT_GE(distance(c.x, c.y, std::floor(t.x + 0.5f), std::floor(t.y + 0.5f)), 12.5);
      }
  }
}

TEST(Corners, DetectsNothingIfNothingIsRequested) {
  std::mt19937 random(5);
  const FoundCorners found =
      corners_on_cpu({.luma = noise_of({100, 80}, random), .params = {}, .living = {}, .wanted = 0}, 2);
  EXPECT_EQ(found.count.found, 0u);
  EXPECT_EQ(found.count.strongest, 0u);
}

}  // namespace
}  // namespace test
}  // namespace lensd
