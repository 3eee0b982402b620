// klt reads the luma of an upright source directly. If the source is rotated or mirrored, klt must read the
// upright picture.

#include <gtest/gtest.h>

#include <cmath>

#include "core/graph/exec/executor.hpp"
#include "kernels/registry.hpp"

namespace lensd {
namespace {

constexpr Extent kUpright{160, 120};

/// A full-range gray picture of the given stored size.
PictureInfo gray_info(Extent stored) {
  PictureInfo info;
  info.extent = stored, info.colour.range = Range::full;
  info.format = {
      .model = ColourModel::gray, .depth = 8, .plane_count = 1, .components = {{{0, 1, 0, 0}, {}, {}, {}}}};
  return info;
}

/// Bright rectangles on a dark ground, shifted by `shift` to the right.
uint8_t upright_sample(int x, int y, int shift) {
  const int u = x - shift - 9, v = y - 7;
  if (u < 0 || v < 0) return 40;
  return u % 37 < 15 && v % 29 < 12 ? static_cast<uint8_t>(120 + u / 37 * 30 + v / 29 * 5) : 40;
}

struct Turn {
  const char* name;
  Orientation orientation;
};

class TurnedSource : public testing::TestWithParam<Turn> {
 protected:
  /// Returns the stored pixels. A transposition and then the flips make the picture upright.
  static std::vector<uint8_t> stored(const Orientation& how, Extent size, int shift) {
    std::vector<uint8_t> pixels(static_cast<size_t>(size.width) * static_cast<size_t>(size.height));
    for (int y = 0; y < kUpright.height; ++y)
      for (int x = 0; x < kUpright.width; ++x) {
        const int a = how.flip_x ? kUpright.width - 1 - x : x, b = how.flip_y ? kUpright.height - 1 - y : y;
        const int column = how.transpose ? b : a, row = how.transpose ? a : b;
        pixels[static_cast<size_t>(row * size.width + column)] = upright_sample(x, y, shift);
      }
    return pixels;
  }

  /// Returns the tracks after two frames. The second one is shifted by 3 pixels to the right.
  static std::vector<Track> tracks(const Orientation& how, Backend backend) {
    Profiler profiler;
    Timeline timeline;
    const auto executor = make_executor(backend, {.threads = 1, .frames = 3}, profiler, timeline);
    PictureInfo info = gray_info(how.transpose ? Extent{kUpright.height, kUpright.width} : kUpright);
    info.orientation = how;
    executor->install(make_plan(parse_chain("klt=max_features=100", registry()), info, backend, registry()));
    std::vector<Track> result;
    for (int i = 0; i < 2; ++i) {
      const std::vector<uint8_t> pixels = stored(how, info.extent, 3 * i);
      PictureRef ref;
      ref.info = info, ref.planes[0] = pixels.data(), ref.pitch_bytes[0] = info.extent.width;
      const Frame frame = executor->run(Picture(ref, {.index = i}, nullptr));
      frame.wait_ready();
      const TrackTable* table = frame.tracks();
      if (!table) break;
      EXPECT_EQ(table->picture, kUpright);
      result.assign(table->tracks(), table->tracks() + table->capacity);
    }
    return result;
  }

  static void expect_same_tracks(Backend backend) {
    const std::vector<Track> upright = tracks({}, backend), turned = tracks(GetParam().orientation, backend);
    ASSERT_EQ(turned.size(), upright.size());
    int followed = 0;
    for (size_t i = 0; i < upright.size(); ++i) {
      ASSERT_EQ(turned[i].status, upright[i].status) << i;
      if (upright[i].status != TrackStatus::tracked) continue;
      EXPECT_EQ(turned[i].x, upright[i].x);
      EXPECT_EQ(turned[i].y, upright[i].y);
      followed += std::abs(turned[i].x - turned[i].previous_x - 3) < 0.1f ? 1 : 0;
    }
    EXPECT_GT(followed, 20) << "corners of rectangles that move to the right";
  }
};

TEST_P(TurnedSource, KltSeesTheTurnedPicture) {
  expect_same_tracks(Backend::cpu);
  if (probe_cuda().available) expect_same_tracks(Backend::cuda);
}

INSTANTIATE_TEST_SUITE_P(Turns, TurnedSource,
                         testing::Values(Turn{"clockwise", {true, true, false}},
                                         Turn{"counterclockwise", {true, false, true}},
                                         Turn{"half", {false, true, true}},
                                         Turn{"mirrored", {false, true, false}}),
                         [](const auto& turn) { return turn.param.name; });

}  // namespace
}  // namespace lensd
