#include "kernels/bilateral/bilateral_simd.hpp"

#include <algorithm>
#include <iterator>
#include <span>

// In addition to the targets of kernels/CMakeLists.txt, compile for AVX-512 VBMI, which has a permutation
// that does 64 table look-ups.
#define HWY_WANT_AVX3_DL
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS 0x347F

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/bilateral/bilateral_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// log2 of the centre's weight.
constexpr int kCentreShift = 15;

/// Computes bilateral_mean() in each lane. The single-precision quotient is off by at most one; the remainder
/// corrects it.
template <class D32, class V = hn::Vec<D32>>
HWY_INLINE V mean_lanes(D32 d32, V sum, V weights) {
  const hn::RebindToUnsigned<D32> du;
  const hn::Rebind<float, D32> df;
  const auto half = [&](V v) HWY_ATTR { return hn::BitCast(d32, hn::ShiftRight<1>(hn::BitCast(du, v))); };
  const auto rounded = hn::Add(sum, half(weights));  // unsigned, because it may exceed 2^31
  auto q = hn::ConvertTo(d32, hn::Div(hn::ConvertTo(df, half(rounded)), hn::ConvertTo(df, half(weights))));
  const auto one = hn::Set(d32, 1);
  const auto rest =
      hn::Sub(rounded, hn::Mul(q, weights));  // computed modulo 2^32; the true remainder fits in 32 bits
  q = hn::IfThenElse(hn::Lt(rest, hn::Zero(d32)), hn::Sub(q, one), q);
  return hn::IfThenElse(hn::Gt(rest, hn::Sub(weights, one)), hn::Add(q, one), q);
}

#if HWY_TARGET == HWY_AVX3_DL

using D8 = hn::ScalableTag<uint8_t>;
using V8 = hn::Vec<D8>;
using D16 = hn::ScalableTag<int16_t>;
using V16 = hn::Vec<D16>;
using D32 = hn::ScalableTag<int32_t>;
using V32 = hn::Vec<D32>;

/// Table of 256 bytes in registers. If `kNear`, only the first 128 bytes.
template <bool kNear>
struct ByteTable {
  V8 part[kNear ? 2 : 4];

  HWY_INLINE explicit ByteTable(const uint8_t* from) {
    for (size_t i = 0; i < std::size(part); ++i) part[i] = hn::LoadU(D8(), from + 64 * i);
  }
  HWY_INLINE V8 operator[](V8 at) const {
    const V8 low{_mm512_permutex2var_epi8(part[0].raw, at.raw, part[1].raw)};
    if constexpr (kNear) {
      return low;
    } else {
      const V8 high{_mm512_permutex2var_epi8(part[2].raw, at.raw, part[3].raw)};
      return V8{_mm512_mask_blend_epi8(_mm512_movepi8_mask(at.raw), low.raw, high.raw)};
    }
  }
};

/// Sums of 64 pixels. In each 128-bit block, vector k holds pixels 4·k … 4·k + 3 of the block's sixteen. That
/// is the order after interleaving bytes and then words.
struct PixelSums {
  V32 sums[4], weights[4];

  HWY_INLINE explicit PixelSums(V8 centre) {
    const V8 zero8 = hn::Zero(D8());
    const V16 zero16 = hn::Zero(D16());
    const V16 low = hn::BitCast(D16(), hn::InterleaveLower(D8(), centre, zero8));
    const V16 high = hn::BitCast(D16(), hn::InterleaveUpper(D8(), centre, zero8));
    sums[0] = hn::BitCast(D32(), hn::InterleaveLower(D16(), low, zero16));
    sums[1] = hn::BitCast(D32(), hn::InterleaveUpper(D16(), low, zero16));
    sums[2] = hn::BitCast(D32(), hn::InterleaveLower(D16(), high, zero16));
    sums[3] = hn::BitCast(D32(), hn::InterleaveUpper(D16(), high, zero16));
    for (V32& s : sums) s = hn::ShiftLeft<kCentreShift>(s);
    for (V32& w : weights) w = hn::Set(D32(), 1 << kCentreShift);
  }

