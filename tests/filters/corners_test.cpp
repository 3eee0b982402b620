// Corner detection for klt: both backends against the oracle, byte for byte, and the oracle against known
// properties.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <ostream>
#include <random>

#include "core/device/memory.hpp"
#include "core/device/workers.hpp"
#include "kernels/corners/corners.hpp"
#include "kernels/corners/corners_math.hpp"
#include "tests/filters/harness.hpp"
#if LENSD_CUDA
#include "core/device/cuda_handles.hpp"
#endif

namespace lensd {

bool operator==(const Corner& a, const Corner& b) {
  return a.x == b.x && a.y == b.y && a.strength == b.strength;
}
std::ostream& operator<<(std::ostream& out, const Corner& c) {
  return out << '(' << c.x << ", " << c.y << ": " << std::bit_cast<float>(c.strength) << ')';
}

namespace test {
namespace {

struct CornerCase {
  Image luma;
  CornerParams params;
  std::vector<Track> living;
  uint32_t wanted = 1000;
};

struct Found {
  std::vector<Corner> corners;
  CornerCount count;
};

std::vector<uint8_t> table_of(const std::vector<Track>& tracks) {
  std::vector<uint8_t> bytes(track_table_bytes(static_cast<int>(tracks.size())));
  TrackTable header;
  header.capacity = static_cast<uint32_t>(tracks.size());
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!tracks.empty())
    std::memcpy(bytes.data() + sizeof header, tracks.data(), tracks.size() * sizeof(Track));
  return bytes;
}

Found expected(const CornerCase& test) {
  const std::vector<uint8_t> table = table_of(test.living);
  Found found;
  found.corners = corners_reference(test.luma, test.params, reinterpret_cast<const TrackTable*>(table.data()),
                                    test.wanted, found.count);
  return found;
}

/// Detects corners on the CPU. Fills scratch and worker memory with a pattern first.
Found on_cpu(const CornerCase& test, int threads) {
  const Extent e = test.luma.format.extent;
  const size_t pitch = align_up(static_cast<size_t>(e.width), 64);
  MemoryBlock pixels(MemoryKind::host, pitch * static_cast<size_t>(e.height));
  for (int y = 0; y < e.height; ++y)
    std::memcpy(pixels.data() + pitch * static_cast<size_t>(y),
                &test.luma.pixels[test.luma.format.row_bytes() * static_cast<size_t>(y)],
                static_cast<size_t>(e.width));
  const std::vector<uint8_t> table = table_of(test.living);
  MemoryBlock scratch(MemoryKind::host, corner_scratch_bytes(e));
  std::memset(scratch.data(), 0xa5, scratch.size());
  std::vector<MemoryBlock> private_memory;
  for (int i = 0; i < threads; ++i) {
    private_memory.emplace_back(MemoryKind::host, corner_worker_bytes(e));
    std::memset(private_memory.back().data(), 0xa5, private_memory.back().size());
  }
  const FrameBlock frame{.state_index = 0};
  Found found;
  found.corners.resize(static_cast<size_t>(test.params.capacity));
  found.count = {77, 77};
  const CornerJob job{{{nullptr, pixels.data()}, &frame, static_cast<std::ptrdiff_t>(pitch), e},
                      &test.params,
                      reinterpret_cast<const TrackTable*>(table.data()),
                      &test.wanted,
                      found.corners.data(),
                      &found.count,
                      scratch.data()};
  struct Call {
    const CornerJob& job;
    std::vector<MemoryBlock>& memory;
    const CornerPass* pass;
  } call{job, private_memory, nullptr};
  Workers workers(threads);
  for (const CornerPass& pass : corner_passes(e, test.params.capacity, Backend::cpu)) {
    call.pass = &pass;
    workers.run(
        pass.spec.items, pass.spec.grain,
        [](void* context, Band band, int worker) {
          Call& c = *static_cast<Call*>(context);
          c.pass->run(c.job, band, c.memory[static_cast<size_t>(worker)].data());
        },
        &call);
  }
  EXPECT_LE(found.count.found, found.corners.size());
  found.corners.resize(found.count.found);
  return found;
}

#if LENSD_CUDA
Found on_cuda(const CornerCase& test) {
  const Extent e = test.luma.format.extent;
  const size_t pitch = align_up(static_cast<size_t>(e.width), 64), rows = static_cast<size_t>(e.height);
  const std::vector<uint8_t> table = table_of(test.living);
  const size_t capacity = static_cast<size_t>(test.params.capacity);
  const auto device = [](size_t bytes) { return MemoryBlock(MemoryKind::device, bytes); };
  const auto copy = [](void* to, const void* from, size_t bytes) {
    LENSD_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
  };
  const MemoryBlock pixels = device(pitch * rows), living = device(table.size()),
                    params = device(sizeof(CornerParams)), wanted = device(4),
                    frame = device(sizeof(FrameBlock)), corners = device(capacity * sizeof(Corner)),
                    count = device(sizeof(CornerCount)), scratch = device(corner_scratch_bytes(e));
  for (size_t y = 0; y < rows; ++y)
    copy(pixels.data() + pitch * y, &test.luma.pixels[test.luma.format.row_bytes() * y],
         static_cast<size_t>(e.width));
  const FrameBlock block{.state_index = 0};
  copy(living.data(), table.data(), table.size()), copy(params.data(), &test.params, sizeof(CornerParams));
  copy(wanted.data(), &test.wanted, 4), copy(frame.data(), &block, sizeof block);
  LENSD_CUDA_CHECK(cudaMemset(scratch.data(), 0xa5, scratch.size()));
  LENSD_CUDA_CHECK(cudaMemset(count.data(), 0xa5, count.size()));
  LENSD_CUDA_CHECK(cudaDeviceSynchronize());
  const CornerJob job{{{nullptr, pixels.data()},
                       reinterpret_cast<const FrameBlock*>(frame.data()),
                       static_cast<std::ptrdiff_t>(pitch),
                       e},
                      reinterpret_cast<const CornerParams*>(params.data()),
                      reinterpret_cast<const TrackTable*>(living.data()),
                      reinterpret_cast<const uint32_t*>(wanted.data()),
                      reinterpret_cast<Corner*>(corners.data()),
                      reinterpret_cast<CornerCount*>(count.data()),
                      scratch.data()};
  cuda::Stream stream;
  for (const CornerPass& pass : corner_passes(e, test.params.capacity, Backend::cuda))
    pass.launch(job, stream.get());
  LENSD_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
  Found found;
  copy(&found.count, count.data(), sizeof(CornerCount));
  EXPECT_LE(found.count.found, capacity);
  found.corners.resize(std::min<size_t>(found.count.found, capacity));
  copy(found.corners.data(), corners.data(), found.corners.size() * sizeof(Corner));
  return found;
}
#endif

void expect_same(const Found& actual, const Found& reference, const std::string& what) {
  EXPECT_EQ(actual.count.found, reference.count.found) << what;
  EXPECT_EQ(actual.count.strongest, reference.count.strongest) << what;
  for (size_t i = 0; i < std::min(actual.corners.size(), reference.corners.size()); ++i)
    ASSERT_EQ(actual.corners[i], reference.corners[i]) << what << ", corner " << i;
}

enum class Side { cpu, cuda };

void compare(const CornerCase& test, Side side, const std::string& what) {
  const Found reference = expected(test);
  if (side == Side::cpu) {
    expect_same(on_cpu(test, 1), reference, what + ", 1 thread");
    expect_same(on_cpu(test, 2), reference, what + ", 2 threads");
  }
#if LENSD_CUDA
  if (side == Side::cuda) expect_same(on_cuda(test), reference, what);
#endif
}

template <class Value>
Image picture(Extent e, Value value) {
  Image image({PixelFormat::gray8, e});
  for (int y = 0; y < e.height; ++y)
    for (int x = 0; x < e.width; ++x) image.at(x, y) = static_cast<uint8_t>(value(x, y));
  return image;
}

Image noise_of(Extent e, std::mt19937& random) {
  return noise({PixelFormat::gray8, e}, random);
}

/// Overlapping rectangles with some noise: like real pictures, few strong and many weak corners.
Image scene(Extent e, std::mt19937& random) {
  Image image = picture(e, [](int x, int y) { return 90 + (x + 2 * y) / 32 % 32; });
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int i = 0; i < 20 + e.width * e.height / 4000; ++i) {
    const int x0 = below(e.width), y0 = below(e.height), x1 = std::min(e.width, x0 + 3 + below(40)),
              y1 = std::min(e.height, y0 + 3 + below(40)), value = below(200);
    for (int y = y0; y < y1; ++y)
      for (int x = x0; x < x1; ++x) image.at(x, y) = static_cast<uint8_t>(value);
  }
  for (uint8_t& v : image.pixels) v = static_cast<uint8_t>(v + below(9));
  return image;
}

std::vector<Track> tracks_in(Extent e, int count, std::mt19937& random) {
  std::vector<Track> tracks(static_cast<size_t>(count));
  for (Track& t : tracks) {
    t.status = static_cast<TrackStatus>(random() % kTrackStatuses);
    t.x = static_cast<float>(random() % 65536) / 65536.0f * static_cast<float>(e.width - 1);
    t.y = static_cast<float>(random() % 65536) / 65536.0f * static_cast<float>(e.height - 1);
  }
  return tracks;
}

constexpr Extent kCornerSizes[] = {{1, 1},   {1, 7},   {7, 1},   {2, 2},    {3, 3},    {5, 4},
                                   {16, 16}, {17, 31}, {64, 64}, {130, 35}, {641, 479}};

/// Compares pictures of every size, with random parameters.
void compare_sizes(Side side) {
  std::mt19937 random(1);
  for (const Extent e : kCornerSizes)
    for (int round = 0; round < (e.width > 200 ? 8 : 24); ++round) {
      const auto pick = [&](auto... values) {
        const float all[] = {static_cast<float>(values)...};
        return all[random() % std::size(all)];
      };
      CornerCase test;
      const int kind = static_cast<int>(random() % 5);
      const int level = static_cast<int>(random() & 255);
      test.luma = kind == 0   ? picture(e, [&](int, int) { return level; })
                  : kind == 1 ? picture(e, [&](int x, int y) { return (x / 4 + y / 4) % 2 * level; })
                  : kind == 2 ? noise_of(e, random)
                  : kind == 3 ? picture(e, [&](int x, int y) { return (x & 4) * 20 + (y & 4) * 30; })
                              : scene(e, random);
      test.params = {.block = static_cast<int>(pick(1, 2, 3, 3, 3, 4, 5, 7, 8, 9, e.width > 200 ? 3 : 31)),
                     .quality = pick(0, 0.001, 0.01, 0.01, 0.1, 1),
                     .min_distance = pick(0, 0.5, 1, 1.5, 2, 3, 7.3, 8, 8, 20, 63, 100, 1e9),
                     .capacity = static_cast<int>(pick(1, 100, 1000, 16384))};
      test.wanted = static_cast<uint32_t>(pick(0, 1, 50, 1000, 16384));
      if (random() % 2) test.living = tracks_in(e, static_cast<int>(pick(1, 30, 500)), random);
      compare(test, side,
              std::to_string(e.width) + "x" + std::to_string(e.height) + " kind " + std::to_string(kind) +
                  " block " + std::to_string(test.params.block) + " quality " +
                  std::to_string(test.params.quality) + " distance " +
                  std::to_string(test.params.min_distance) + " wanted " + std::to_string(test.wanted));
      if (testing::Test::HasFatalFailure()) return;
    }
}

void compare_large(Side side) {
  std::mt19937 random(2);
  const Extent e{1920, 1080};
  CornerCase test{.luma = scene(e, random), .params = {.capacity = 3300}, .living = {}, .wanted = 3300};
  compare(test, side, "scene");
  test.living = tracks_in(e, 3300, random), test.params.min_distance = 30;
  compare(test, side, "scene with tracks");
  test = {
      .luma = noise_of(e, random), .params = {.capacity = kMaxTracks}, .living = {}, .wanted = kMaxTracks};
  compare(test, side, "noise");
  test.params.quality = 0, test.params.min_distance = 0;
  compare(test, side, "noise without distance");
  // A pattern with tens of thousands of corners of equal strength.
  test.luma = picture(e, [](int x, int y) { return (x & 4) * 20 + (y & 4) * 30; });
  test.params.min_distance = 8, test.params.quality = 0.01f;
  compare(test, side, "pattern");
}

/// Compares pictures with more accepted corners than are ranked directly on CUDA, of equal, of few and of
/// many different strengths.
void compare_crowds(Side side) {
  std::mt19937 random(6);
  const Extent e{1536, 1536};
  const auto chequer = [](int x, int y) { return (x & 4) * 20 + (y & 4) * 30; };
  const Image pictures[] = {picture(e, chequer),
                            picture(e, [&](int x, int y) { return chequer(x, y) >> (x / 192 % 3); }),
                            noise_of({900, 700}, random)};
  for (const uint32_t wanted : {1u, 1000u, static_cast<uint32_t>(kMaxTracks)})
    for (size_t i = 0; i < std::size(pictures); ++i) {
      const float distance = i == 2 ? 0.0f : 8.0f;
      CornerCase test{.luma = pictures[i],
                      .params = {.quality = 0, .min_distance = distance, .capacity = kMaxTracks},
                      .living = {},
                      .wanted = wanted};
      compare(test, side, "picture " + std::to_string(i) + ", wanted " + std::to_string(wanted));
    }
}

TEST(Corners, CpuFindsWhatTheOracleFinds) {
  compare_sizes(Side::cpu);
}
TEST(Corners, CpuFindsWhatTheOracleFindsInLargePictures) {
  compare_large(Side::cpu);
}
TEST(Corners, CudaFindsWhatTheOracleFinds) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << why;
  compare_sizes(Side::cuda);
}
TEST(Corners, CudaFindsWhatTheOracleFindsInLargePictures) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << why;
  compare_large(Side::cuda);
}

