// The motion that most tracks share, by seeded RANSAC and least squares over the inliers.
//
//   TrackTable ─▶ pairs (previous, current) ─▶ 256 hypotheses, scored by inliers ─▶ the best, refined
//
// Corners cluster on textured objects, which may move independently. Therefore the picture is divided into
// cells, and the pairs of each cell have about the same total weight. With a coarse threshold, pairs on slow
// objects would agree with a camera at rest. Therefore pairs within a half and a quarter of the threshold
// count more. Hypothesis 0 is a camera at rest. It counts only pairs within a quarter of the threshold, but
// needs only half the weight of another hypothesis: even if objects move in front of a resting camera, the
// pairs at rest usually have that weight.
//
// Positions, counts and sums are integers, so their order does not matter. Solutions are doubles in a fixed
// order.
#pragma once

#include "kernels/stabilize/stabilize_math.hpp"

namespace lensd {

/// If half of the tracks are outliers, the probability that all 256 triples contain one is below 1e-14.
inline constexpr int kHypotheses = 256;
/// Rounds of least squares. Inliers are determined before each round, and once more at the end.
inline constexpr int kFitRounds = 3;
/// Returns the factor of the squared threshold in a round. The first round uses half the threshold, because
/// the hypothesis comes from only a few pairs. Later rounds use a quarter of it. The final inliers use the
/// whole threshold. A camera at rest (`from_rest`) is an exact hypothesis and starts with a quarter.
LENSD_HD constexpr float threshold_part(int round, bool from_rest) {
  return round == kFitRounds ? 1.f : round == 0 && !from_rest ? 1.f / 4 : 1.f / 16;
}
/// Returns false for the last round of least squares, which is more accurate without weights because the
/// inliers are known by then.
LENSD_HD constexpr bool round_is_weighted(int round) {
  return round != kFitRounds - 1;
}

/// Number of cells of the picture, across and down.
inline constexpr int kCellColumns = 16, kCellRows = 12, kCells = kCellColumns * kCellRows;
/// Approximate total weight of a cell's pairs. Each pair has the weight kCellWeight / pairs, truncated, but
/// at least 1.
inline constexpr uint32_t kCellWeight = 64;

/// Layout of the scratch memory. Pair i moved from (px[i], py[i]) to (qx[i], qy[i]), in steps (1/256 pixel)
/// from the picture's centre.
struct StabilizeWork {
  uint32_t count, reserved[3];
  uint32_t votes[kHypotheses];
  uint32_t in_cell[kCells];
  int32_t px[kMaxTracks], py[kMaxTracks], qx[kMaxTracks], qy[kMaxTracks];
  int32_t weight[kMaxTracks];
};

/// Converts a table's coordinates to steps from the picture's centre. If the table belongs to a picture of
/// another size, its coordinates are scaled.
struct PairGrid {
  float scale_x, scale_y;
  int centre_x, centre_y;

  LENSD_HD static PairGrid make(Extent picture, Extent table) {
    const bool same = table == picture || table.width < 1 || table.height < 1;
    return {same ? 1.f : static_cast<float>(picture.width) / static_cast<float>(table.width),
            same ? 1.f : static_cast<float>(picture.height) / static_cast<float>(table.height),
            (picture.width - 1) * (kPairSteps / 2), (picture.height - 1) * (kPairSteps / 2)};
  }
  /// Returns the cell that contains the previous position of pair i.
  LENSD_HD int cell(const StabilizeWork& work, uint32_t i) const {
    const auto part = [](int p, int centre, int cells) {
      const int at = static_cast<int>(int64_t{p + centre} * cells / (2 * centre + kPairSteps));
      return at < 0 ? 0 : at < cells ? at : cells - 1;
    };
    return part(work.py[i], centre_y, kCellRows) * kCellColumns + part(work.px[i], centre_x, kCellColumns);
  }
  LENSD_HD int x(float v) const { return steps(v, scale_x) - centre_x; }
  LENSD_HD int y(float v) const { return steps(v, scale_y) - centre_y; }

