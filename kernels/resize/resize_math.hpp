// Source positions and weights of output samples. Uses integers, and doubles in a fixed order, so that both
// backends compute the same taps.
#pragma once

#include <algorithm>
#include <numeric>

#include "core/image/view.hpp"

namespace lensd {

enum class ResizeMethod : uint8_t { nearest, bilinear, bicubic, area, lanczos3 };

struct ResizeParams {
  int width = 0, height = 0;
  double scale = 0.5;
  ResizeMethod method = ResizeMethod::bilinear;
  bool align_corners = false;
};

/// Empty: all parameters take effect in configure(), and the first pass computes the taps.
struct ResizeBlock {
  static ResizeBlock make(const ResizeParams&) { return {}; }
};

/// One axis of a resize: from `n` source samples to `m` output samples.
struct ResizeAxis {
  int n = 1, m = 1;
  bool align_corners = false;
};

/// Algorithm of a resize. Several methods may use the same algorithm.
enum class ResizePath : uint8_t {
  taps,  ///< weighted sums of 2, 4 or 6 samples per direction
  nearest,
  area,
  half,  ///< means of 2×2 pixels, if both sides are halved: area, or bilinear without align_corners
};

/// Sizes, method and algorithm, computed from the parameters and the input size. Passed to kernels by value.
struct ResizeGeometry {
  ResizeAxis x, y;
  ResizeMethod method = ResizeMethod::bilinear;
  ResizePath path = ResizePath::taps;

  static ResizeGeometry make(const ResizeParams& params, Extent in) {
    const auto side = [](double v) { return static_cast<int>(std::clamp(v + 0.5, 1.0, double{kMaxSide})); };
    const double from_width = in.width, from_height = in.height;
    int width = params.width, height = params.height;
    // If a computed side would exceed the limit, both are reduced, which keeps the aspect ratio.
    if (width == 0 && height == 0) {
      const double scale = std::min(params.scale, kMaxSide / std::max(from_width, from_height));
      width = side(from_width * scale), height = side(from_height * scale);
    } else if (width == 0) {
      height = std::min(height, side(kMaxSide * from_height / from_width));
      width = side(from_width * height / from_height);
    } else if (height == 0) {
      width = std::min(width, side(kMaxSide * from_width / from_height));
      height = side(from_height * width / from_width);
    }
    ResizeGeometry g{
        {in.width, width, params.align_corners}, {in.height, height, params.align_corners}, params.method};
    const bool mean = g.method == ResizeMethod::area;
    if (g.x.n == 2 * g.x.m && g.y.n == 2 * g.y.m &&
        (mean || (g.method == ResizeMethod::bilinear && !params.align_corners)))
      g.path = ResizePath::half;
    else if (mean)
      g.path = ResizePath::area;
    else if (g.method == ResizeMethod::nearest)
      g.path = ResizePath::nearest;
    return g;
  }

