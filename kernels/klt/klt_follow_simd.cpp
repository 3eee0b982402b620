#include "kernels/klt/klt.hpp"
#include "kernels/klt/klt_follow.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/klt/klt_follow_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// SIMD implementation of the Window of klt_follow.hpp. Rows of a window are vectors of up to 32 16-bit
/// values. Lanes beyond the window or the picture are masked out of all sums. A 32-bit lane accumulates one
/// pair of products per row.
template <class PixelType>
class KltVectorWindow {
  using D16 = hn::CappedTag<int16_t, 32>;
  using D32 = hn::RepartitionToWide<D16>;
  using D64 = hn::RepartitionToWide<D32>;
  using D8 = hn::Rebind<uint8_t, D16>;
  using V16 = hn::Vec<D16>;
  using V32 = hn::Vec<D32>;

 public:
  using Pixel = PixelType;
  KltVectorWindow(int side, bool gain_bias) : side_(side), gain_bias_(gain_bias) {}

  void take(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect) {
    const Sampler sampler(level, spot);
    const int lanes = static_cast<int>(hn::Lanes(d16_));
    for (int x = -1; x < side_ + 1; x += lanes)
      sampler.rows(x, rect.y0 - 1, rect.y1 + 1,
                   [&](int y, V16 sample) HWY_ATTR { hn::Store(sample, d16_, samples_[y + 1] + (x + 1)); });
    const auto slope_side = set(kKltSlopeSide), slope_middle = set(kKltSlopeMiddle);
    const auto smooth_side = set(kKltSmoothSide), smooth_middle = set(kKltSmoothMiddle);
    const auto slope_smoothed = set(kKltSlopeSmoothed);
    for (int x = 0; x < side_; x += lanes) {
      const auto mask = columns(rect, x);
      struct Across {
        V16 side, middle, smooth;
      };
      const auto across = [&](int y) HWY_ATTR {
        const int16_t* row = samples_[y + 1] + x;
        const auto left = hn::Load(d16_, row), middle = hn::LoadU(d16_, row + 1),
                   right = hn::LoadU(d16_, row + 2);
        const auto slope = hn::Sub(right, left);
        const auto smooth = hn::Add(
            hn::MulFixedPoint15(left, smooth_side),
            hn::Add(hn::MulFixedPoint15(middle, smooth_middle), hn::MulFixedPoint15(right, smooth_side)));
        return Across{hn::MulFixedPoint15(slope, slope_side), hn::MulFixedPoint15(slope, slope_middle),
                      smooth};
      };
      Across above = across(rect.y0 - 1), here = across(rect.y0);
      for (int y = rect.y0; y < rect.y1; ++y) {
        const Across below = across(y + 1);
        const auto slope_x = hn::Add(hn::Add(above.side, here.middle), below.side);
        const auto slope_y = hn::MulFixedPoint15(hn::Sub(below.smooth, above.smooth), slope_smoothed);
        hn::Store(hn::And(slope_x, mask), d16_, slopes_x_[y] + x);
        hn::Store(hn::And(slope_y, mask), d16_, slopes_y_[y] + x);
        above = here, here = below;
      }
    }
  }