 private:
  LENSD_HD static int steps(float v, float scale) {
    if (scale != 1.f) v = (v + 0.5f) * scale - 0.5f;
    v = v > -kMaxSide ? (v < 2.f * kMaxSide ? v : 2.f * kMaxSide) : -kMaxSide;  // NaN becomes −kMaxSide
    return static_cast<int>(floorf(v * kPairSteps + 0.5f));
  }
};

LENSD_HD inline void add_pair(const PairGrid& grid, const Track& track, StabilizeWork& work, uint32_t at) {
  work.px[at] = grid.x(track.previous_x), work.py[at] = grid.y(track.previous_y);
  work.qx[at] = grid.x(track.x), work.qy[at] = grid.y(track.y);
}

LENSD_HD inline int32_t pair_weight(uint32_t pairs_of_cell) {
  return static_cast<int32_t>(pairs_of_cell < kCellWeight ? kCellWeight / pairs_of_cell : 1);
}

/// Returns the index of the j-th pair of hypothesis h, from a fixed pseudo-random sequence. `count`: number
/// of pairs.
LENSD_HD inline uint32_t sampled_pair(uint32_t h, uint32_t j, uint32_t count) {
  uint32_t v = 0x9e3779b9u + 3 * h + j;
  v ^= v >> 16, v *= 0x7feb352du, v ^= v >> 15, v *= 0x846ca68bu, v ^= v >> 16;
  return static_cast<uint32_t>(uint64_t{v} * count >> 32);
}

/// Returns the minimum number of pairs for a motion: 2 n + 1, if n pairs determine the motion.
LENSD_HD inline uint32_t pairs_needed(StabilizeModel model) {
  return model == StabilizeModel::translation ? 3 : model == StabilizeModel::similarity ? 5 : 7;
}

/// Computes the motion of hypothesis h in steps. Requires at least pairs_needed() pairs. Returns false if the
/// points of the sampled pairs are too close together or nearly collinear, or if the motion is implausible.
/// Hypothesis 0 is a camera at rest.
LENSD_HD inline bool hypothesis(StabilizeModel model, const StabilizeWork& work, uint32_t h, Motion& motion) {
  constexpr double near = 8.0 * kPairSteps;
  const uint32_t i = sampled_pair(h, 0, work.count), j = sampled_pair(h, 1, work.count),
                 k = sampled_pair(h, 2, work.count);
  const double px = work.px[i], py = work.py[i], qx = work.qx[i], qy = work.qy[i];
  motion = Motion{};
  if (h == 0) return true;
  if (model != StabilizeModel::translation) {
    const double ax = work.px[j] - px, ay = work.py[j] - py, bx = work.qx[j] - qx, by = work.qy[j] - qy;
    if (model == StabilizeModel::similarity) {
      const double length2 = ax * ax + ay * ay;
      if (length2 < near * near) return false;
      motion.xx = motion.yy = (ax * bx + ay * by) / length2;
      motion.yx = (ax * by - ay * bx) / length2, motion.xy = -motion.yx;
    } else {
      const double cx = work.px[k] - px, cy = work.py[k] - py, dx = work.qx[k] - qx, dy = work.qy[k] - qy;
      const double area = ax * cy - ay * cx;
      if ((area < 0 ? -area : area) < near * near) return false;
      motion.xx = (bx * cy - dx * ay) / area, motion.xy = (dx * ax - bx * cx) / area;
      motion.yx = (by * cy - dy * ay) / area, motion.yy = (dy * ax - by * cx) / area;
    }
  }
  motion.x0 = qx - (motion.xx * px + motion.xy * py), motion.y0 = qy - (motion.yx * px + motion.yy * py);
  Motion in_pixels = motion;
  in_pixels.x0 /= kPairSteps, in_pixels.y0 /= kPairSteps;
  return is_plausible(in_pixels);
}

/// Tests whether pairs agree with a motion. Works in steps and single precision.
struct InlierTest {
  float xx, xy, x0, yx, yy, y0, threshold2;

  LENSD_HD static InlierTest make(const Motion& m, float threshold2) {
    return {static_cast<float>(m.xx),
            static_cast<float>(m.xy),
            static_cast<float>(m.x0),
            static_cast<float>(m.yx),
            static_cast<float>(m.yy),
            static_cast<float>(m.y0),
            threshold2};
  }
  LENSD_HD float distance2(const StabilizeWork& work, uint32_t i) const {
    const float px = static_cast<float>(work.px[i]), py = static_cast<float>(work.py[i]);
    const float rx = xx * px + xy * py + x0 - static_cast<float>(work.qx[i]);
    const float ry = yx * px + yy * py + y0 - static_cast<float>(work.qy[i]);
    return rx * rx + ry * ry;
  }
  LENSD_HD bool is_inlier(const StabilizeWork& work, uint32_t i) const {
    return distance2(work, i) <= threshold2;
  }
};

/// Sums of the weights of the pairs within the threshold, half of it and a quarter of it.
struct InlierWeights {
  uint32_t whole = 0, half = 0, quarter = 0;

