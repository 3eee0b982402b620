// Converts 8-bit 4:2:0 and 4:2:2, the formats of most decoders and cameras, to RGBA. Chroma is blended
// vertically into 16-bit pairs (U, V). A 32-bit lane then holds the chroma pair of two luma columns, and
// pair_dot() applies the matrix to it.
#include "kernels/colour/colour_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/colour/colour_halved.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// Computes out[i] = wa · a[i] + wb · b[i] − 512 for interleaved U and V. wa + wb is 4, so the result is
/// chroma in units of 1/4, with 0 for grey.
void blend_pairs(const uint8_t* a, const uint8_t* b, int wa, int wb, int pairs, int16_t* out) {
  const hn::ScalableTag<int16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const auto weight_a = hn::Set(d16, static_cast<int16_t>(wa)),
             weight_b = hn::Set(d16, static_cast<int16_t>(wb));
  const auto zero = hn::Set(d16, int16_t{512});
  const int lanes = static_cast<int>(hn::Lanes(d16));
  int i = 0;
  for (; i + lanes <= 2 * pairs; i += lanes) {
    const auto va = hn::PromoteTo(d16, hn::LoadU(d8, a + i)), vb = hn::PromoteTo(d16, hn::LoadU(d8, b + i));
    hn::StoreU(hn::Sub(hn::Add(hn::Mul(va, weight_a), hn::Mul(vb, weight_b)), zero), d16, out + i);
  }
  for (; i < 2 * pairs; ++i) out[i] = static_cast<int16_t>(wa * a[i] + wb * b[i] - 512);
}

/// Does the same as blend_pairs() for U and V in separate planes; a[p] and b[p] are the two rows of plane p.
void blend_planes(const uint8_t* const* a, const uint8_t* const* b, int wa, int wb, int pairs, int16_t* out) {
  const hn::ScalableTag<int32_t> d32;
  const hn::RepartitionToNarrow<decltype(d32)> d16;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const auto weights = hn::BitCast(d16, hn::Set(d32, wa | wb << 16));
  const auto zero = hn::Set(d32, 512), low = hn::Set(d32, 0xffff);
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto blend = [&](int plane, int i) HWY_ATTR {
    const auto va = hn::PromoteTo(d32, hn::LoadU(d8, a[plane] + i)),
               vb = hn::PromoteTo(d32, hn::LoadU(d8, b[plane] + i));
    const auto pair = hn::BitCast(d16, hn::Or(va, hn::ShiftLeft<16>(vb)));
    return hn::Sub(pair_dot(d32, pair, weights), zero);
  };
  int i = 0;
  for (; i + lanes <= pairs; i += lanes) {
    const auto uv = hn::Or(hn::And(blend(0, i), low), hn::ShiftLeft<16>(blend(1, i)));
    hn::StoreU(hn::BitCast(d16, uv), d16, out + 2 * i);
  }
  for (; i < pairs; ++i)
    for (int p = 0; p < 2; ++p) out[2 * i + p] = static_cast<int16_t>(wa * a[p][i] + wb * b[p][i] - 512);
}

