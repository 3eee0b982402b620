#include "kernels/gaussian/gaussian_simd.hpp"

#include "kernels/common/border/border_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/gaussian/gaussian_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// Pairs neighbours: out[i] = in[i] | in[i + step] << 16.
void pair_neighbours(const uint8_t* in, int samples, int step, uint32_t* out) {
  const hn::ScalableTag<uint32_t> d32;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  for (int i = 0; i < samples; i += lanes) {
    const auto a = hn::PromoteTo(d32, hn::LoadU(d8, in + i)),
               b = hn::PromoteTo(d32, hn::LoadU(d8, in + i + step));
    hn::StoreU(hn::Or(a, hn::ShiftLeft<16>(b)), d32, out + i);
  }
}

/// Computes horizontal sums of two rows in 1/128, interleaved as a row pair.
void blur_across(const uint32_t* a, const uint32_t* b, int samples, int step, const GaussianTapPairs& taps,
                 uint32_t* out) {
  const hn::ScalableTag<int32_t> d32;
  const hn::RepartitionToNarrow<decltype(d32)> d16;
  const hn::RebindToUnsigned<decltype(d32)> du32;
  using V = hn::Vec<decltype(d32)>;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto half = hn::Set(d32, 1 << 8);
  const auto pair_at = [&](const uint32_t* p) HWY_ATTR { return hn::BitCast(d16, hn::LoadU(du32, p)); };
  for (int i = 0; i < samples; i += 2 * lanes) {
    V a0 = half, a1 = half, b0 = half, b1 = half;
    if (taps.whole_centre) {
      const int centre = i + step * taps.radius;
      const auto whole = [&](const uint32_t* p)
                             HWY_ATTR { return hn::BitCast(d32, hn::ShiftLeft<16>(hn::LoadU(du32, p))); };
      a0 = hn::Add(a0, whole(a + centre)), a1 = hn::Add(a1, whole(a + centre + lanes));
      b0 = hn::Add(b0, whole(b + centre)), b1 = hn::Add(b1, whole(b + centre + lanes));
    }
    for (int k = 0; k < taps.count; ++k) {
      const auto tap = hn::BitCast(d16, hn::Set(du32, taps.even[k]));
      const int at = i + 2 * step * k;
      a0 = hn::Add(a0, pair_dot(d32, pair_at(a + at), tap));
      a1 = hn::Add(a1, pair_dot(d32, pair_at(a + at + lanes), tap));
      b0 = hn::Add(b0, pair_dot(d32, pair_at(b + at), tap));
      b1 = hn::Add(b1, pair_dot(d32, pair_at(b + at + lanes), tap));
    }
    const auto merge = [&](V low, V high) HWY_ATTR {
      return hn::BitCast(du32, hn::Or(hn::ShiftRight<9>(low), hn::ShiftLeft<16>(hn::ShiftRight<9>(high))));
    };
    hn::StoreU(merge(a0, b0), du32, out + i);
    hn::StoreU(merge(a1, b1), du32, out + i + lanes);
  }
}

/// Computes vertical sums of taps.count row pairs for two output rows: the row whose window begins at pair 0,
/// and the next one.
void blur_down(const uint32_t* const* pairs, int samples, const GaussianTapPairs& taps, uint8_t* out0,
               uint8_t* out1) {
  const hn::ScalableTag<int32_t> d32;
  const hn::RepartitionToNarrow<decltype(d32)> d16;
  const hn::RebindToUnsigned<decltype(d32)> du32;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  using V = hn::Vec<decltype(d32)>;
  const int lanes = static_cast<int>(hn::Lanes(d32)), r = taps.radius;
  const auto half = hn::Set(d32, 1 << 22);
  const auto whole = [&](int row, int i) HWY_ATTR {
    const auto pair = hn::LoadU(du32, pairs[row / 2] + i);
    const auto word = row % 2 == 0 ? hn::ShiftLeft<16>(pair) : hn::And(pair, hn::Set(du32, 0xffff0000u));
    return hn::BitCast(d32, word);
  };
  for (int i = 0; i < samples; i += 2 * lanes) {
    V a0 = half, a1 = half, b0 = half, b1 = half;
    if (taps.whole_centre) {
      a0 = hn::Add(a0, whole(r, i)), a1 = hn::Add(a1, whole(r, i + lanes));
      b0 = hn::Add(b0, whole(r + 1, i)), b1 = hn::Add(b1, whole(r + 1, i + lanes));
    }
    for (int k = 0; k < taps.count; ++k) {
      const auto even = hn::BitCast(d16, hn::Set(du32, taps.even[k])),
                 odd = hn::BitCast(d16, hn::Set(du32, taps.odd[k]));
      const auto p0 = hn::BitCast(d16, hn::LoadU(du32, pairs[k] + i));
      const auto p1 = hn::BitCast(d16, hn::LoadU(du32, pairs[k] + i + lanes));
      a0 = hn::Add(a0, pair_dot(d32, p0, even)), a1 = hn::Add(a1, pair_dot(d32, p1, even));
      b0 = hn::Add(b0, pair_dot(d32, p0, odd)), b1 = hn::Add(b1, pair_dot(d32, p1, odd));
    }
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<23>(a0)), d8, out0 + i);
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<23>(a1)), d8, out0 + i + lanes);
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<23>(b0)), d8, out1 + i);
    hn::StoreU(hn::DemoteTo(d8, hn::ShiftRight<23>(b1)), d8, out1 + i + lanes);
  }
}