  KltMoments moments(const KltRect& rect) const {
    KltMoments m;
    const int lanes = static_cast<int>(hn::Lanes(d16_));
    const auto one = set(1), middle_grey = set(kKltMiddle), to_five = set(kKltToFive);
    for (int x = 0; x < side_; x += lanes) {
      const auto mask = columns(rect, x);
      auto xx = hn::Zero(d32_), xy = xx, yy = xx, sx = xx, sy = xx, si = xx, ii = xx, xi = xx, yi = xx;
      for (int y = rect.y0; y < rect.y1; ++y) {
        const auto slope_x = hn::And(hn::Load(d16_, slopes_x_[y] + x), mask);
        const auto slope_y = hn::And(hn::Load(d16_, slopes_y_[y] + x), mask);
        xx = hn::Add(xx, pair_dot(d32_, slope_x, slope_x));
        xy = hn::Add(xy, pair_dot(d32_, slope_x, slope_y));
        yy = hn::Add(yy, pair_dot(d32_, slope_y, slope_y));
        if (!gain_bias_) continue;
        const auto sample = hn::LoadU(d16_, samples_[y + 1] + x + 1);
        const auto i = hn::And(hn::MulFixedPoint15(hn::Sub(sample, middle_grey), to_five), mask);
        sx = hn::Add(sx, pair_dot(d32_, slope_x, one));
        sy = hn::Add(sy, pair_dot(d32_, slope_y, one));
        si = hn::Add(si, pair_dot(d32_, i, one));
        ii = hn::Add(ii, pair_dot(d32_, i, i));
        xi = hn::Add(xi, pair_dot(d32_, i, slope_x));
        yi = hn::Add(yi, pair_dot(d32_, i, slope_y));
      }
      m.xx += total(xx), m.xy += total(xy), m.yy += total(yy);
      if (!gain_bias_) continue;
      m.x += total(sx), m.y += total(sy), m.i += total(si);
      m.ii += total(ii), m.xi += total(xi), m.yi += total(yi);
    }
    return m;
  }

  KltMatch match(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect) const {
    return gain_bias_ ? match<true>(level, spot, rect) : match<false>(level, spot, rect);
  }

  int64_t residual(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect,
                   const KltGainBias& gain_bias) const {
    const Sampler sampler(level, spot);
    const int lanes = static_cast<int>(hn::Lanes(d16_));
    const auto gain = hn::Set(d32_, gain_bias.gain_q12), offset = hn::Set(d32_, gain_bias.offset);
    const auto half = hn::Set(d32_, 2048);
    const auto middle_grey = set(kKltMiddle), to_five = set(kKltToFive);
    int64_t sum = 0;
    for (int x = 0; x < side_; x += lanes) {
      const auto mask = columns(rect, x);
      const hn::Half<D16> d16_half;
      auto sums = hn::Zero(d32_);
      sampler.rows(x, rect.y0, rect.y1, [&](int y, V16 sample) HWY_ATTR {
        const auto own = hn::LoadU(d16_, samples_[y + 1] + x + 1);
        const auto i = hn::MulFixedPoint15(hn::Sub(own, middle_grey), to_five);
        const auto j = hn::MulFixedPoint15(hn::Sub(sample, middle_grey), to_five);
        const auto left = [&](auto i16, auto j16, auto mask16) HWY_ATTR {
          const auto levelled = hn::ShiftRight<12>(hn::Add(hn::Mul(hn::PromoteTo(d32_, j16), gain), half));
          const auto rest = hn::Sub(hn::Sub(levelled, hn::PromoteTo(d32_, i16)), offset);
          return hn::And(hn::Abs(rest), hn::PromoteTo(d32_, mask16));
        };
        sums = hn::Add(
            sums,
            hn::Add(
                left(hn::LowerHalf(d16_half, i), hn::LowerHalf(d16_half, j), hn::LowerHalf(d16_half, mask)),
                left(hn::UpperHalf(d16_half, i), hn::UpperHalf(d16_half, j), hn::UpperHalf(d16_half, mask))));
      });
      sum += total(sums);
    }
    return sum;
  }

 private:
  /// Samples columns x, x + 1, … of a level bilinearly with 7 fraction bits.
  class Sampler {
   public:
    Sampler(const ImageView<const Pixel>& level, const KltSpot& spot)
        : level_(level), spot_(spot), fx_(set(spot.fx)), fy_(set(spot.fy)) {}

    /// Calls use(y, samples) for rows [y0, y1) of the window.
    template <class Use>
    HWY_INLINE void rows(int x, int y0, int y1, Use use) const {
      const int column = spot_.x + x;
      V16 above = across(level_.row(spot_.y + y0) + column);
      for (int y = y0; y < y1; ++y) {
        const V16 below = across(level_.row(spot_.y + y + 1) + column);
        use(y, hn::Add(above, hn::MulFixedPoint15(hn::Sub(below, above), fy_)));
        above = below;
      }
    }