  /// Adds two taps to vector `k`; their values and weights are interleaved.
  HWY_INLINE void add(int k, V16 weight, V8 value) {
    sums[k] = hn::Add(sums[k], pair_dot(D32(), weight, hn::BitCast(D16(), value)));
    weights[k] = hn::Add(weights[k], pair_dot(D32(), weight, hn::Set(D16(), 1)));
  }

  HWY_INLINE V8 means() const {
    V32 m[4];
    for (int k = 0; k < 4; ++k) m[k] = mean_lanes(D32(), sums[k], weights[k]);
    return V8{
        _mm512_packus_epi16(_mm512_packs_epi32(m[0].raw, m[1].raw), _mm512_packs_epi32(m[2].raw, m[3].raw))};
  }
};

/// Weights of 64 pixels as 16-bit words: the lower and the upper eight pixels of each 128-bit block.
struct Weights {
  V16 lower, upper;
  HWY_INLINE Weights(V8 low, V8 high)
      : lower(hn::BitCast(D16(), hn::InterleaveLower(D8(), low, high))),
        upper(hn::BitCast(D16(), hn::InterleaveUpper(D8(), low, high))) {}
};

template <bool kNear>
HWY_INLINE V8 difference(V8 a, V8 b) {
  const V8 d = hn::Sub(hn::Max(a, b), hn::Min(a, b));
  return kNear ? hn::Min(d, hn::Set(D8(), 127)) : d;
}

template <bool kNear>
HWY_INLINE void add_ring(const BilateralRings::Ring& ring, const uint8_t* const* taps, size_t i, V8 centre,
                         PixelSums& pixels) {
  const ByteTable<kNear> low(ring.low), high(ring.high);
  const V8 zero = hn::Zero(D8());
  for (int t = ring.first; t < ring.first + ring.count; t += 2) {
    const V8 a = hn::LoadU(D8(), taps[t] + i), b = hn::LoadU(D8(), taps[t + 1] + i);
    const V8 da = difference<kNear>(a, centre), db = difference<kNear>(b, centre);
    const Weights wa(low[da], high[da]), wb(low[db], high[db]);
    const V8 lower = hn::InterleaveLower(D8(), a, b), upper = hn::InterleaveUpper(D8(), a, b);
    pixels.add(0, hn::InterleaveLower(D16(), wa.lower, wb.lower), hn::InterleaveLower(D8(), lower, zero));
    pixels.add(1, hn::InterleaveUpper(D16(), wa.lower, wb.lower), hn::InterleaveUpper(D8(), lower, zero));
    pixels.add(2, hn::InterleaveLower(D16(), wa.upper, wb.upper), hn::InterleaveLower(D8(), upper, zero));
    pixels.add(3, hn::InterleaveUpper(D16(), wa.upper, wb.upper), hn::InterleaveUpper(D8(), upper, zero));
  }
}

template <bool kNear>
void permuted_row(const uint8_t* centre, const uint8_t* const* taps, const BilateralRings& rings,
                  uint8_t* out, size_t n) {
  const D8 d8;
  for (size_t i = 0; i < n; i += hn::Lanes(d8)) {
    const V8 c = hn::LoadU(d8, centre + i);
    PixelSums pixels(c);
    for (int r = 0; r < rings.count; ++r) add_ring<kNear>(rings.rings[r], taps, i, c, pixels);
    hn::BlendedStore(pixels.means(), hn::FirstN(d8, std::min(n - i, hn::Lanes(d8))), d8, out + i);
  }
}

void row(const uint8_t* centre, const uint8_t* const* taps, const BilateralBlock&,
         const BilateralRings& rings, uint8_t* out, size_t n) {
  (rings.near ? permuted_row<true> : permuted_row<false>)(centre, taps, rings, out, n);
}

#else