/// Converts two columns for each of `pairs` chroma pairs. Works in whole vectors: `uv` must be readable from
/// pair −1 to one pair after the last vector, `luma` readable and `out` writable for whole vectors.
void convert_row(const uint8_t* luma, const int16_t* uv, int pairs, bool cosited, const ColourMatrix& m,
                 uint8_t* out) {
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
  const V16 luma_factor = halves(m.luma, 0), to_r = halves(0, m.rv), to_g = halves(-m.gu, -m.gv),
            to_b = halves(m.bu, 0);
  const V32 offset = hn::Set(d32, (1 << 16) - 16 * m.black * m.luma);
  const V32 zero = hn::Zero(d32), top = hn::Set(d32, 255), low_byte = hn::Set(d32, 0xff);
  const V32 opaque = hn::Set(d32, static_cast<int32_t>(0xff000000u));
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto clamp = [&](V32 sum) HWY_ATTR { return hn::Min(hn::Max(hn::ShiftRight<17>(sum), zero), top); };
  const auto pixel = [&](V32 y, V16 chroma) HWY_ATTR {
    const V32 base = hn::Add(pair_dot(d32, hn::BitCast(d16, hn::ShiftLeft<4>(y)), luma_factor), offset);
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
    const auto bytes = hn::BitCast(d16_half, hn::LoadU(d8_half, luma + 2 * c));
    const V32 y = hn::PromoteTo(d32, bytes);
    const V32 first = pixel(hn::And(y, low_byte), even), second = pixel(hn::ShiftRight<8>(y), odd);
    hn::StoreInterleaved2(first, second, d32, reinterpret_cast<int32_t*>(out) + 2 * c);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cstring>

namespace lensd {

HWY_EXPORT(blend_pairs);
HWY_EXPORT(blend_planes);
HWY_EXPORT(convert_row);

namespace {

constexpr int kVectorPairs = 16;  // number of pairs in the widest vector

/// Writes the vertically blended chroma pairs of row y to `uv`. Also writes a copy of the first pair before
/// it, and a copy of the last pair after it.
void gather_chroma(const PictureRef& picture, int y, int pairs, int16_t* uv) {
  const PictureFormat& f = picture.info.format;
  const ComponentLayout u = f.components[1], v = f.components[2];
  const ChromaTap tap = chroma_tap(y, f.chroma_shift_y, cosited_y(picture.info),
                                   chroma_size(picture.info.extent.height, f.chroma_shift_y));
  const auto row = [&](const ComponentLayout& c, int i) {
    return picture.planes[c.plane] + i * picture.pitch_bytes[c.plane] + c.offset;
  };
  const uint8_t* a[2] = {row(u, tap.first), row(v, tap.first)};
  const uint8_t* b[2] = {row(u, tap.second), row(v, tap.second)};
  if (u.step == 1 && v.step == 1) {
    HWY_DYNAMIC_DISPATCH(blend_planes)(a, b, tap.first_weight, tap.second_weight, pairs, uv);
  } else if (u.step == 2 && v.step == 2 && u.plane == v.plane && v.offset == u.offset + 1) {
    HWY_DYNAMIC_DISPATCH(blend_pairs)(a[0], b[0], tap.first_weight, tap.second_weight, pairs, uv);
  } else {
    for (int i = 0; i < pairs; ++i)
      for (int p = 0; p < 2; ++p) {
        const int at = i * (p == 0 ? u.step : v.step);
        uv[2 * i + p] =
            static_cast<int16_t>(tap.first_weight * a[p][at] + tap.second_weight * b[p][at] - 512);
      }
  }
  for (int p = 0; p < 2; ++p) uv[p - 2] = uv[p], uv[2 * pairs + p] = uv[2 * pairs + p - 2];
}

}  // namespace

bool is_halved_8bit(const PictureFormat& f) {
  return f.model == ColourModel::yuv && f.depth == 8 && f.chroma_shift_x == 1 && !f.has_alpha;
}

void colour_row_halved(const PictureRef& picture, const ColourMatrix& matrix, int y, uint8_t* out,
                       uint8_t* worker) {
  const int width = picture.info.extent.width, pairs = (width + 1) / 2;
  auto* uv = reinterpret_cast<int16_t*>(worker) + 2 * kVectorPairs;
  gather_chroma(picture, y, pairs, uv);
  uint8_t* spare =
      worker + 4 * static_cast<size_t>(pairs + 3 * kVectorPairs);  // after the chroma row and its padding
  const ComponentLayout layout = picture.info.format.components[0];
  const uint8_t* luma = picture.planes[layout.plane] + y * picture.pitch_bytes[layout.plane] + layout.offset;
  if (layout.step != 1) {
    for (int x = 0; x < width; ++x) spare[x] = luma[x * layout.step];
    luma = spare;
    spare += width;
  }
  // Whole vectors are written directly to the image; the rest goes through a spare row.
  const auto convert = HWY_DYNAMIC_DISPATCH(convert_row);
  const bool cosited = cosited_x(picture.info);
  const int whole = width / (2 * kVectorPairs) * kVectorPairs;
  if (whole > 0) convert(luma, uv, whole, cosited, matrix, out);
  if (const int rest = width - 2 * whole; rest > 0) {
    uint8_t* pixels = spare + 2 * kVectorPairs;
    std::memcpy(spare, luma + 2 * whole, static_cast<size_t>(rest));
    convert(spare, uv + 2 * whole, (rest + 1) / 2, cosited, matrix, pixels);
    std::memcpy(out + 8 * static_cast<size_t>(whole), pixels, 4 * static_cast<size_t>(rest));
  }
}

}  // namespace lensd
#endif
