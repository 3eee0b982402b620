// Converts 4:2:0 and 4:2:2 with up to 12 bits, the formats of most decoders and cameras, to RGBA. Chroma is
// blended vertically into 16-bit pairs (U, V). A 32-bit lane then holds the chroma pair of two luma columns,
// and pair_dot() applies the matrix to it. Even with 12-bit samples, chroma in sixteenths fits in 16 bits.
#include <cstring>

#include "kernels/colour/colour_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/colour/colour_halved.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// Loads samples into 16-bit lanes.
template <class D16>
HWY_INLINE hn::Vec<D16> load_samples(D16 d16, const uint8_t* from, int, int) {
  return hn::PromoteTo(d16, hn::LoadU(hn::Rebind<uint8_t, D16>(), from));
}
template <class D16>
HWY_INLINE hn::Vec<D16> load_samples(D16 d16, const uint16_t* from, int shift, int mask) {
  const auto words = hn::ShiftRightSame(hn::LoadU(hn::RebindToUnsigned<D16>(), from), shift);
  return hn::And(hn::BitCast(d16, words), hn::Set(d16, static_cast<int16_t>(mask)));
}

/// Loads a sample at any address: rows of two-byte samples can start at odd addresses.
template <class Word>
Word load_any(const Word* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

/// Returns ChromaRows::blend() of a vector of samples.
template <class Word, class D16>
HWY_INLINE hn::Vec<D16> blended(D16 d16, const ChromaRows& rows, const Word* a, const Word* b) {
  const auto va = load_samples(d16, a, rows.shift, rows.mask);
  const auto vb = load_samples(d16, b, rows.shift, rows.mask);
  const auto sum = hn::Add(hn::Mul(va, hn::Set(d16, static_cast<int16_t>(rows.wa))),
                           hn::Mul(vb, hn::Set(d16, static_cast<int16_t>(rows.wb))));
  return hn::Sub(sum, hn::Set(d16, static_cast<int16_t>(rows.grey)));
}

/// Writes `pairs` blended pairs (U, V).
template <class Word>
HWY_INLINE void blend_words(const ChromaRows& from, int pairs, int16_t* HWY_RESTRICT out) {
  const ChromaRows rows = from;
  const hn::ScalableTag<int16_t> d16;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto words = [](const uint8_t* p) { return reinterpret_cast<const Word*>(p); };
  const Word *ua = words(rows.a[0]), *ub = words(rows.b[0]);
  const auto blend = [&](const Word* a, const Word* b) { return rows.blend(load_any(a), load_any(b)); };
  int i = 0;
  if (rows.interleaved) {
    for (; i + lanes <= 2 * pairs; i += lanes) hn::StoreU(blended(d16, rows, ua + i, ub + i), d16, out + i);
    for (; i < 2 * pairs; ++i) out[i] = blend(ua + i, ub + i);
    return;
  }
  const Word *va = words(rows.a[1]), *vb = words(rows.b[1]);
  for (; i + lanes <= pairs; i += lanes)
    hn::StoreInterleaved2(blended(d16, rows, ua + i, ub + i), blended(d16, rows, va + i, vb + i), d16,
                          out + 2 * i);
  for (; i < pairs; ++i) out[2 * i] = blend(ua + i, ub + i), out[2 * i + 1] = blend(va + i, vb + i);
}

void blend_chroma(const ChromaRows& rows, int pairs, int16_t* out) {
  (rows.two_bytes ? blend_words<uint16_t> : blend_words<uint8_t>)(rows, pairs, out);
}

/// Converts two columns for each of `pairs` chroma pairs. Works in whole vectors: `uv` must be readable from
/// pair −1 to one pair after the last vector, `luma` readable and `out` writable for whole vectors.
/// `luma_shift`: a luma sample is (word >> luma_shift) & m.sample_mask; not used for bytes.
template <class Word>
HWY_INLINE void convert_words(const uint8_t* luma_bytes, int luma_shift, const int16_t* uv, int pairs,
                              bool cosited, const ColourMatrix& m, uint8_t* out) {
  constexpr bool kBytes = sizeof(Word) == 1;
  const auto* luma = reinterpret_cast<const Word*>(luma_bytes);
  const hn::ScalableTag<int32_t> d32;
  const hn::RepartitionToNarrow<decltype(d32)> d16;
  const hn::Rebind<uint16_t, decltype(d32)> d16_half;
  const hn::Repartition<uint8_t, decltype(d16_half)> d8_half;
  using V32 = hn::Vec<decltype(d32)>;
  using V16 = hn::Vec<decltype(d16)>;
  const auto halves = [&](int low, int high) HWY_ATTR {
    return hn::BitCast(d16, hn::Set(d32, static_cast<int32_t>((static_cast<uint32_t>(low) & 0xffff) |
                                                              static_cast<uint32_t>(high) << 16)));
  };
  const V16 low_luma = halves(m.luma, 0), high_luma = halves(0, m.luma), to_r = halves(0, m.rv),
            to_g = halves(-m.gu, -m.gv), to_b = halves(m.bu, 0);
  const int shift = m.shift, mask = m.sample_mask;
  const V32 offset = hn::Set(d32, (1 << (shift - 1)) - 16 * m.black * m.luma);
  const V32 zero = hn::Zero(d32), top = hn::Set(d32, 255), low_byte = hn::Set(d32, 0xff);
  const V32 opaque = hn::Set(d32, static_cast<int32_t>(0xff000000u));
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto clamp = [&](V32 sum) HWY_ATTR {
    const V32 v = kBytes ? hn::ShiftRight<17>(sum) : hn::ShiftRightSame(sum, shift);
    return hn::Min(hn::Max(v, zero), top);
  };
  const auto pixel = [&](V32 scaled_luma, V16 chroma) HWY_ATTR {
    const V32 base = hn::Add(scaled_luma, offset);
    const V32 r = clamp(hn::Add(base, pair_dot(d32, chroma, to_r)));
    const V32 g = clamp(hn::Add(base, pair_dot(d32, chroma, to_g)));
    const V32 b = clamp(hn::Add(base, pair_dot(d32, chroma, to_b)));
    return hn::Or(hn::Or(r, hn::ShiftLeft<8>(g)), hn::Or(hn::ShiftLeft<16>(b), opaque));
  };
  for (int c = 0; c < pairs; c += lanes) {
    const V16 here = hn::LoadU(d16, uv + 2 * c), after = hn::LoadU(d16, uv + 2 * c + 2);
    V16 even, odd;
    if (cosited) {
      even = hn::ShiftLeft<2>(here);
      odd = hn::ShiftLeft<1>(hn::Add(here, after));
    } else {
      const V16 before = hn::LoadU(d16, uv + 2 * c - 2), three = hn::Add(here, hn::ShiftLeft<1>(here));
      even = hn::Add(three, before);
      odd = hn::Add(three, after);
    }
    V32 first, second;
    if constexpr (kBytes) {
      const V32 y = hn::PromoteTo(d32, hn::BitCast(d16_half, hn::LoadU(d8_half, luma + 2 * c)));
      const auto scaled = [&](V32 v) HWY_ATTR {
        return pair_dot(d32, hn::BitCast(d16, hn::ShiftLeft<4>(v)), low_luma);
      };
      first = scaled(hn::And(y, low_byte)), second = scaled(hn::ShiftRight<8>(y));
    } else {
      const V16 y = load_samples(d16, luma + 2 * c, luma_shift, mask);
      first = hn::ShiftLeft<4>(pair_dot(d32, y, low_luma));
      second = hn::ShiftLeft<4>(pair_dot(d32, y, high_luma));
    }
    hn::StoreInterleaved2(pixel(first, even), pixel(second, odd), d32,
                          reinterpret_cast<int32_t*>(out) + 2 * c);
  }
}

void convert_row(const uint8_t* luma, bool two_bytes, int luma_shift, const int16_t* uv, int pairs,
                 bool cosited, const ColourMatrix& m, uint8_t* out) {
  (two_bytes ? convert_words<uint16_t> : convert_words<uint8_t>)(luma, luma_shift, uv, pairs, cosited, m,
                                                                 out);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace lensd {

HWY_EXPORT(blend_chroma);
HWY_EXPORT(convert_row);

namespace {

constexpr int kVectorPairs = 16;  // number of pairs in the widest vector

/// Returns true if U and V alternate without gaps, so that one vector load reads pairs (U, V).
bool has_interleaved_chroma(const PictureFormat& f) {
  const ComponentLayout &u = f.components[1], &v = f.components[2];
  const int bytes = f.depth > 8 ? 2 : 1;
  return u.step == 2 * bytes && v.step == u.step && v.plane == u.plane && v.offset == u.offset + bytes;
}

/// Writes the vertically blended chroma pairs of row y to `uv`. Also writes a copy of the first pair before
/// it, and a copy of the last pair after it.
void gather_chroma(const PictureRef& picture, int mask, int y, int pairs, int16_t* uv) {
  const PictureFormat& f = picture.info.format;
  const ComponentLayout u = f.components[1], v = f.components[2];
  const ChromaTap tap = chroma_rows(picture.info, y);
  const auto row = [&](const ComponentLayout& c, int i) {
    return picture.planes[c.plane] + i * picture.pitch_bytes[c.plane] + c.offset;
  };
  const bool interleaved = has_interleaved_chroma(f);
  const ChromaRows rows{.a = {row(u, tap.first), row(v, tap.first)},
                        .b = {row(u, tap.second), row(v, tap.second)},
                        .wa = tap.first_weight,
                        .wb = tap.second_weight,
                        .grey = 4 << (f.depth - 1),
                        .shift = u.shift,
                        .mask = mask,
                        .two_bytes = f.depth > 8,
                        .interleaved = interleaved};
  if (f.depth == 8 && !interleaved && (u.step > 1 || v.step > 1)) {  // packed, such as YUYV
    for (int i = 0; i < pairs; ++i)
      for (int p = 0; p < 2; ++p) {
        const int at = i * (p == 0 ? u.step : v.step);
        uv[2 * i + p] = rows.blend(rows.a[p][at], rows.b[p][at]);
      }
  } else {
    HWY_DYNAMIC_DISPATCH(blend_chroma)(rows, pairs, uv);
  }
  for (int p = 0; p < 2; ++p) uv[p - 2] = uv[p], uv[2 * pairs + p] = uv[2 * pairs + p - 2];
}

}  // namespace

bool is_halved(const PictureFormat& f) {
  if (f.model != ColourModel::yuv || f.depth > 12 || f.chroma_shift_x != 1 || f.has_alpha) return false;
  const ComponentLayout &u = f.components[1], &v = f.components[2];
  return f.depth == 8 || (f.components[0].step == 2 && u.shift == v.shift &&
                          ((u.step == 2 && v.step == 2) || has_interleaved_chroma(f)));
}

void colour_row_halved(const PictureRef& picture, const ColourMatrix& matrix, int y, uint8_t* out,
                       uint8_t* worker) {
  const PictureFormat& f = picture.info.format;
  const int width = picture.info.extent.width, pairs = (width + 1) / 2;
  auto* uv = reinterpret_cast<int16_t*>(worker) + 2 * kVectorPairs;
  gather_chroma(picture, matrix.sample_mask, y, pairs, uv);
  uint8_t* spare =
      worker + 4 * static_cast<size_t>(pairs + 3 * kVectorPairs);  // after the chroma row and its padding
  const ComponentLayout layout = f.components[0];
  const bool two_bytes = f.depth > 8;
  const size_t bytes = two_bytes ? 2 : 1;
  const uint8_t* luma = picture.planes[layout.plane] + y * picture.pitch_bytes[layout.plane] + layout.offset;
  if (static_cast<size_t>(layout.step) != bytes) {  // packed, which has 8 bits
    for (int x = 0; x < width; ++x) spare[x] = luma[x * layout.step];
    luma = spare;
    spare += width;
  }
  // Whole vectors are written directly to the image; the rest goes through a spare row.
  const auto convert = [&](const uint8_t* from, const int16_t* chroma, int count, uint8_t* to) {
    HWY_DYNAMIC_DISPATCH(convert_row)
    (from, two_bytes, layout.shift, chroma, count, cosited_x(picture.info), matrix, to);
  };
  const int whole = width / (2 * kVectorPairs) * kVectorPairs;
  if (whole > 0) convert(luma, uv, whole, out);
  if (const int rest = width - 2 * whole; rest > 0) {
    uint8_t* pixels = spare + 4 * kVectorPairs;
    std::memcpy(spare, luma + 2 * static_cast<size_t>(whole) * bytes, static_cast<size_t>(rest) * bytes);
    convert(spare, uv + 2 * whole, (rest + 1) / 2, pixels);
    std::memcpy(out + 8 * static_cast<size_t>(whole), pixels, 4 * static_cast<size_t>(rest));
  }
}

}  // namespace lensd
#endif
