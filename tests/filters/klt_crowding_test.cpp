// klt ends the younger of two tracks that come too close, even if they are in different cells of the
// neighbour search.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/klt/klt.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/klt_tables.hpp"
#include "tests/filters/motions.hpp"

namespace lensd::test {

using namespace bench;

namespace {

constexpr Extent kCrowdedSize{400, 300};
const ImageFormat kGray{PixelFormat::gray8, kCrowdedSize};

/// Pairs of tracks that are too close, by the position of the older one relative to the younger one's cell.
struct Pairs {
  int inside = 0, beside = 0, above = 0, diagonal = 0;
};

double statistic(const RunOutput& output, const std::string& name) {
  for (const Statistic& s : output.stats)
    if (s.name == name) return s.value;
  ADD_FAILURE() << name;
  return -1;
}

/// Checks that exactly the tracks closer than `reach` to an older one are lost_crowded, except for rounding.
/// Adds these pairs to `pairs`. `reach` and the cells' side `cell` are in pixels.
void check(const Table& table, double reach, int cell, Pairs& pairs) {
  std::vector<Track> followed = table.with(TrackStatus::tracked);
  for (const Track& t : table.with(TrackStatus::lost_crowded)) followed.push_back(t);
  for (const Track& t : followed) {
    bool crowded = false, certain = true;
    for (const Track& older : followed) {
      if (older.id >= t.id) continue;
      const double distance = std::hypot(static_cast<double>(older.x) - static_cast<double>(t.x),
                                         static_cast<double>(older.y) - static_cast<double>(t.y));
      if (std::abs(distance - reach) < 1e-4) certain = false;
      if (distance >= reach) continue;
      crowded = true;
      const bool other_column = static_cast<int>(older.x) / cell != static_cast<int>(t.x) / cell;
      const bool other_row = static_cast<int>(older.y) / cell != static_cast<int>(t.y) / cell;
      ++(other_column && other_row ? pairs.diagonal
         : other_column            ? pairs.beside
         : other_row               ? pairs.above
                                   : pairs.inside);
    }
    if (certain) {
      EXPECT_EQ(t.status == TrackStatus::lost_crowded, crowded)
          << "track " << t.id << " at " << t.x << ' ' << t.y;
    }
  }
}

TEST(KltCrowding, TheYoungerOfTwoTracksEndsAlsoAcrossCellBorders) {
  const struct {
    double min_distance;
    int cell;  // at least 16 px, and at least half the distance
  } cases[] = {{20, 16}, {44, 22}};
  Pairs pairs;
  for (const auto& c : cases) {
    Klt klt;
    set_all(klt, {{"min_distance", c.min_distance}, {"redetect_below", 0.6}, {"max_features", int64_t{600}}});
    const auto rig = make_cpu_rig(klt, {.images = {&kGray, 1}}, kAligned, 2);
    uint32_t crowded = 0;
    for (int i = 0; i < 14; ++i) {  // the picture shrinks to less than half its size
      const Motion shrunk{.name = "", .zoom = std::pow(0.94, i)};
      const RunOutput output = rig->run({textured(kCrowdedSize, shrunk)});
      const Table table{output.stats_bytes};
      check(table, c.min_distance / 2, c.cell, pairs);
      EXPECT_EQ(statistic(output, "lost_crowded"), table.count(TrackStatus::lost_crowded));
      EXPECT_EQ(table.with(TrackStatus::lost_crowded).size(), table.count(TrackStatus::lost_crowded));
      crowded += table.count(TrackStatus::lost_crowded);
    }
    EXPECT_GT(crowded, 10u);
  }
  EXPECT_GT(pairs.inside, 0);
  EXPECT_GT(pairs.beside, 0);
  EXPECT_GT(pairs.above, 0);
  EXPECT_GT(pairs.diagonal, 0);
}

}  // namespace
}  // namespace lensd::test
