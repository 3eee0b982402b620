#include "kernels/common/launch.cuh"
#include "kernels/klt/klt.hpp"
#include "kernels/klt/klt_follow.hpp"
#include "kernels/klt/klt_lanes.cuh"

namespace lensd {
namespace {

/// A warp follows one track; a lane sums one column of the window.
struct KltFollowTuning {
  static constexpr int warps = 4;
  /// Returns the minimum blocks per multiprocessor, which limits the registers per thread. A thread needs
  /// three registers for each of the window's `rows`.
  static constexpr int blocks(int rows) { return rows <= 21 ? 4 : 2; }
};

/// Warp implementation of the Window of klt_follow.hpp. A lane holds one column of the window in registers.
template <class PixelType, int kRows>
class KltWarpWindow {
 public:
  using Pixel = PixelType;
  __device__ KltWarpWindow(int side, bool gain_bias)
      : lane_(static_cast<int>(threadIdx.x & 31)), side_(side), gain_bias_(gain_bias) {}

  __device__ void take(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect) {
    const bool counts = lane_ >= rect.x0 && lane_ < rect.x1;
    const Pixel* row = level.row(spot.y + rect.y0 - 1) + spot.x + column() - 1;
    const Lane lane(spot);
    int above[3], sample[3][3];
    lane.across(row, above);
    const auto next = [&](int(&out)[3]) {
      row = next_row(row, level);
      int below[3];
      lane.across(row, below);
#pragma unroll
      for (int i = 0; i < 3; ++i)
        out[i] = above[i] + scaled15(below[i] - above[i], spot.fy), above[i] = below[i];
    };
    next(sample[0]), next(sample[1]);
#pragma unroll
    for (int y = 0; y < kRows; ++y) {
      if (y < rect.y0 || y >= rect.y1) continue;
      next(sample[2]);
      samples_[y] = sample[1][1];
      slopes_x_[y] = counts ? klt_slope_x(sample) : 0;
      slopes_y_[y] = counts ? klt_slope_y(sample) : 0;
#pragma unroll
      for (int i = 0; i < 3; ++i) sample[0][i] = sample[1][i], sample[1][i] = sample[2][i];
    }
  }

  __device__ KltMoments moments(const KltRect& rect) const {
    const bool counts = lane_ >= rect.x0 && lane_ < rect.x1;
    int xx = 0, xy = 0, yy = 0, sx = 0, sy = 0, si = 0, ii = 0, xi = 0, yi = 0;
#pragma unroll
    for (int y = 0; y < kRows; ++y) {
      if (y < rect.y0 || y >= rect.y1) continue;
      const int x = counts ? slopes_x_[y] : 0, dy = counts ? slopes_y_[y] : 0;
      xx += x * x, xy += x * dy, yy += dy * dy;
      if (!gain_bias_) continue;
      const int i = counts ? klt_centred(samples_[y]) : 0;
      sx += x, sy += dy, si += i, ii += i * i, xi += x * i, yi += dy * i;
    }
    KltMoments m;
    m.xx = klt_warp_sum(xx), m.xy = klt_warp_sum(xy), m.yy = klt_warp_sum(yy);
    if (!gain_bias_) return m;
    m.x = klt_warp_sum(sx), m.y = klt_warp_sum(sy), m.i = klt_warp_sum(si);
    m.ii = klt_warp_sum(ii), m.xi = klt_warp_sum(xi), m.yi = klt_warp_sum(yi);
    return m;
  }

  __device__ KltMatch match(const ImageView<const Pixel>& level, const KltSpot& spot,
                            const KltRect& rect) const {
    const bool counts = lane_ >= rect.x0 && lane_ < rect.x1;
    int x = 0, dy = 0, d = 0, dd = 0;
    each(level, spot, rect, [&](int y, int sample) {
      const int base = gain_bias_ ? kKltMiddle : samples_[y];
      const int value = counts ? scaled15(sample - base, kKltToFive) : 0;
      x += value * slopes_x_[y], dy += value * slopes_y_[y];
      if (gain_bias_) d += value, dd += value * value;
    });
    KltMatch m;
    m.x = klt_warp_sum(x), m.y = klt_warp_sum(dy);
    if (gain_bias_) m.d = klt_warp_sum(d), m.dd = klt_warp_sum(dd);
    return m;
  }