/// Writes the blurred row, except for the bits of `keep` (per 32-bit word), which are copied from the input.
void emit_row(const uint8_t* blurred, const uint8_t* in, uint8_t* out, int samples, uint32_t keep) {
  const hn::ScalableTag<uint32_t> d32;
  const hn::Repartition<uint8_t, decltype(d32)> d8;
  const auto mask = hn::BitCast(d8, hn::Set(d32, keep));
  const int lanes = static_cast<int>(hn::Lanes(d8));
  int i = 0;
  for (; i + lanes <= samples; i += lanes) {
    const auto kept = hn::And(hn::LoadU(d8, in + i), mask),
               changed = hn::AndNot(mask, hn::LoadU(d8, blurred + i));
    hn::StoreU(hn::Or(kept, changed), d8, out + i);
  }
  for (; i < samples; ++i) out[i] = (keep >> (i % 4 * 8)) & 1 ? in[i] : blurred[i];
}

/// Blurs column chunk [x0, x1) of a band.
void blur_chunk(ConstImageRef in, ImageRef out, Band band, int x0, int x1, const GaussianTapPairs& taps,
                Border border, GaussianScratch& s) {
  const int step = in.channels(), r = taps.radius, samples = (x1 - x0) * step;
  const uint32_t keep = step == 4 ? 0xff000000u : 0;
  const auto sum_pair = [&](int pair) {  // sums rows band.begin − r + 2 · pair and the next one
    for (int i = 0; i < 2; ++i) {
      const uint8_t* row = border_row(in, band.begin - r + 2 * pair + i, border);
      copy_span(row, in.width(), step, x0 - r, x1 + r, border, s.padded);
      pair_neighbours(s.padded, samples + 2 * r * step, step, s.neighbours[i]);
    }
    blur_across(s.neighbours[0], s.neighbours[1], samples, step, taps, s.ring[pair % taps.count]);
  };
  for (int pair = 0; pair < r; ++pair) sum_pair(pair);
  for (int y = band.begin; y < band.end; y += 2) {
    const int first = (y - band.begin) / 2;
    sum_pair(first + r);
    const uint32_t* pairs[kGaussianPairs];
    for (int k = 0; k < taps.count; ++k) pairs[k] = s.ring[(first + k) % taps.count];
    blur_down(pairs, samples, taps, s.blurred[0], s.blurred[1]);
    for (int i = 0; i < 2 && y + i < band.end; ++i)
      emit_row(s.blurred[i], in.row(y + i) + x0 * step, out.row(y + i) + x0 * step, samples, keep);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(blur_chunk);

void gaussian_band(ConstImageRef in, ImageRef out, Band band, const GaussianBlock& block, uint8_t* worker) {
  auto& scratch = *reinterpret_cast<GaussianScratch*>(worker);
  const GaussianTapPairs taps = GaussianTapPairs::make(block);
  const auto chunk = &HWY_DYNAMIC_DISPATCH(blur_chunk);
  const int width = in.width(), pixels = kGaussianChunk / in.channels();
  for (int x = 0; x < width; x += pixels)
    chunk(in, out, band, x, std::min(width, x + pixels), taps, block.border, scratch);
}

}  // namespace lensd
#endif
