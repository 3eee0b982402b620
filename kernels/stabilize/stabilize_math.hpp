// Motions as matrices, the smoothed path, and the warp's source positions. Operations on doubles and floats
// have a fixed order. Functions whose last bit differs between host and device are not used.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/image/tracks.hpp"
#include "kernels/common/border/border.hpp"

namespace lensd {

enum class StabilizeModel : uint8_t { translation, similarity, affine };

struct StabilizeParams {
  StabilizeModel model = StabilizeModel::similarity;
  double smoothing = 30;
  double crop_zoom = 1.1;
  bool keep_inside = true;
  Border border = Border::replicate;
  double threshold = 1;
};

/// The fit uses positions in steps of 1/256 pixel.
inline constexpr int kPairSteps = 256;

struct StabilizeBlock {
  /// Process noise of the path's speed, per frame, in units of the measurement's variance.
  double process_noise;
  double shrink;     ///< 1 / crop_zoom
  float threshold2;  ///< threshold in steps, squared
  StabilizeModel model;
  Border border;
  bool keep_inside;  ///< limit the correction; false if crop_zoom is 1, as no correction would remain

  static StabilizeBlock make(const StabilizeParams& p) {
    const double w2 = 1 / (p.smoothing * p.smoothing), steps = p.threshold * kPairSteps;
    return {w2 * w2, 1 / p.crop_zoom, static_cast<float>(steps * steps),
            p.model, p.border,        p.keep_inside && p.crop_zoom > 1};
  }
};

/// Affine map (x, y) → (xx·x + xy·y + x0, yx·x + yy·y + y0), relative to the picture's centre. In pixels
/// unless a comment says steps.
struct Motion {
  double xx = 1, xy = 0, x0 = 0, yx = 0, yy = 1, y0 = 0;
};

/// Returns the motion that applies `b` first, then `a`.
LENSD_HD inline Motion composed(const Motion& a, const Motion& b) {
  return {a.xx * b.xx + a.xy * b.yx, a.xx * b.xy + a.xy * b.yy, a.xx * b.x0 + a.xy * b.y0 + a.x0,
          a.yx * b.xx + a.yy * b.yx, a.yx * b.xy + a.yy * b.yy, a.yx * b.x0 + a.yy * b.y0 + a.y0};
}
LENSD_HD inline double determinant(const Motion& m) {
  return m.xx * m.yy - m.xy * m.yx;
}
/// Returns the inverse of a motion that is_plausible().
LENSD_HD inline Motion inverse(const Motion& m) {
  const double d = determinant(m);
  const Motion turned{m.yy / d, -m.xy / d, 0, -m.yx / d, m.xx / d, 0};
  return {turned.xx, turned.xy, -(turned.xx * m.x0 + turned.xy * m.y0),
          turned.yx, turned.yy, -(turned.yx * m.x0 + turned.yy * m.y0)};
}
/// Returns the identity plus `part` times m's difference from the identity.
LENSD_HD inline Motion scaled(const Motion& m, double part) {
  return {1 + part * (m.xx - 1), part * m.xy, part * m.x0, part * m.yx, 1 + part * (m.yy - 1), part * m.y0};
}
/// Returns base + part · (m − identity), entry by entry.
LENSD_HD inline Motion plus_scaled(const Motion& base, double part, const Motion& m) {
  return {base.xx + part * (m.xx - 1), base.xy + part * m.xy,       base.x0 + part * m.x0,
          base.yx + part * m.yx,       base.yy + part * (m.yy - 1), base.y0 + part * m.y0};
}
/// Returns true if `m` is a plausible camera motion between two frames; false for NaN.
LENSD_HD inline bool is_plausible(const Motion& m) {
  const double d = determinant(m);
  return d > 0.25 && d < 4 && m.xx > 0 && m.yy > 0 && m.xy < 1 && m.xy > -1 && m.yx < 1 && m.yx > -1 &&
         m.x0 < 32768 && m.x0 > -32768 && m.y0 < 32768 && m.y0 > -32768;
}

/// State of the path. `deviation` and `drift` are relative to the current picture and do not grow with time,
/// so that streams may run for weeks.
struct StabilizeState {
  Motion deviation;  ///< motion from the smoothed view to the frame
  Motion drift;      ///< motion of the smoothed view per frame
  /// Variances and covariance of deviation and drift, in units of the measurement's variance.
  double variance, covariance, drift_variance;
  double path_x, path_y;  ///< sums of x0 and of y0 of all motions since the last reset, in pixels
  double path_cosine, path_sine, path_zoom;
};

/// Map from output pixels (x, y) to source positions: with dx = x − centre_x and dy = y − centre_y, (xx·dx +
/// (xy·dy + x0), yx·dx + (yy·dy + y0)) in floats.
struct StabilizeWarp {
  float xx, xy, x0, yx, yy, y0;
  float centre_x, centre_y;
};

struct StabilizeStats {
  Motion motion;      ///< motion of the picture since the previous frame
  Motion correction;  ///< map from output to source relative to the centre, without crop_zoom
  double path_x, path_y, path_cosine, path_sine, path_zoom;
  StabilizeWarp warp;
  /// Number of tracks followed from the previous frame, and how many of them agree with the fitted motion. If
  /// the fit is rejected, `motion` is the identity, but `inliers` is still that of the rejected fit.
  uint32_t pairs, inliers;
};

/// Returns the largest fraction of `correction` (at most 1) that keeps the view's corners inside the picture.
LENSD_HD inline double allowed_part(const Motion& correction, double shrink, double half_width,
                                    double half_height) {
  double part = 1;
  for (int corner = 0; corner < 4; ++corner) {
    const double x = (corner & 1 ? half_width : -half_width) * shrink;
    const double y = (corner & 2 ? half_height : -half_height) * shrink;
    const double dx = correction.xx * x + correction.xy * y + correction.x0 - x;
    const double dy = correction.yx * x + correction.yy * y + correction.y0 - y;
    const double room_x = dx > 0 ? half_width - x : half_width + x, far_x = dx > 0 ? dx : -dx;
    const double room_y = dy > 0 ? half_height - y : half_height + y, far_y = dy > 0 ? dy : -dy;
    if (part * far_x > room_x) part = room_x / far_x;
    if (part * far_y > room_y) part = room_y / far_y;
  }
  return part;
}

/// Updates the path by the frame's motion, with a Kalman filter of position and speed. The filter models the
/// measured path as a path whose speed is a random walk, plus white noise. Therefore the filter follows a
/// steady pan without lag. All six entries of the matrix use the same gains. `reset`: there is no previous
/// frame.
LENSD_HD inline void advance_path(const StabilizeBlock& block, bool reset, const Motion& motion,
                                  StabilizeState& state) {
  if (reset) {
    state = {};
    state.deviation = state.drift = Motion{};
    state.variance = state.path_cosine = state.path_zoom = 1;
    return;
  }
  const double q = block.process_noise;
  double a = state.variance + 2 * state.covariance + state.drift_variance + q / 3;
  double b = state.covariance + state.drift_variance + q / 2, c = state.drift_variance + q;
  const double gain = a / (a + 1), drift_gain = b / (a + 1);
  state.variance = a - gain * a, state.covariance = b - gain * b, state.drift_variance = c - drift_gain * b;

  const Motion predicted = composed(composed(motion, state.deviation), inverse(state.drift));
  const Motion step = scaled(predicted, gain), drift = plus_scaled(state.drift, drift_gain, predicted);
  const Motion deviation = is_plausible(step) ? composed(predicted, inverse(step)) : Motion{};
  const bool sound = is_plausible(predicted) && is_plausible(drift) && is_plausible(deviation);
  state.deviation = sound ? deviation : Motion{}, state.drift = sound ? drift : Motion{};

  state.path_x += motion.x0, state.path_y += motion.y0;
  const double cosine = motion.xx + motion.yy, sine = motion.yx - motion.xy;
  const double x = state.path_cosine * cosine - state.path_sine * sine;
  const double y = state.path_cosine * sine + state.path_sine * cosine, length = sqrt(x * x + y * y);
  state.path_cosine = x / length, state.path_sine = y / length;
  state.path_zoom *= sqrt(determinant(motion));
}

/// Computes all statistics, including the warp, except `pairs` and `inliers`.
LENSD_HD inline void decide_warp(const StabilizeBlock& block, Extent extent, const Motion& motion,
                                 const StabilizeState& state, StabilizeStats& stats) {
  const double half_width = 0.5 * (extent.width - 1), half_height = 0.5 * (extent.height - 1);
  const double part =
      block.keep_inside ? allowed_part(state.deviation, block.shrink, half_width, half_height) : 1.0;
  const Motion m = scaled(state.deviation, part);
  stats.motion = motion, stats.correction = m;
  stats.path_x = state.path_x, stats.path_y = state.path_y;
  stats.path_cosine = state.path_cosine, stats.path_sine = state.path_sine, stats.path_zoom = state.path_zoom;
  stats.warp = {static_cast<float>(m.xx * block.shrink), static_cast<float>(m.xy * block.shrink),
                static_cast<float>(m.x0 + half_width),   static_cast<float>(m.yx * block.shrink),
                static_cast<float>(m.yy * block.shrink), static_cast<float>(m.y0 + half_height),
                static_cast<float>(half_width),          static_cast<float>(half_height)};
}

/// Returns the source position slope · d + rest in 1/256 pixel, clamped to ±40000 pixels.
LENSD_HD inline int source_steps(float slope, float d, float rest) {
  float v = slope * d + rest;
  v = v > -40000.f ? (v < 40000.f ? v : 40000.f) : -40000.f;
  return static_cast<int>(floorf(v * 256.f + 0.5f));
}

/// Interpolates 8-bit or 16-bit samples bilinearly with 8-bit weights; halves round up. Sums are below 2^32.
LENSD_HD constexpr uint32_t bilinear(uint32_t p00, uint32_t p01, uint32_t p10, uint32_t p11, uint32_t fx,
                                     uint32_t fy) {
  const uint32_t top = p00 * (256 - fx) + p01 * fx, bottom = p10 * (256 - fx) + p11 * fx;
  return (top * (256 - fy) + bottom * fy + 32768) >> 16;
}

}  // namespace lensd