  LENSD_HD void add(const InlierTest& test, const StabilizeWork& work, uint32_t i) {
    const float d = test.distance2(work, i);
    const auto weight = static_cast<uint32_t>(work.weight[i]);
    whole += d <= test.threshold2 ? weight : 0;
    half += d <= test.threshold2 * 0.25f ? weight : 0;
    quarter += d <= test.threshold2 * 0.0625f ? weight : 0;
  }
  /// Hypothesis 0, a camera at rest, counts only pairs within a quarter of the threshold, but with twice the
  /// weight. See the top of this file.
  LENSD_HD uint32_t votes(uint32_t h) const { return h == 0 ? 8 * quarter : whole + half + 2 * quarter; }
};

/// Weighted sums over pairs. Positions are signed 24-bit values and the sum of weights has 15 bits, so the
/// sums of products fit in 64 bits.
struct PairSums {
  enum Sum { count, weight, px, py, qx, qy, pxpx, pxpy, pypy, pxqx, pxqy, pyqx, pyqy, sums };
  int64_t of[sums];

  LENSD_HD void add(const StabilizeWork& work, uint32_t i, bool weighs) {
    const int64_t x = work.px[i], y = work.py[i], u = work.qx[i], v = work.qy[i],
                  w = weighs ? work.weight[i] : 1;
    of[count] += 1, of[weight] += w, of[px] += w * x, of[py] += w * y, of[qx] += w * u, of[qy] += w * v;
    of[pxpx] += w * (x * x), of[pxpy] += w * (x * y), of[pypy] += w * (y * y);
    of[pxqx] += w * (x * u), of[pxqy] += w * (x * v), of[pyqx] += w * (y * u), of[pyqy] += w * (y * v);
  }
  LENSD_HD double mean(Sum a) const { return static_cast<double>(of[a]) / static_cast<double>(of[weight]); }
  /// Returns the sum of products about the means.
  LENSD_HD double about_means(Sum product, Sum a, Sum b) const {
    return static_cast<double>(of[product]) - mean(a) * static_cast<double>(of[b]);
  }
};

/// Returns the least-squares motion in steps. Uses a simpler model if the points are nearly collinear or too
/// close together.
LENSD_HD inline Motion least_squares(StabilizeModel model, const PairSums& s) {
  using S = PairSums;
  const double xx = s.about_means(S::pxpx, S::px, S::px), yy = s.about_means(S::pypy, S::py, S::py);
  const double xy = s.about_means(S::pxpy, S::px, S::py);
  const double xu = s.about_means(S::pxqx, S::px, S::qx), xv = s.about_means(S::pxqy, S::px, S::qy);
  const double yu = s.about_means(S::pyqx, S::py, S::qx), yv = s.about_means(S::pyqy, S::py, S::qy);
  const double area = xx * yy - xy * xy, spread = xx + yy;
  Motion m;
  const double least =
      64.0 * kPairSteps * kPairSteps * static_cast<double>(s.of[S::weight]);  // a spread of 8 pixels
  if (model == StabilizeModel::affine && area > 1e-4 * (spread * spread)) {
    m.xx = (xu * yy - yu * xy) / area, m.xy = (yu * xx - xu * xy) / area;
    m.yx = (xv * yy - yv * xy) / area, m.yy = (yv * xx - xv * xy) / area;
  } else if (model != StabilizeModel::translation && spread > least) {
    m.xx = m.yy = (xu + yv) / spread, m.yx = (xv - yu) / spread, m.xy = -m.yx;
  }
  m.x0 = s.mean(S::qx) - (m.xx * s.mean(S::px) + m.xy * s.mean(S::py));
  m.y0 = s.mean(S::qy) - (m.yx * s.mean(S::px) + m.yy * s.mean(S::py));
  return m;
}

/// Returns the rank of a hypothesis: more votes rank higher; with equal votes, a lower `h` ranks higher.
/// Votes are below 2^20.
LENSD_HD constexpr uint32_t vote_rank(uint32_t votes, uint32_t h) {
  return votes << 8 | (kHypotheses - 1 - h);
}
LENSD_HD constexpr uint32_t ranked_hypothesis(uint32_t rank) {
  return kHypotheses - 1 - (rank & (kHypotheses - 1));
}

/// Converts the refined motion to pixels. Returns false and resets `motion` if it is implausible or too few
/// pairs agree: less than a fifth of the total weight, or fewer than pairs_needed().
LENSD_HD inline bool accept_motion(StabilizeModel model, const PairSums& sums, int64_t all_weight,
                                   Motion& motion) {
  motion.x0 /= kPairSteps, motion.y0 /= kPairSteps;
  const bool good = sums.of[PairSums::count] >= pairs_needed(model) &&
                    5 * sums.of[PairSums::weight] >= all_weight && is_plausible(motion);
  if (!good) motion = Motion{};
  return good;
}

}  // namespace lensd
