// The vector code of deep_colour_row(): YUV with chroma halved horizontally to colours, and colours to
// pixels. The operations are those of deep_of_yuv() and to_deep_sample(), in the same order, so the bytes are
// the same.
#include <cstring>

#include "kernels/colour/colour_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/colour/deep_rows.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using DeepFloats = hn::ScalableTag<float>;
using DeepInts = hn::RebindToSigned<DeepFloats>;

/// Returns the samples (word >> shift) & mask as floats.
HWY_INLINE hn::Vec<DeepFloats> samples(hn::Vec<DeepInts> words, int shift, int mask) {
  const DeepInts d;
  return hn::ConvertTo(DeepFloats(), hn::And(hn::ShiftRightSame(words, shift), hn::Set(d, mask)));
}

/// Calls `vector(pointers, i)` for i = 0, lanes, … until all `bytes` are read. The pointers point to item i,
/// and an item has `item_bytes` bytes. Copies the last items to a whole vector first, so that nothing after
/// them is read.
template <int kPointers, class Vector>
HWY_INLINE void for_vectors(const uint8_t* const* from, size_t item_bytes, size_t bytes,
                            const Vector& vector) {
  constexpr size_t kMaxItems = 16, kMaxItemBytes = 4;
  const int lanes = static_cast<int>(hn::Lanes(DeepFloats()));
  const size_t vector_bytes = static_cast<size_t>(lanes) * item_bytes;
  const uint8_t* at[kPointers];
  size_t done = 0;
  int i = 0;
  for (; done + vector_bytes <= bytes; done += vector_bytes, i += lanes) {
    for (int p = 0; p < kPointers; ++p) at[p] = from[p] + done;
    vector(at, i);
  }
  if (done == bytes) return;
  alignas(64) uint8_t rest[kPointers][kMaxItems * kMaxItemBytes] = {};
  for (int p = 0; p < kPointers; ++p) {
    std::memcpy(rest[p], from[p] + done, bytes - done);
    at[p] = rest[p];
  }
  vector(at, i);
}

/// Blends two rows of chroma. Results are in quarters of a sample value, relative to grey. Also writes a copy
/// of the first result before it, and a copy of the last result after it.
template <class Word>
void blend_halved(const HalvedRow& row, float middle, int pairs, float* u, float* v) {
  const DeepFloats df;
  const DeepInts d;
  const hn::Rebind<Word, DeepInts> dw;
  const auto first = hn::Set(df, row.first_weight), second = hn::Set(df, row.second_weight);
  const auto grey = hn::Set(df, middle / 4);
  const auto blended = [&](auto a, auto b) HWY_ATTR {
    const auto fa = samples(hn::PromoteTo(d, a), row.chroma_shift, row.mask);
    const auto fb = samples(hn::PromoteTo(d, b), row.chroma_shift, row.mask);
    return hn::Sub(hn::Add(hn::Mul(first, fa), hn::Mul(second, fb)), grey);
  };
  const size_t bytes = static_cast<size_t>(pairs) * sizeof(Word);
  const auto words = [](const uint8_t* p) { return reinterpret_cast<const Word*>(p); };
  if (row.interleaved) {
    const uint8_t* const from[] = {row.u[0], row.u[1]};
    for_vectors<2>(from, 2 * sizeof(Word), 2 * bytes, [&](const uint8_t* const* at, int i) HWY_ATTR {
      hn::Vec<decltype(dw)> ua, va, ub, vb;
      hn::LoadInterleaved2(dw, words(at[0]), ua, va);
      hn::LoadInterleaved2(dw, words(at[1]), ub, vb);
      hn::StoreU(blended(ua, ub), df, u + i);
      hn::StoreU(blended(va, vb), df, v + i);
    });
  } else {
    const uint8_t* const from[] = {row.u[0], row.u[1], row.v[0], row.v[1]};
    for_vectors<4>(from, sizeof(Word), bytes, [&](const uint8_t* const* at, int i) HWY_ATTR {
      hn::StoreU(blended(hn::LoadU(dw, words(at[0])), hn::LoadU(dw, words(at[1]))), df, u + i);
      hn::StoreU(blended(hn::LoadU(dw, words(at[2])), hn::LoadU(dw, words(at[3]))), df, v + i);
    });
  }
  for (float* plane : {u, v}) plane[-1] = plane[0], plane[pairs] = plane[pairs - 1];
}