TEST(Corners, CpuFindsWhatTheOracleFindsAmongVeryMany) {
  compare_crowds(Side::cpu);
}
TEST(Corners, CudaFindsWhatTheOracleFindsAmongVeryMany) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << why;
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
    const Image edge = picture({64, 48}, [&](int x, int y) { return x + slope * y < 40 ? 13 : 200; });
    const Found found = expected({.luma = edge, .params = {.quality = 0}});
    // At the picture's border, a slanted edge and its mirror image form corners; inside there are none.
    for (const Corner& c : found.corners) EXPECT_TRUE(c.x < 2 || c.y < 2 || c.x > 61 || c.y > 45) << c;
    if (slope == 0) {
      EXPECT_TRUE(found.corners.empty());
    }
  }
}

TEST(Corners, ASquareHasFourOfEqualStrength) {
  const Image square =
      picture({60, 50}, [](int x, int y) { return x >= 20 && x < 41 && y >= 10 && y < 31 ? 180 : 20; });
  const Found found = expected({.luma = square, .params = {.quality = 0.5f}});
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
  const Found found = on_cpu(test, 2);
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
  const Found found =
      on_cpu({.luma = noise_of({100, 80}, random), .params = {}, .living = {}, .wanted = 0}, 2);
  EXPECT_EQ(found.count.found, 0u);
  EXPECT_EQ(found.count.strongest, 0u);
}

}  // namespace
}  // namespace test
}  // namespace lensd