  Extent extent() const { return {x.m, y.m}; }
  /// Returns the number of source samples per output sample in each direction: 1 for `nearest`, otherwise
  /// even. SIMD and CUDA rely on that, because they multiply weights in pairs.
  LENSD_HD int taps() const {
    return method == ResizeMethod::nearest    ? 1
           : method == ResizeMethod::bilinear ? 2
           : method == ResizeMethod::bicubic  ? 4
                                              : 6;
  }
};

/// Weights have 14 fractional bits and sum to 1; horizontal sums have 6 fractional bits.
inline constexpr int kResizeOne = 1 << 14;
LENSD_HD constexpr int resize_horizontal(int sum) {
  return (sum + 128) >> 8;
}
LENSD_HD constexpr int resize_vertical(int sum) {
  const int v = (sum + (1 << 19)) >> 20;
  return v < 0 ? 0 : v > 255 ? 255 : v;
}

/// Taps of an output sample, which is Σ weight[k] · sample[start + k]. Indices outside the picture are
/// clamped.
struct ResizeTaps {
  int start = 0;
  int weight[6] = {};
};

/// Position of an output sample in the source: index + part / whole.
struct ResizePosition {
  int index, part, whole;
};

LENSD_HD inline ResizePosition resize_position(const ResizeAxis& axis, int i) {
  if (axis.align_corners && axis.m == 1) return {0, 0, 1};
  const int whole = axis.align_corners ? axis.m - 1 : 2 * axis.m;
  const int position = axis.align_corners ? i * (axis.n - 1) : (2 * i + 1) * axis.n - axis.m;
  const int index = position >= 0 ? position / whole : -((-position + whole - 1) / whole);
  return {index, position - index * whole, whole};
}

/// Returns floor(i · scale) with the order of operations of cv::resize INTER_NEAREST. With align_corners,
/// returns the sample nearest to i · (n − 1) / (m − 1).
LENSD_HD inline int resize_nearest(const ResizeAxis& axis, int i) {
  if (axis.align_corners) return axis.m == 1 ? 0 : (2 * i * (axis.n - 1) + (axis.m - 1)) / (2 * (axis.m - 1));
  const double scale = 1.0 / (static_cast<double>(axis.m) / static_cast<double>(axis.n));
  const int index = static_cast<int>(i * scale);
  return index < axis.n ? index : axis.n - 1;
}

/// Rounds the weights `w`, which sum to 1, to fixed point. The weight of the sample nearest to the position
/// takes the remainder.
LENSD_HD inline void quantize_taps(const double* w, int count, double t, ResizeTaps& taps) {
  int rest = kResizeOne;
  for (int k = 0; k < count; ++k) {
    taps.weight[k] =
        static_cast<int>(w[k] * kResizeOne + 32768.5) - 32768;  // the offset makes truncation a floor
    rest -= taps.weight[k];
  }
  taps.weight[count / 2 - (t < 0.5 ? 1 : 0)] += rest;
}

/// Computes the weights of Keys' cubic with a = −0.75, as in OpenCV.
LENSD_HD inline void cubic_weights(double t, double* w) {
  constexpr double a = -0.75;
  const double u = 1 - t;
  w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
  w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  w[2] = ((a + 2) * u - (a + 3)) * u * u + 1;
  w[3] = 1 - w[0] - w[1] - w[2];
}

/// Computes sinc(x) · sinc(x / 3) at x = t + 2 − k, normalised. sin(πx) is ±sin(πt) for every k and cancels.
/// sin(πx/3) follows from sin and cos of πt/3, which Taylor series compute to double precision without libm.
LENSD_HD inline void lanczos_weights(double t, double* w) {
  if (t == 0) {
    for (int k = 0; k < 6; ++k) w[k] = k == 2 ? 1 : 0;
    return;
  }
  const double v = 1.04719755119659774615 * t, v2 = v * v;
  double sine = 0, cosine = 0;
  for (int i = 9; i >= 1; --i) {
    sine = (1 - sine) * v2 / ((2 * i) * (2 * i + 1));
    cosine = (1 - cosine) * v2 / ((2 * i - 1) * (2 * i));
  }
  sine = v * (1 - sine), cosine = 1 - cosine;
  constexpr double root = 0.86602540378443864676;  // sin(π/3)
  const double along[6] = {-0.5, 0.5, 1, 0.5, -0.5, -1}, across[6] = {root, root, 0, -root, -root, 0};
  double sum = 0;
  for (int k = 0; k < 6; ++k) {
    const double x = t + (2 - k);
    w[k] = (sine * along[k] + cosine * across[k]) / (x * x);
    if (k % 2 != 0) w[k] = -w[k];
    sum += w[k];
  }
  for (int k = 0; k < 6; ++k) w[k] = w[k] / sum;
}

LENSD_HD inline ResizeTaps resize_taps(const ResizeAxis& axis, ResizeMethod method, int i) {
  const ResizePosition at = resize_position(axis, i);
  ResizeTaps taps;
  if (method == ResizeMethod::bilinear) {
    taps.start = at.index;
    taps.weight[1] = (at.part * kResizeOne + at.whole / 2) / at.whole;
    taps.weight[0] = kResizeOne - taps.weight[1];
    return taps;
  }
  const double t = static_cast<double>(at.part) / static_cast<double>(at.whole);
  double w[6];
  if (method == ResizeMethod::bicubic) {
    taps.start = at.index - 1;
    cubic_weights(t, w);
    quantize_taps(w, 4, t, taps);
  } else {
    taps.start = at.index - 2;
    lanczos_weights(t, w);
    quantize_taps(w, 6, t, taps);
  }
  return taps;
}

/// Taps of an output sample of 16-bit images. `start` may lie outside the picture.
struct DeepResizeTaps {
  int32_t start;
  float weight[6];
};

LENSD_HD inline DeepResizeTaps deep_resize_taps(const ResizeAxis& axis, ResizeMethod method, int i) {
  DeepResizeTaps taps{};
  if (method == ResizeMethod::nearest) {
    taps.start = resize_nearest(axis, i), taps.weight[0] = 1;
    return taps;
  }
  const ResizePosition at = resize_position(axis, i);
  const double t = static_cast<double>(at.part) / static_cast<double>(at.whole);
  double w[6] = {1 - t, t, 0, 0, 0, 0};
  taps.start = at.index;
  if (method == ResizeMethod::bicubic) taps.start = at.index - 1, cubic_weights(t, w);
  if (method == ResizeMethod::lanczos3) taps.start = at.index - 2, lanczos_weights(t, w);
  for (int k = 0; k < 6; ++k) taps.weight[k] = static_cast<float>(w[k]);
  return taps;
}

/// Returns Σ weight · at(k) for `count` taps, in the order of the code.
template <class At>
LENSD_HD inline float deep_resize_sum(const DeepResizeTaps& taps, int count, const At& at) {
  float sum = taps.weight[0] * at(0);
  for (int k = 1; k < count; ++k) sum = sum + taps.weight[k] * at(k);
  return sum;
}

/// Returns sum / weights, rounded half up, for sums below 2^44 and weights up to 2^28. Exact: with the
/// additional 0.5, the quotient is at least 0.5 / weights away from an integer, which is more than its
/// rounding error.
LENSD_HD inline uint16_t deep_area_mean(uint64_t sum, uint64_t weights) {
  const double biased = static_cast<double>(sum + weights / 2) + 0.5;
  return static_cast<uint16_t>(static_cast<int>(biased / static_cast<double>(weights)));
}

/// Table of the taps of m outputs in one direction. It has m starts, followed by m words for each pair of
/// weights. A word has the first weight of the pair in its low half.
struct ResizeTable {
  int32_t* start = nullptr;
  int m = 0;
  LENSD_HD int32_t* pair(int p) const { return start + static_cast<ptrdiff_t>(p + 1) * m; }
  LENSD_HD int weight(int k, int i) const {
    return static_cast<int16_t>(static_cast<uint32_t>(pair(k / 2)[i]) >> (k % 2 * 16));
  }
  static size_t bytes(int m) { return static_cast<size_t>(m) * 4 * sizeof(int32_t); }
};

/// Computes entry i of a table; for `nearest`, only its start.
LENSD_HD inline void fill_taps(const ResizeTable& table, const ResizeAxis& axis, ResizeMethod method, int i) {
  if (method == ResizeMethod::nearest) {
    table.start[i] = resize_nearest(axis, i);
    return;
  }
  const ResizeTaps taps = resize_taps(axis, method, i);
  table.start[i] = taps.start;
  for (int p = 0; p < 3; ++p)
    table.pair(p)[i] = static_cast<int32_t>((static_cast<uint32_t>(taps.weight[2 * p]) & 0xffffu) |
                                            static_cast<uint32_t>(taps.weight[2 * p + 1]) << 16);
}

/// Exact means along one axis. `n` and `m` are those of ResizeAxis, divided by their greatest common divisor.
/// In units of 1/m of a source sample, output i covers [i·n, (i + 1)·n). The weights of its samples are
/// integers and sum to n.
struct AreaAxis {
  int n = 1, m = 1;
  static AreaAxis make(const ResizeAxis& axis) {
    const int common = std::gcd(axis.n, axis.m);
    return {axis.n / common, axis.m / common};
  }
  LENSD_HD int first(int i) const { return i * n / m; }
  LENSD_HD int last(int i) const { return ((i + 1) * n - 1) / m; }
  LENSD_HD int weight(int i, int sample) const {
    const int begin = sample * m > i * n ? sample * m : i * n;
    const int end = (sample + 1) * m < (i + 1) * n ? (sample + 1) * m : (i + 1) * n;
    return end - begin;
  }
};

/// How CUDA sums the footprints of `area`. One thread sums a small footprint; `count` is then 0. `count`
/// blocks sum a large one, each a strip of its rows.
struct AreaStrips {
  static constexpr int least_pixels = 512;  ///< minimum pixels of a large footprint
  static constexpr int blocks = 1024;       ///< blocks for the whole image; they keep any GPU busy
  static constexpr int least_rows = 16;     ///< minimum rows of a strip
  int count = 0;