   private:
    HWY_INLINE V16 across(const Pixel* row) const {
      const V16 left = fixed(row);
      return hn::Add(left, hn::MulFixedPoint15(hn::Sub(fixed(row + 1), left), fx_));
    }
    /// Loads pixels with 7 fraction bits, as klt_fixed().
    static HWY_INLINE V16 fixed(const uint8_t* row) {
      return hn::ShiftLeft<7>(hn::PromoteTo(D16(), hn::LoadU(D8(), row)));
    }
    static HWY_INLINE V16 fixed(const uint16_t* row) {
      return hn::BitCast(D16(), hn::LoadU(hn::RebindToUnsigned<D16>(), row));
    }

    const ImageView<const Pixel>& level_;
    const KltSpot& spot_;
    V16 fx_, fy_;
  };

  template <bool kGainBias>
  KltMatch match(const ImageView<const Pixel>& level, const KltSpot& spot, const KltRect& rect) const {
    const Sampler sampler(level, spot);
    const int lanes = static_cast<int>(hn::Lanes(d16_));
    const auto to_five = set(kKltToFive), middle_grey = set(kKltMiddle), one = set(1);
    KltMatch m;
    for (int x = 0; x < side_; x += lanes) {
      const auto mask = columns(rect, x);
      auto sx = hn::Zero(d32_), sy = sx, sd = sx, dd = sx;
      sampler.rows(x, rect.y0, rect.y1, [&](int y, V16 sample) HWY_ATTR {
        V16 base = middle_grey;
        if constexpr (!kGainBias) base = hn::LoadU(d16_, samples_[y + 1] + x + 1);
        const auto d = hn::And(hn::MulFixedPoint15(hn::Sub(sample, base), to_five), mask);
        sx = hn::Add(sx, pair_dot(d32_, d, hn::Load(d16_, slopes_x_[y] + x)));
        sy = hn::Add(sy, pair_dot(d32_, d, hn::Load(d16_, slopes_y_[y] + x)));
        if constexpr (kGainBias)
          sd = hn::Add(sd, pair_dot(d32_, d, one)), dd = hn::Add(dd, pair_dot(d32_, d, d));
      });
      m.x += total(sx), m.y += total(sy);
      if constexpr (kGainBias) m.d += total(sd), m.dd += total(dd);
    }
    return m;
  }

  static HWY_INLINE V16 set(int v) { return hn::Set(D16(), static_cast<int16_t>(v)); }
  /// Returns all ones in the lanes of those columns x, x + 1, … that are inside `rect`.
  static HWY_INLINE V16 columns(const KltRect& rect, int x) {
    const D16 d16;
    const auto column = hn::Iota(d16, static_cast<int16_t>(x));
    return hn::VecFromMask(d16, hn::And(hn::Gt(column, set(rect.x0 - 1)), hn::Lt(column, set(rect.x1))));
  }
  static HWY_INLINE int64_t total(V32 v) {
    const D64 d64;
    const hn::Half<D32> half;
    const auto wide =
        hn::Add(hn::PromoteTo(d64, hn::LowerHalf(half, v)), hn::PromoteTo(d64, hn::UpperHalf(half, v)));
    return hn::GetLane(hn::SumOfLanes(d64, wide));
  }

  const D16 d16_{};
  const D32 d32_{};
  int side_;
  bool gain_bias_;
  alignas(64) int16_t samples_[kKltMaxWindow + 2][64];  ///< samples from column −1 and row −1 on
  alignas(64) int16_t slopes_x_[kKltMaxWindow][32], slopes_y_[kKltMaxWindow][32];
};

void follow_simd(const KltShape& shape, const KltState& state, const KltBlock& block, TrackTable& table,
                 Band slots) {
  const auto follow = [&](auto&& window)
                          HWY_ATTR { klt_follow_slots(window, shape, state, block, table, slots); };
  if (shape.deep) return follow(KltVectorWindow<uint16_t>(shape.window, block.gain_bias));
  follow(KltVectorWindow<uint8_t>(shape.window, block.gain_bias));
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(follow_simd);

void Klt::follow(const PassArgs& args, Band slots) const {
  HWY_DYNAMIC_DISPATCH(follow_simd)(shape_, state_of(args), block_of(args), table_of(args), slots);
}

}  // namespace lensd
#endif