using DeepWords = hn::RebindToUnsigned<DeepInts>;

/// Returns to_deep_sample() of each value.
HWY_INLINE hn::Vec<DeepWords> rounded(hn::Vec<DeepFloats> v) {
  const DeepFloats df;
  const auto limited = hn::Min(hn::Max(v, hn::Zero(df)), hn::Set(df, 65535.f));
  return hn::BitCast(DeepWords(), hn::ConvertTo(DeepInts(), hn::Add(limited, hn::Set(df, 0.5f))));
}

/// Opaque RGBA16 pixels: red and green in `low`, blue and alpha in `high`.
struct PixelHalves {
  hn::Vec<DeepWords> low, high;
};
HWY_INLINE PixelHalves opaque(hn::Vec<DeepFloats> r, hn::Vec<DeepFloats> g, hn::Vec<DeepFloats> b) {
  return {hn::Or(rounded(r), hn::ShiftLeft<16>(rounded(g))),
          hn::Or(rounded(b), hn::Set(DeepWords(), 0xffff0000u))};
}

/// Stores colours of even and odd columns in three planes.
struct ToPlanes {
  float* const* planes;

  HWY_INLINE void store(int plane, int x, hn::Vec<DeepFloats> even, hn::Vec<DeepFloats> odd) const {
    hn::StoreInterleaved2(even, odd, DeepFloats(), planes[plane] + x);
  }
  HWY_INLINE void operator()(int x, hn::Vec<DeepFloats> r0, hn::Vec<DeepFloats> g0, hn::Vec<DeepFloats> b0,
                             hn::Vec<DeepFloats> r1, hn::Vec<DeepFloats> g1, hn::Vec<DeepFloats> b1) const {
    store(0, x, r0, r1), store(1, x, g0, g1), store(2, x, b0, b1);
  }
};

/// Stores opaque pixels of the columns before `width`.
struct ToPixels {
  uint16_t* out;
  int width;

  HWY_INLINE void operator()(int x, hn::Vec<DeepFloats> r0, hn::Vec<DeepFloats> g0, hn::Vec<DeepFloats> b0,
                             hn::Vec<DeepFloats> r1, hn::Vec<DeepFloats> g1, hn::Vec<DeepFloats> b1) const {
    constexpr int kMaxLanes = 16;
    const DeepWords du;
    const PixelHalves even = opaque(r0, g0, b0), odd = opaque(r1, g1, b1);
    const int columns = 2 * static_cast<int>(hn::Lanes(du));
    auto* const to = reinterpret_cast<uint32_t*>(out) + 2 * x;
    if (x + columns <= width) return hn::StoreInterleaved4(even.low, even.high, odd.low, odd.high, du, to);
    uint32_t rest[4 * kMaxLanes];
    hn::StoreInterleaved4(even.low, even.high, odd.low, odd.high, du, rest);
    std::memcpy(to, rest, static_cast<size_t>(width - x) * 8);
  }
};