  static AreaStrips make(const ResizeGeometry& g, bool deep) {
    if (g.path != ResizePath::area) return {};
    const double columns = static_cast<double>(g.x.n) / g.x.m, rows = static_cast<double>(g.y.n) / g.y.m;
    if (columns * rows < least_pixels) return {};
    const int outputs = g.x.m * g.y.m;
    // In 16-bit images, threads of neighbouring outputs read narrow footprints faster than a block does.
    if (deep && columns < 8 && outputs >= 8 * blocks) return {};
    return {std::clamp(blocks / outputs, 1, std::max(1, static_cast<int>(rows) / least_rows))};
  }
  /// Returns the size of the strips' sums.
  size_t bytes(const ResizeGeometry& g, int channels) const {
    return count > 1 ? static_cast<size_t>(g.x.m) * static_cast<size_t>(g.y.m * count * channels) * 8 : 0;
  }
};

/// Iterates over the outputs' footprints from left to right, without divisions per footprint.
struct AreaCursor {
  explicit AreaCursor(const AreaAxis& axis) : axis_(axis), whole_(axis.n / axis.m), part_(axis.n % axis.m) {}

  int first = 0, last = 0;  ///< first and last sample of the footprint; those between have weight axis.m
  uint32_t first_weight = 0, last_weight = 0;  ///< last_weight is 0 if first = last

  /// Moves to the next footprint; the first call moves to the footprint of output 0.
  void next() {
    const int begin = next_, skipped = offset_;
    next_ += whole_, offset_ += part_;
    if (offset_ >= axis_.m) offset_ -= axis_.m, ++next_;
    first = begin, last = offset_ > 0 ? next_ : next_ - 1;
    const bool alone = last == first;
    first_weight = static_cast<uint32_t>(alone ? axis_.n : axis_.m - skipped);
    last_weight = static_cast<uint32_t>(alone ? 0 : offset_ > 0 ? offset_ : axis_.m);
  }

 private:
  AreaAxis axis_;
  int whole_, part_;
  int next_ = 0, offset_ = 0;
};

/// Returns sum / weights, rounded half up.
LENSD_HD inline uint8_t area_mean(uint64_t sum, uint64_t weights) {
  return static_cast<uint8_t>((sum + weights / 2) / weights);
}

}  // namespace lensd