  __device__ int64_t residual(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect,
                              const KltGainBias& gain_bias) const {
    const bool counts = lane_ >= rect.x0 && lane_ < rect.x1;
    int sum = 0;
    each(level, spot, rect, [&](int y, int sample) {
      sum += abs(gain_bias.difference(klt_centred(samples_[y]), klt_centred(sample)));
    });
    return klt_warp_sum(counts ? sum : 0);
  }

 private:
  static __device__ const Pixel* next_row(const Pixel* row, const ImageView<const Pixel>& level) {
    return reinterpret_cast<const Pixel*>(reinterpret_cast<const uint8_t*>(row) + level.pitch_bytes);
  }
  /// Interpolates along a row with 7 fraction bits. If pixels have no fraction bits, shifts the weight by 7
  /// bits once instead of shifting every difference.
  struct Lane {
    static constexpr int missing = sizeof(Pixel) == 1 ? 7 : 0;
    int fx;
    __device__ explicit Lane(const KltSpot& spot) : fx(spot.fx << missing) {}
    __device__ int at(int left, int right) const { return (left << missing) + scaled15(right - left, fx); }
    __device__ void across(const Pixel* p, int (&out)[3]) const {
      const int a = p[0], b = p[1], c = p[2], d = p[3];
      out[0] = at(a, b), out[1] = at(b, c), out[2] = at(c, d);
    }
  };
  /// Returns the lane's column; lanes beyond the window repeat its last column and are masked out.
  __device__ int column() const {
    return min(lane_, side_ - 1);
  }

  template <class Use>
  __device__ void each(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect,
                       Use use) const {
    const Pixel* row = level.row(spot.y + rect.y0) + spot.x + column();
    const Lane lane(spot);
    int above = lane.at(row[0], row[1]);
    const auto next = [&](int y) {
      row = next_row(row, level);
      const int below = lane.at(row[0], row[1]);
      use(y, above + scaled15(below - above, spot.fy));
      above = below;
    };
    if (rect.y0 == 0 && rect.y1 == kRows) {  // no conditions, so that loads are issued early
#pragma unroll
      for (int y = 0; y < kRows; ++y) next(y);
      return;
    }
#pragma unroll
    for (int y = 0; y < kRows; ++y)
      if (y >= rect.y0 && y < rect.y1) next(y);
  }

  int lane_, side_;
  bool gain_bias_;
  int samples_[kRows], slopes_x_[kRows], slopes_y_[kRows];
};

template <class Pixel, int kRows>
__global__ void __launch_bounds__(32 * KltFollowTuning::warps, KltFollowTuning::blocks(kRows))
    klt_follow_kernel(const __grid_constant__ KltShape shape, KltState state, const KltBlock* params,
                      TrackTable* table) {
  const int slot = static_cast<int>(blockIdx.x * KltFollowTuning::warps + threadIdx.x / 32);
  if (slot >= shape.capacity) return;
  const auto* from = reinterpret_cast<const TrackTable*>(state.before());
  Track next{};
  if (slot < static_cast<int>(min(from->capacity, static_cast<uint32_t>(kMaxTracks))) &&
      is_alive(from->tracks()[slot].status)) {
    const Track track = from->tracks()[slot];
    if (state.frame->reset) {
      next = klt_end_at_cut(track);
    } else {
      const KltBlock block = *params;
      KltWarpWindow<Pixel, kRows> window(shape.window, block.gain_bias);
      next =
          klt_follow(window, shape, state.before(), static_cast<const uint8_t*>(state.after()), track, block);
    }
  }
  if ((threadIdx.x & 31) == 0) table->tracks()[slot] = next;
}

template <class Pixel>
auto follow_kernel(int window) {
  return window <= 11   ? &klt_follow_kernel<Pixel, 11>
         : window <= 21 ? &klt_follow_kernel<Pixel, 21>
                        : &klt_follow_kernel<Pixel, 31>;
}

}  // namespace

void Klt::launch_follow(const PassArgs& args, CudaStream stream) const {
  const auto kernel =
      shape_.deep ? follow_kernel<uint16_t>(shape_.window) : follow_kernel<uint8_t>(shape_.window);
  kernel<<<blocks_for(shape_.capacity, KltFollowTuning::warps), 32 * KltFollowTuning::warps, 0, stream>>>(
      shape_, state_of(args), &block_of(args), &table_of(args));
  LENSD_LAUNCHED();
  if (shape_.patch_bytes > 0) launch_drift(args, stream);
}

}  // namespace lensd