/// Filters a row. Loads the weights with gather instructions.
void row(const uint8_t* centre, const uint8_t* const* taps, const BilateralBlock& block,
         const BilateralRings& rings, uint8_t* out, size_t n) {
  const hn::ScalableTag<int32_t> d32;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  using V = hn::Vec<decltype(d32)>;
  const size_t lanes = hn::Lanes(d32);
  const auto round = hn::Set(d32, 256);
  for (size_t i = 0; i < n; i += 2 * lanes) {
    const auto load = [&](const uint8_t* from, size_t k)
                          HWY_ATTR { return hn::PromoteTo(d32, hn::LoadU(d8, from + i + k)); };
    const auto weigh = [&](V space, V value, V centre_value) HWY_ATTR {
      const V colour = hn::GatherIndex(d32, block.colour, hn::Abs(hn::Sub(value, centre_value)));
      return hn::ShiftRight<9>(hn::Add(hn::Mul(space, colour), round));
    };
    const V c0 = load(centre, 0), c1 = load(centre, lanes);
    V sum0 = hn::ShiftLeft<kCentreShift>(c0), sum1 = hn::ShiftLeft<kCentreShift>(c1);
    V weights0 = hn::Set(d32, 1 << kCentreShift), weights1 = weights0;
    for (int r = 0; r < rings.count; ++r) {
      const BilateralRings::Ring& ring = rings.rings[r];
      const V space = hn::Set(d32, ring.space);
      for (int t = ring.first; t < ring.first + ring.count; ++t) {
        const V v0 = load(taps[t], 0), v1 = load(taps[t], lanes);
        const V w0 = weigh(space, v0, c0), w1 = weigh(space, v1, c1);
        weights0 = hn::Add(weights0, w0), weights1 = hn::Add(weights1, w1);
        sum0 = hn::Add(sum0, hn::Mul(w0, v0)), sum1 = hn::Add(sum1, hn::Mul(w1, v1));
      }
    }
    const auto m0 = hn::DemoteTo(d8, mean_lanes(d32, sum0, weights0));
    const auto m1 = hn::DemoteTo(d8, mean_lanes(d32, sum1, weights1));
    if (i + 2 * lanes <= n) {
      hn::StoreU(m0, d8, out + i), hn::StoreU(m1, d8, out + i + lanes);
    } else {
      uint8_t last[128];
      hn::StoreU(m0, d8, last), hn::StoreU(m1, d8, last + lanes);
      for (size_t k = 0; i + k < n; ++k) out[i + k] = last[k];
    }
  }
}

#endif

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(row);

void BilateralRings::make(const BilateralBlock& block) {
  constexpr int kSquares = kBilateralMaxRadius * kBilateralMaxRadius + 1;
  const auto square = [](const BilateralBlock::Tap& t) { return t.x * t.x + t.y * t.y; };
  int members[kSquares] = {}, next[kSquares];
  for (int t = 0; t < block.taps_count; ++t) ++members[square(block.taps[t])];
  count = 0;
  for (int s = 1, first = 0; s < kSquares; first += members[s++]) {
    next[s] = first;
    if (members[s] == 0) continue;
    rings[count].first = first, rings[count].count = members[s];
    ++count;
  }
  for (int t = 0; t < block.taps_count; ++t)
    if (const int s = square(block.taps[t]); s > 0) taps[next[s]++] = block.taps[t];
  near = std::all_of(block.colour + 127, block.colour + 256, [](int32_t w) { return w == 0; });
  for (Ring& ring : std::span(rings, static_cast<size_t>(count))) {
    ring.space = taps[ring.first].weight;
    for (int d = 0; d < 256; ++d) {
      const uint32_t w =
          bilateral_weight(static_cast<uint32_t>(ring.space), static_cast<uint32_t>(block.colour[d]));
      ring.low[d] = static_cast<uint8_t>(w), ring.high[d] = static_cast<uint8_t>(w >> 8);
    }
  }
}

void bilateral_row(const uint8_t* centre, const uint8_t* const* taps, const BilateralBlock& block,
                   const BilateralRings& rings, uint8_t* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(row)(centre, taps, block, rings, out, n);
}

}  // namespace lensd
#endif
