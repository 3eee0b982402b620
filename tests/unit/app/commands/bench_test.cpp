// lensd bench: sizes, the buffers of cold runs, moving pictures and tracks with known positions.
#include <gtest/gtest.h>

#include <cmath>

#include "app/commands/bench/bench.hpp"
#include "app/commands/bench/bench_rig.hpp"
#include "app/commands/bench/motion.hpp"
#include "core/base/error.hpp"
#include "core/image/tracks.hpp"

namespace lensd {
namespace {

TEST(BenchSizes, HaveNamesOrSides) {
  EXPECT_EQ(bench::parse_size("720p").extent, (Extent{1280, 720}));
  EXPECT_EQ(bench::parse_size("1080p").extent, (Extent{1920, 1080}));
  EXPECT_EQ(bench::parse_size("4k").extent, (Extent{3840, 2160}));
  EXPECT_EQ(bench::parse_size("8k").extent, (Extent{7680, 4320}));
  EXPECT_EQ(bench::parse_size("641x239").extent, (Extent{641, 239}));
  EXPECT_EQ(bench::parse_size("641x239").name, "641x239");
  EXPECT_EQ(bench::parse_size("4k").name, "4k");
  try {
    bench::parse_size("16k");
    FAIL() << "16k is a size";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
}

TEST(BenchBuffers, AreTogetherMoreThanTwiceTheCache) {
  EXPECT_EQ(bench::rotation(100, 1000, 64), 22u);
  EXPECT_EQ(bench::rotation(1, 1000, 64), 64u) << "the most";
  EXPECT_EQ(bench::rotation(1'000'000, 1000, 64), 2u) << "the least";
  EXPECT_EQ(bench::rotation(0, 1000, 64), 64u);
}

TEST(BenchMedian, IsTheMiddleOfTheSortedTimes) {
  EXPECT_EQ(bench::median({5, 1, 9}), 5);
  EXPECT_EQ(bench::median({7}), 7);
  EXPECT_EQ(bench::median({4, 100, 1, 3, 2}), 3);
}

TEST(BenchMotion, TurnsAndScalesAroundTheCentreThenShifts) {
  constexpr Extent kPicture{101, 51};  // the centre is (50, 25)
  const auto expect_point = [](const bench::Point& p, double x, double y) {
    EXPECT_NEAR(p.x, x, 1e-9);
    EXPECT_NEAR(p.y, y, 1e-9);
  };
  const bench::Motion shift{.name = "", .x = 3, .y = -2}, turn{.name = "", .degrees = 90};
  const bench::Motion zoom{.name = "", .zoom = 2};
  expect_point(shift.apply({10, 20}, kPicture), 13, 18);
  expect_point(turn.apply({60, 25}, kPicture), 50, 35);
  expect_point(turn.apply({50, 35}, kPicture), 40, 25);
  expect_point(zoom.apply({60, 30}, kPicture), 70, 35);
  const bench::Motion all{.name = "", .x = 3, .y = -2, .degrees = 90, .zoom = 2};
  expect_point(all.apply({60, 25}, kPicture), 53, 43);
  expect_point(all.undo({53, 43}, kPicture), 60, 25);
  expect_point(all.undo(all.apply({12.5, 47.25}, kPicture), kPicture), 12.5, 47.25);
}

TEST(BenchTracks, CircleByThreePixelsPerFrame) {
  const auto tables = bench::circling_tracks({640, 480});
  ASSERT_EQ(tables.size(), 32u);
  const auto track = [&](size_t frame, size_t slot) {
    return reinterpret_cast<const TrackTable*>(tables[frame].data())->tracks()[slot];
  };
  for (const size_t frame : {size_t{1}, size_t{16}, size_t{31}}) {
    const auto& table = *reinterpret_cast<const TrackTable*>(tables[frame].data());
    EXPECT_EQ(table.frame, static_cast<int64_t>(frame));
    EXPECT_EQ(table.alive, 1000u);
    EXPECT_EQ(table.capacity, 1000u);
    EXPECT_EQ(table.picture, (Extent{640, 480}));
    for (const size_t slot : {size_t{0}, size_t{999}}) {
      const Track now = track(frame, slot), before = track(frame - 1, slot);
      EXPECT_EQ(now.id, slot + 1);
      EXPECT_TRUE(is_alive(now.status));
      EXPECT_NEAR(now.previous_x, before.x, 1e-3);
      EXPECT_NEAR(now.previous_y, before.y, 1e-3);
      EXPECT_NEAR(std::hypot(now.x - before.x, now.y - before.y), 2.94, 0.01) << "a 32nd of a circle";
      const Track opposite = track((frame + 16) % 32, slot);
      EXPECT_NEAR(std::hypot(now.x - opposite.x, now.y - opposite.y), 30, 0.01) << "the diameter";
      EXPECT_GT(now.x, 0.1f * 639 - 15.1f);
      EXPECT_LT(now.x, 0.9f * 639 + 15.1f);
      EXPECT_GT(now.y, 0.1f * 479 - 15.1f);
      EXPECT_LT(now.y, 0.9f * 479 + 15.1f);
    }
  }
}

}  // namespace
}  // namespace lensd
