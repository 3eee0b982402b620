#include "kernels/gaussian/deep_gaussian.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/common/border/border_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gaussian/deep_gaussian.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/deep/float_lanes-inl.hpp"

/// Four vectors of sums. They are separate members, because GCC keeps arrays of vectors in memory.
struct BlurSums {
  using D = hn::ScalableTag<float>;
  hn::Vec<D> s0, s1, s2, s3;

  static HWY_INLINE size_t lanes() { return hn::Lanes(D()); }
  HWY_INLINE BlurSums(const float* from, float weight) {
    const D d;
    const auto w = hn::Set(d, weight);
    s0 = hn::Mul(w, hn::LoadU(d, from)), s1 = hn::Mul(w, hn::LoadU(d, from + lanes()));
    s2 = hn::Mul(w, hn::LoadU(d, from + 2 * lanes())), s3 = hn::Mul(w, hn::LoadU(d, from + 3 * lanes()));
  }
  HWY_INLINE void add(const float* before, const float* after, float weight) {
    const D d;
    const auto w = hn::Set(d, weight);
    const auto term = [&](size_t i) HWY_ATTR {
      return hn::Mul(w, hn::Add(hn::LoadU(d, before + i), hn::LoadU(d, after + i)));
    };
    s0 = hn::Add(s0, term(0)), s1 = hn::Add(s1, term(lanes()));
    s2 = hn::Add(s2, term(2 * lanes())), s3 = hn::Add(s3, term(3 * lanes()));
  }
};

/// Computes deep_gaussian_sum() for `n` samples of a row. `padded` starts `radius` pixels before the first
/// output; its values are converted to float in `samples`. `out` needs room for n rounded up to a multiple of
/// kDeepGaussianBlock.
void sum_across(const uint16_t* padded, const float* weights, int radius, int step, int n, float* samples,
                float* out) {
  const hn::ScalableTag<float> d;
  const Samples16<decltype(d)> d16;
  const int lanes = static_cast<int>(hn::Lanes(d)), block = 4 * lanes;
  const int count = (n + block - 1) / block * block + 2 * radius * step;
  for (int i = 0; i < count; i += lanes) hn::StoreU(widened(d, hn::LoadU(d16, padded + i)), d, samples + i);
  const float* const first = samples + radius * step;
  for (int i = 0; i < n; i += block) {
    BlurSums sums(first + i, weights[0]);
    for (int k = 1; k <= radius; ++k) sums.add(first + i - k * step, first + i + k * step, weights[k]);
    hn::StoreU(sums.s0, d, out + i), hn::StoreU(sums.s1, d, out + i + lanes);
    hn::StoreU(sums.s2, d, out + i + 2 * lanes), hn::StoreU(sums.s3, d, out + i + 3 * lanes);
  }
}

/// Writes deep_gaussian_value() of the sums over rows; rows[k] is the row at distance k from the centre. In
/// pictures with four channels, copies alpha from `from`.
void sum_down(const float* const* rows, const float* weights, int radius, int channels, int n,
              const uint16_t* from, uint16_t* to) {
  const hn::ScalableTag<float> d;
  const Samples16<decltype(d)> d16;
  const int lanes = static_cast<int>(hn::Lanes(d)), block = 4 * lanes;
  const auto kept = alpha_mask(d16, channels);
  const auto store = [&](auto sum, const uint16_t* old, uint16_t* out)
                         HWY_ATTR { store_samples(d, sum, kept, old, out); };
  for (int i = 0; i < n; i += block) {
    BlurSums sums(rows[0] + i, weights[0]);
    for (int k = 1; k <= radius; ++k) sums.add(rows[-k] + i, rows[k] + i, weights[k]);
    const bool whole = i + block <= n;
    const size_t rest = 2 * static_cast<size_t>(n - i);
    uint16_t last[kDeepGaussianBlock];
    if (!whole) std::memcpy(last, from + i, rest);
    const uint16_t* const old = whole ? from + i : last;
    uint16_t* const out = whole ? to + i : last;
    store(sums.s0, old, out), store(sums.s1, old + lanes, out + lanes);
    store(sums.s2, old + 2 * lanes, out + 2 * lanes), store(sums.s3, old + 3 * lanes, out + 3 * lanes);
    if (!whole) std::memcpy(to + i, last, rest);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(sum_across);
HWY_EXPORT(sum_down);

namespace {

void blur_chunk(ConstImageRef in, ImageRef out, Band band, int x0, int x1, const GaussianBlock& block,
                DeepGaussianScratch& s) {
  const int step = in.channels(), r = block.radius, n = (x1 - x0) * step, rows = 2 * r + 1;
  const auto slot = [&](int y) { return s.ring[(y - band.begin + rows) % rows]; };
  const auto add_row = [&](int y) {
    copy_span(border_row(in, y, block.border), in.width(), in.pixel_bytes(), x0 - r, x1 + r, block.border,
              reinterpret_cast<uint8_t*>(s.padded));
    HWY_DYNAMIC_DISPATCH(sum_across)(s.padded, block.weights, r, step, n, s.samples, slot(y));
  };
  for (int y = band.begin - r; y < band.begin + r; ++y) add_row(y);
  for (int y = band.begin; y < band.end; ++y) {
    add_row(y + r);
    const float* ring[2 * kGaussianMaxRadius + 1];
    for (int k = -r; k <= r; ++k) ring[k + r] = slot(y + k);
    HWY_DYNAMIC_DISPATCH(sum_down)
    (ring + r, block.weights, r, step, n, in.samples<uint16_t>(y) + x0 * step,
     out.samples<uint16_t>(y) + x0 * step);
  }
}

}  // namespace

void deep_gaussian_band(ConstImageRef in, ImageRef out, Band band, const GaussianBlock& block,
                        uint8_t* worker) {
  auto& scratch = *reinterpret_cast<DeepGaussianScratch*>(worker);
  const int width = in.width(), pixels = kDeepGaussianChunk / in.channels();
  for (int x = 0; x < width; x += pixels)
    blur_chunk(in, out, band, x, std::min(width, x + pixels), block, scratch);
}

}  // namespace lensd
#endif
