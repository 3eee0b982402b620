// klt with known motion, the guarantees of its tables, and pictures with few features.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "kernels/klt/klt_affine.hpp"
#include "tests/filters/klt_tracker.hpp"

namespace lensd::test {
namespace {

// ---------------------------------------------------------------------------------------------- known motion

class KnownMotion : public testing::TestWithParam<Motion> {};

TEST_P(KnownMotion, IsFollowedToAFractionOfAPixel) {
  const Motion& motion = GetParam();
  Tracker tracker(kGrayScene, {});
  tracker.run(textured(kScene, {}, {.noise = 2, .seed = 1}));
  const Table table = tracker.run(textured(kScene, motion, {.noise = 2, .seed = 2}));
  const auto [there, errors] = accuracy(table, motion);
  ASSERT_GT(there, 200u);
  EXPECT_GE(static_cast<double>(errors.size()), 0.97 * static_cast<double>(there));
  EXPECT_LE(quantile(errors, 0.5), 0.05);
  EXPECT_LE(quantile(errors, 0.95), 0.15);
}

INSTANTIATE_TEST_SUITE_P(Klt, KnownMotion, testing::ValuesIn(motions()), [](const auto& parameter) {
  std::string label = parameter.param.name;
  std::replace_if(
      label.begin(), label.end(), [](char c) { return !std::isalnum(static_cast<uint8_t>(c)); }, '_');
  return label;
});

TEST(Klt, FollowsAStillPictureExactly) {
  Tracker tracker(kGrayScene, {});
  const Image image = textured(kScene, {}, {.noise = 2});
  const Table first = tracker.run(image), second = tracker.run(image);
  ASSERT_GT(first.header().alive, 200u);
  ASSERT_EQ(second.header().counts[2], first.header().alive);
  for (const Track& t : second.with(TrackStatus::tracked)) {
    EXPECT_EQ(t.x, t.previous_x);
    EXPECT_EQ(t.y, t.previous_y);
    EXPECT_EQ(t.residual, 0);
    EXPECT_EQ(t.return_error, 0);
    EXPECT_EQ(t.age, 1u);
  }
}

TEST(Klt, GainBiasKeepsTracksWhenTheLightChanges) {
  const Motion motion{.name = "", .x = 3.4, .y = -2.2};
  const auto kept = [&](bool gain_bias, double gain, double bias) {
    Tracker tracker(kGrayScene, {{"gain_bias", gain_bias}});
    tracker.run(textured(kScene, {}, {.noise = 1, .seed = 1}));
    const Table table =
        tracker.run(textured(kScene, motion, {.noise = 1, .gain = gain, .bias = bias, .seed = 2}));
    size_t right = 0;
    for (const Track& t : table.with(TrackStatus::tracked)) {
      const Point truth = motion.apply({t.previous_x, t.previous_y}, kScene);
      right += std::hypot(t.x - truth.x, t.y - truth.y) < 0.5 ? 1 : 0;
    }
    return static_cast<double>(right);
  };
  const double unchanged = kept(false, 1, 0);
  ASSERT_GT(unchanged, 200);
  EXPECT_GE(kept(true, 0.6, 20), 0.95 * unchanged);
  EXPECT_LT(kept(false, 0.6, 20), 0.8 * unchanged) << "the test checks nothing";
}

TEST(Klt, LosesWhatIsCovered) {
  Tracker tracker(kGrayScene, {{"redetect_below", 0.0}});
  const Table first = tracker.run(textured(kScene, {}, {.noise = 2, .seed = 1}));
  Image covered = textured(kScene, {}, {.noise = 2, .seed = 2});
  const Image cover = textured(kScene, {.name = "", .x = 1000, .y = 500, .degrees = 70});
  const auto hidden = [](float x, float y) { return x > 150 && x < 330 && y > 100 && y < 260; };
  for (int y = 100; y < 260; ++y)
    for (int x = 150; x < 330; ++x) covered.at(x, y) = cover.at(x, y);
  const Table table = tracker.run(covered);
  size_t under = 0, still = 0, beside = 0, kept = 0;
  for (const Track& t : table.all()) {
    if (t.status == TrackStatus::empty) continue;
    const bool away = t.previous_x < 130 || t.previous_x > 350 || t.previous_y < 80 || t.previous_y > 280;
    if (hidden(t.previous_x, t.previous_y)) ++under, still += is_alive(t.status) ? 1 : 0;
    if (away) ++beside, kept += is_alive(t.status) ? 1 : 0;
  }
  ASSERT_GT(under, 50u);
  ASSERT_GT(beside, 100u);
  EXPECT_LE(still * 100, under * 15) << "of " << under << "; waves of one texture look alike here and there";
  EXPECT_GE(kept * 100, beside * 99);
  EXPECT_EQ(table.header().alive, table.count(TrackStatus::tracked));
  EXPECT_EQ(first.header().alive,
            table.header().alive + table.count(TrackStatus::lost_outside) +
                table.count(TrackStatus::lost_texture) + table.count(TrackStatus::lost_residual) +
                table.count(TrackStatus::lost_return) + table.count(TrackStatus::lost_crowded));
}

TEST(Klt, AffineCheckEndsTracksThatDriftAndKeepsThoseThatTurn) {
  // One static texture fades into another: successive frames differ little.
  const Image from = textured(kScene, {}), to = textured(kScene, {.name = "", .x = 700, .degrees = 50});
  const auto left_of_fade = [&](bool check) {
    Tracker tracker(kGrayScene, {{"affine_check", check}, {"redetect_below", 0.0}});
    Table table = tracker.run(from);
    const double begun = table.header().alive;
    uint32_t drifted = 0;
    for (int i = 1; i <= 20; ++i) {
      Image mixed = from;
      for (size_t p = 0; p < mixed.pixels.size(); ++p)
        mixed.pixels[p] = static_cast<uint8_t>((from.pixels[p] * (20 - i) + to.pixels[p] * i) / 20);
      table = tracker.run(mixed);
      drifted += table.count(TrackStatus::lost_drift);
    }
    if (!check) {
      EXPECT_EQ(drifted, 0u);
    }
    return table.header().alive / begun;
  };
  EXPECT_LT(left_of_fade(true), 0.5 * left_of_fade(false));

  const Motion turn{.name = "", .degrees = 1, .zoom = 1.005};
  Tracker tracker(kGrayScene, {{"affine_check", true}, {"redetect_below", 0.0}});
  Table table = tracker.run(textured(kScene, {}, {.noise = 2}));
  const double begun = table.header().alive;
  uint32_t drifted = 0;
  for (unsigned i = 1; i <= 25; ++i) {
    table = tracker.run(textured(kScene, times(turn, i), {.noise = 2, .seed = i}));
    drifted += table.count(TrackStatus::lost_drift);
  }
  EXPECT_LT(drifted, 0.03 * begun);
  EXPECT_GT(table.header().alive, 0.5 * begun) << "of " << begun;
}

// ------------------------------------------------------------------------------- guarantees of the table

TEST(Klt, NumbersPlacesAndAgesStayWithTheirTracks) {
  const Motion drift{.name = "", .x = 9, .y = 4};
  Tracker tracker(kGrayScene, {{"max_features", int64_t{300}}, {"redetect_below", 0.95}});
  std::vector<Track> last;
  std::set<uint32_t> seen;
  uint32_t detections = 0;
  for (unsigned i = 0; i < 14; ++i) {
    const RunExtras extras{.cut = i == 9};
    const Table table = tracker.run(textured(kScene, times(drift, i), {.noise = 2, .seed = i + 1}), extras);
    const TrackTable& header = table.header();
    detections += header.detected;
    EXPECT_EQ(header.frame, i);
    EXPECT_EQ(header.capacity, 300u);
    std::vector<uint32_t> ages;
    size_t listed[kTrackStatuses] = {};
    const std::vector<Track> tracks = table.all();
    for (size_t p = 0; p < tracks.size(); ++p) {
      const Track& t = tracks[p];
      ++listed[static_cast<size_t>(t.status)];
      if (t.status == TrackStatus::empty) continue;
      EXPECT_LT(t.id, header.next_id);
      if (is_alive(t.status)) ages.push_back(t.age);
      if (t.status == TrackStatus::fresh) {
        EXPECT_TRUE(seen.insert(t.id).second) << "a repeated id";
        EXPECT_EQ(t.age, 0u);
        if (i != 9 && i > 0) {
          EXPECT_EQ(last[p].status == TrackStatus::fresh || last[p].status == TrackStatus::tracked, false);
        }
        continue;
      }
      ASSERT_GT(i, 0u);
      EXPECT_EQ(t.id, last[p].id);
      EXPECT_TRUE(is_alive(last[p].status)) << "lost twice";
      EXPECT_EQ(t.previous_x, last[p].x);
      EXPECT_EQ(t.strength, last[p].strength);
      EXPECT_EQ(t.status == TrackStatus::lost_cut, i == 9);
      if (t.status == TrackStatus::tracked) {
        EXPECT_EQ(t.age, last[p].age + 1);
      }
    }
    std::sort(ages.begin(), ages.end());
    EXPECT_EQ(header.median_age, ages.empty() ? 0 : ages[(ages.size() - 1) / 2]);
    EXPECT_EQ(header.alive, ages.size());
    for (size_t s = 0; s < kTrackStatuses; ++s)
      if (s != static_cast<size_t>(TrackStatus::lost_cut)) {
        EXPECT_EQ(header.counts[s], listed[s]) << s;
      }
    if (i == 9) {
      EXPECT_GT(header.counts[static_cast<size_t>(TrackStatus::lost_cut)], 200u);
    }
    if (i == 9) {
      EXPECT_GT(header.counts[static_cast<size_t>(TrackStatus::fresh)], 200u);
    }
    last = tracks;
  }
  EXPECT_GE(detections, 3u);
}

TEST(Klt, NewTracksKeepTheirDistance) {
  Tracker tracker(kGrayScene, {{"min_distance", 12.0}, {"redetect_below", 1.0}});
  for (unsigned i = 0; i < 4; ++i) {
    const Table table = tracker.run(textured(kScene, {.name = "", .x = 11.0 * i}, {.seed = i + 1}));
    for (const Track& a : table.with(TrackStatus::fresh))
      for (const Track& b : table.all())
        if (is_alive(b.status) && a.id != b.id) {
          EXPECT_GE(std::hypot(a.x - b.x, a.y - b.y), 12 - 0.75) << "living tracks count by their pixel";
        }
    for (const Track& a : table.with(TrackStatus::tracked))
      for (const Track& b : table.with(TrackStatus::tracked))
        if (a.id != b.id) {
          EXPECT_GE(std::hypot(a.x - b.x, a.y - b.y), 6 - 1e-4);
        }
  }
}

TEST(Klt, LiveParametersLeaveTracksAlone) {
  Tracker tracker(kGrayScene, {});
  tracker.run(textured(kScene, {}));
  tracker.set({{"quality", 0.2}, {"iterations", int64_t{30}}, {"fb_threshold", 0.5}, {"gain_bias", true}});
  const Table table = tracker.run(textured(kScene, {.name = "", .x = 1.5}));
  EXPECT_EQ(table.count(TrackStatus::lost_cut), 0u);
  EXPECT_GT(table.count(TrackStatus::tracked), 200u);
}

TEST(Klt, StatisticsSayWhatTheTableHolds) {
  Klt klt;
  const auto rig = make_cpu_rig(klt, {.images = {&kGrayScene, 1}}, kAligned, 1);
  rig->run({textured(kScene, {})});
  const RunOutput output = rig->run({textured(kScene, {.name = "", .x = 15}, {.noise = 2})});
  const Table table{output.stats_bytes};
  const auto value = [&](const std::string& label) {
    for (const Statistic& s : output.stats)
      if (s.name == label) return s.value;
    ADD_FAILURE() << label;
    return -1.0;
  };
  EXPECT_EQ(value("live"), table.header().alive);
  EXPECT_EQ(value("lost_outside"), table.count(TrackStatus::lost_outside));
  EXPECT_GT(value("lost_outside"), 0);
  EXPECT_EQ(value("median_age"), table.header().median_age);
  double sum = 0;
  for (const Track& t : table.with(TrackStatus::tracked)) sum += static_cast<double>(t.residual);
  EXPECT_DOUBLE_EQ(value("mean_residual"), sum / table.count(TrackStatus::tracked));
  EXPECT_NEAR(value("mean_residual"), 2 * std::sqrt(2 / 3.14159), 0.6) << "what noise of 2 leaves";
}

TEST(Klt, RefusesEvenSides) {
  Klt klt;
  for (const char* name : {"window", "block"}) EXPECT_NE(klt.set(name, int64_t{8}), std::nullopt) << name;
}

// ------------------------------------------------------------------------------------------- edge cases

void expect_sane(const Table& table, Extent extent) {
  uint32_t alive = 0;
  for (const Track& t : table.all()) {
    ASSERT_LT(static_cast<uint32_t>(t.status), static_cast<uint32_t>(kTrackStatuses));
    if (t.status == TrackStatus::empty) continue;
    for (const float v : {t.x, t.y, t.previous_x, t.previous_y, t.residual, t.return_error, t.strength})
      ASSERT_TRUE(std::isfinite(v));
    if (!is_alive(t.status)) continue;
    ++alive;
    EXPECT_TRUE(inside({t.x, t.y}, extent, 0)) << t.x << ' ' << t.y;
  }
  EXPECT_EQ(table.header().alive, alive);
}

TEST(KltEdges, FlatAndBlackPicturesHaveNoTracks) {
  for (const uint8_t level : {0, 77, 255}) {
    Tracker tracker(kGrayScene, {});
    Image flat(kGrayScene);
    std::fill(flat.pixels.begin(), flat.pixels.end(), level);
    EXPECT_EQ(tracker.run(flat).header().alive, 0u);
    EXPECT_EQ(tracker.run(flat).header().alive, 0u);
    const Table first = tracker.run(textured(kScene, {}));
    EXPECT_GT(first.header().alive, 200u) << "tracking starts when there is something";
    const Table black = tracker.run(flat);
    expect_sane(black, kScene);
    EXPECT_LT(black.header().alive, first.header().alive / 20);
  }
}

TEST(KltEdges, ASceneCutEndsNearlyAllTracks) {
  Tracker tracker(kGrayScene, {});
  const Table first = tracker.run(textured(kScene, {}));
  const Image other = textured(kScene, {.name = "", .x = 5000, .degrees = 100});
  const Table second = tracker.run(other);
  expect_sane(second, kScene);
  EXPECT_LT(second.count(TrackStatus::tracked), first.header().alive / 10);
  const Table third = tracker.run(other);  // the slots of lost tracks are free again
  EXPECT_GT(third.header().alive, 200u);
}

TEST(KltEdges, SmallPicturesAndLargeWindows) {
  for (const Extent extent : {Extent{1, 1}, {1, 7}, {2, 2}, {3, 3}, {5, 40}, {16, 16}, {33, 20}, {64, 64}})
    for (const int64_t window : {5, 21, 31}) {
      SCOPED_TRACE(std::to_string(extent.width) + "x" + std::to_string(extent.height));
      Tracker tracker({PixelFormat::gray8, extent}, {{"window", window},
                                                     {"levels", int64_t{kKltMaxLevels}},
                                                     {"max_features", int64_t{50}},
                                                     {"affine_check", true}});
      uint32_t most = 0;
      for (unsigned i = 0; i < 4; ++i) {
        const Table table = tracker.run(textured(extent, {.name = "", .x = 0.4 * i}, {.seed = i + 1}));
        expect_sane(table, extent);
        most = std::max(most, table.count(TrackStatus::tracked));
      }
      if (extent.width >= 16 && extent.height >= 16 && window == 5) {
        EXPECT_GT(most, 0u);
      }
    }
}

TEST(KltEdges, TheMaximumNumberOfTracks) {
  const Extent extent{1280, 720};
  Tracker tracker({PixelFormat::gray8, extent}, {{"max_features", int64_t{kMaxTracks}},
                                                 {"min_distance", 1.0},
                                                 {"quality", 0.0},
                                                 {"window", int64_t{7}}});
  const Table first = tracker.run(textured(extent, {}, {.noise = 8, .seed = 1}));
  expect_sane(first, extent);
  EXPECT_EQ(first.header().alive, static_cast<uint32_t>(kMaxTracks));
  expect_sane(tracker.run(textured(extent, {.name = "", .x = 1}, {.noise = 8, .seed = 2})), extent);
}

TEST(Klt, FractionsOfPositionsFitSixteenBits) {
  for (const float x : {-0x1p-25f, -0x1p-24f, -1e-30f, 0.f, 0x1.fffffep-1f, 7.9999995f, -3.5f}) {
    const KltSpot spot = KltSpot::at(x, -x);
    for (const int part : {spot.fx, spot.fy}) {
      EXPECT_GE(part, 0) << x;
      EXPECT_LE(part, 32767) << x << ": the vectors' weights are 16-bit numbers";
    }
  }
  EXPECT_EQ(KltSpot::at(2.25f, 0).fx, 8192);
}

TEST(KltMath, CorrelationsAndBrightnessOfPatches) {
  using Patch = std::vector<int64_t>;
  const auto of = [](const Patch& first, const Patch& now) {
    KltCorrelation sums;
    for (size_t k = 0; k < first.size(); ++k) {
      ++sums.n, sums.i += first[k], sums.j += now[k];
      sums.ii += first[k] * first[k], sums.jj += now[k] * now[k], sums.ij += first[k] * now[k];
    }
    return sums;
  };
  EXPECT_DOUBLE_EQ(of({1, 2, 3, 4}, {2, 4, 6, 8}).correlation(), 1);
  EXPECT_DOUBLE_EQ(of({1, 2, 3, 4}, {8, 6, 4, 2}).correlation(), -1);
  EXPECT_DOUBLE_EQ(of({1, 2, 3, 4}, {1, 3, 2, 4}).correlation(), 0.8);
  EXPECT_EQ(of({5, 5, 5}, {1, 2, 3}).correlation(), 1) << "the first patch is flat";
  EXPECT_EQ(of({1, 2, 3}, {5, 5, 5}).correlation(), 0);
  const auto gain = [&](const Patch& first, const Patch& now) {
    const KltGainBias found = of(first, now).gain_bias();
    return std::pair(found.gain_q12, found.offset);
  };
  EXPECT_EQ(gain({1, 2, 3, 4}, {2, 4, 6, 8}), std::pair(2048, 0));
  EXPECT_EQ(gain({1, 2, 3, 4}, {9, 10, 11, 12}), std::pair(4096, 8));
  EXPECT_EQ(gain({0, 64}, {0, 1}), std::pair(16 * 4096, -24)) << "at most 16";
  EXPECT_EQ(gain({0, 1}, {0, 64}), std::pair(256, 2)) << "at least 1/16";
}

TEST(KltMath, SixEquationsAreSolvedUnlessTheyAreSingular) {
  double upper[21] = {};
  const auto diagonal = [](int r) { return r * 6 - r * (r - 1) / 2; };
  for (int r = 0; r < 6; ++r) {
    upper[diagonal(r)] = 4;
    if (r < 5) upper[diagonal(r) + 1] = 1;
  }
  const double b[6] = {6, 12, 18, 24, 30, 29};
  double x[6] = {};
  ASSERT_TRUE(klt_solve6(upper, b, x));
  for (int r = 0; r < 6; ++r) EXPECT_NEAR(x[r], r + 1, 1e-9) << r;
  for (int pivot = 0; pivot < 6; ++pivot)
    for (const double value : {1.001, 1.0, 0.0, -3.0}) {
      double alone[21] = {};
      for (int r = 0; r < 6; ++r) alone[diagonal(r)] = r == pivot ? value : 2;
      EXPECT_EQ(klt_solve6(alone, b, x), value > 1) << pivot << ": " << value;
    }
}

}  // namespace
}  // namespace lensd::test