/// Converts two columns for each value of chroma, which blend_halved() has written.
template <class Word, class Store>
void colours_of_halved(const HalvedRow& row, const DeepMatrix& m, int width, const float* u, const float* v,
                       const Store& store) {
  using Pair = hwy::MakeWide<Word>;
  const DeepFloats df;
  const DeepInts d;
  const DeepWords du;
  const hn::Rebind<Pair, DeepInts> dp;
  const auto black = hn::Set(df, m.black), luma = hn::Set(df, m.luma);
  const auto rv = hn::Set(df, m.rv), gu = hn::Set(df, m.gu), gv = hn::Set(df, m.gv), bu = hn::Set(df, m.bu);
  const auto two = hn::Set(df, 2.f), three = hn::Set(df, 3.f), four = hn::Set(df, 4.f);
  const auto sides = [&](const float* chroma, auto& even, auto& odd) HWY_ATTR {
    const auto here = hn::LoadU(df, chroma), after = hn::LoadU(df, chroma + 1);
    if (row.cosited) {
      even = hn::Mul(four, here), odd = hn::Mul(two, hn::Add(here, after));
    } else {
      const auto most = hn::Mul(three, here);
      even = hn::Add(most, hn::LoadU(df, chroma - 1)), odd = hn::Add(most, after);
    }
  };
  const auto based = [&](auto words) HWY_ATTR {
    return hn::Mul(luma, hn::Sub(samples(hn::BitCast(d, words), row.luma_shift, row.mask), black));
  };
  const auto green = [&](auto base, auto eu, auto ev)
                         HWY_ATTR { return hn::Sub(base, hn::Add(hn::Mul(gu, eu), hn::Mul(gv, ev))); };
  const uint8_t* const from[] = {row.luma};
  const size_t bytes = static_cast<size_t>(width) * sizeof(Word);
  for_vectors<1>(from, sizeof(Pair), bytes, [&](const uint8_t* const* at, int c) HWY_ATTR {
    const auto loaded = hn::LoadU(dp, reinterpret_cast<const Pair*>(at[0]));
    hn::Vec<DeepWords> pair;
    if constexpr (sizeof(Word) == 1)
      pair = hn::BitCast(du, hn::PromoteTo(d, loaded));
    else
      pair = loaded;
    const auto base0 = based(hn::And(pair, hn::Set(du, hwy::LimitsMax<Word>())));
    const auto base1 = based(hn::ShiftRight<8 * sizeof(Word)>(pair));
    hn::Vec<DeepFloats> u0, u1, v0, v1;
    sides(u + c, u0, u1), sides(v + c, v0, v1);
    store(2 * c, hn::Add(base0, hn::Mul(rv, v0)), green(base0, u0, v0), hn::Add(base0, hn::Mul(bu, u0)),
          hn::Add(base1, hn::Mul(rv, v1)), green(base1, u1, v1), hn::Add(base1, hn::Mul(bu, u1)));
  });
}

template <class Word>
void convert_words(const HalvedRow& row, const DeepMatrix& m, int width, float* u, float* v,
                   float* const* planes, uint16_t* pixels) {
  blend_halved<Word>(row, m.middle, (width + 1) / 2, u, v);
  if (planes)
    colours_of_halved<Word>(row, m, width, u, v, ToPlanes{planes});
  else
    colours_of_halved<Word>(row, m, width, u, v, ToPixels{pixels, width});
}

void convert_halved(const HalvedRow& row, const DeepMatrix& m, int width, float* u, float* v,
                    float* const* planes, uint16_t* pixels) {
  (row.two_bytes ? convert_words<uint16_t> : convert_words<uint8_t>)(row, m, width, u, v, planes, pixels);
}

void pack(const float* r, const float* g, const float* b, int width, uint16_t* out) {
  const DeepFloats df;
  const DeepWords du;
  const int lanes = static_cast<int>(hn::Lanes(df));
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const PixelHalves p = opaque(hn::LoadU(df, r + x), hn::LoadU(df, g + x), hn::LoadU(df, b + x));
    hn::StoreInterleaved2(p.low, p.high, du, reinterpret_cast<uint32_t*>(out) + 2 * x);
  }
  for (; x < width; ++x) {
    out[4 * x] = to_deep_sample(r[x]);
    out[4 * x + 1] = to_deep_sample(g[x]);
    out[4 * x + 2] = to_deep_sample(b[x]);
    out[4 * x + 3] = 65535;
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(convert_halved);
HWY_EXPORT(pack);

void deep_halved_row(const HalvedRow& row, const DeepMatrix& m, int width, float* u, float* v,
                     uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(convert_halved)(row, m, width, u, v, nullptr, out);
}

void deep_halved_colours(const HalvedRow& row, const DeepMatrix& m, int width, float* u, float* v,
                         float* const* out) {
  HWY_DYNAMIC_DISPATCH(convert_halved)(row, m, width, u, v, out, nullptr);
}

void deep_pack_row(const float* r, const float* g, const float* b, int width, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(pack)(r, g, b, width, out);
}

}  // namespace lensd
#endif
