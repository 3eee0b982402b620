#include "kernels/draw_tracks/draw_tracks_simd.hpp"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/draw_tracks/draw_tracks_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Raises the keys of rows [begin, end) to the mark's keys where these are larger. `keys` is the start of row
/// `begin`. Marks of a trail overlap, so a load often reads what was just stored. Vectors are aligned,
/// because store forwarding requires the same address; unaligned vectors take twice as long. Lanes outside
/// the mark's columns have the key 0, which has no effect on the maximum.
void raise_keys(const DrawMark& m, int width, int begin, int end, uint32_t* keys, size_t pitch) {
  const hn::CappedTag<float, 16> df;
  const hn::RebindToSigned<decltype(df)> di;
  const hn::RebindToUnsigned<decltype(df)> du;
  const auto zero = hn::Zero(df), one = hn::Set(df, 1.f), half = hn::Set(df, 0.5f);
  const auto dx = hn::Set(df, m.dx), dy = hn::Set(df, m.dy), start_x = hn::Set(df, m.x);
  const auto inverse = hn::Set(df, m.inverse), level = hn::Set(df, m.level);
  const auto outer = hn::Set(df, m.outer), outer_slope = hn::Set(df, m.outer_slope);
  const auto inner = hn::Set(df, m.inner), inner_slope = hn::Set(df, m.inner_slope);
  const auto colour = hn::Set(du, m.colour);
  const int lanes = static_cast<int>(hn::Lanes(df));
  const auto covered = [&](auto limit, auto slope, auto distance2) {
    const auto rising = hn::Mul(hn::Sub(limit, distance2), slope);
    const auto held = hn::Min(hn::Max(rising, zero), level);
    return hn::BitCast(du, hn::ConvertTo(di, hn::Add(held, half)));
  };
  for (int y = begin; y < end; ++y) {
    const DrawSpan columns = columns_of(m, y, width);
    uint32_t* row = keys + static_cast<size_t>(y - begin) * pitch;
    const float row_y = static_cast<float>(y) - m.y;
    const auto ey = hn::Set(df, row_y), ey_dy = hn::Set(df, row_y * m.dy);
    for (int x = columns.first & -lanes; x <= columns.last; x += lanes) {
      const auto ex = hn::Sub(hn::Iota(df, static_cast<float>(x)), start_x);
      const auto way = hn::Mul(hn::Add(hn::Mul(ex, dx), ey_dy), inverse);
      const auto along = hn::Min(hn::Max(way, zero), one);
      const auto qx = hn::Sub(ex, hn::Mul(along, dx)), qy = hn::Sub(ey, hn::Mul(along, dy));
      const auto distance2 = hn::Add(hn::Mul(qx, qx), hn::Mul(qy, qy));
      const auto rim = covered(outer, outer_slope, distance2), fill = covered(inner, inner_slope, distance2);
      const auto key = hn::Or(hn::Or(hn::ShiftLeft<16>(fill), hn::ShiftLeft<8>(rim)), colour);
      const auto asked = hn::IfThenZeroElse(hn::Eq(rim, hn::Zero(du)), key);
      hn::Store(hn::Max(hn::Load(du, row + x), asked), du, row + x);
    }
  }
}

/// Returns v / 255, rounded, in 16-bit lanes, for v up to 255².
template <class D16, class V>
HWY_INLINE V lanes_div_255(D16 d, V v) {
  const V sum = hn::Add(v, hn::Set(d, 128));
  return hn::ShiftRight<8>(hn::Add(sum, hn::ShiftRight<8>(sum)));
}

/// Blends a row's keys over the copied input. Skips vectors without keys.
void blend_rgba(const uint32_t* keys, uint8_t* out, int width, const DrawTracksBlock& block) {
  const hn::ScalableTag<uint32_t> d32;
  const hn::RebindToSigned<decltype(d32)> di32;
  const hn::Repartition<uint16_t, decltype(d32)> d16;
  const hn::Repartition<uint8_t, decltype(d32)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto even = hn::Set(d32, 0x00ff00ffu), low = hn::Set(d32, 0xffu), alpha = hn::Set(d32, 0xff000000u);
  const auto rim = hn::Set(d32, uint32_t{block.rim}), opacity = hn::Set(d32, uint32_t{block.opacity});
  const auto full = hn::Set(d16, 255);
  const auto twice = [&](auto v) { return hn::BitCast(d16, hn::Or(v, hn::ShiftLeft<16>(v))); };
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto key = hn::LoadU(d32, keys + x);
    if (hn::AllTrue(d32, hn::Eq(key, hn::Zero(d32)))) continue;
    const auto pixel = hn::BitCast(d32, hn::LoadU(d8, out + 4 * x));
    const auto colour = hn::GatherIndex(d32, block.ramp, hn::BitCast(di32, hn::And(key, low)));
    const auto shade = twice(hn::ShiftRight<8>(hn::Mul(hn::And(hn::ShiftRight<8>(key), low), rim)));
    const auto fill = twice(hn::ShiftRight<8>(hn::Mul(hn::ShiftRight<16>(key), opacity)));
    const auto clear = hn::Sub(full, fill), light = hn::Sub(full, shade);
    const auto over = [&](auto v, auto c) {
      const auto darkened = lanes_div_255(d16, hn::Mul(hn::BitCast(d16, v), light));
      const auto sum = hn::Add(hn::Mul(darkened, clear), hn::Mul(hn::BitCast(d16, c), fill));
      return hn::BitCast(d32, lanes_div_255(d16, sum));
    };
    const auto red_blue = over(hn::And(pixel, even), hn::And(colour, even));
    const auto green = over(hn::And(hn::ShiftRight<8>(pixel), low), hn::And(hn::ShiftRight<8>(colour), low));
    const auto result = hn::Or(red_blue, hn::ShiftLeft<8>(green));
    hn::StoreU(hn::BitCast(d8, hn::Or(hn::AndNot(alpha, result), hn::And(pixel, alpha))), d8, out + 4 * x);
  }
  for (; x < width; ++x) {
    if (keys[x] == 0) continue;
    const uint32_t colour = block.ramp[keys[x] & 255];
    for (int c = 0; c < 3; ++c)
      out[4 * x + c] = static_cast<uint8_t>(
          blend_key(out[4 * x + c], keys[x], colour >> (8 * c) & 255, block.rim, block.opacity));
  }
}

void blend_gray(const uint32_t* keys, uint8_t* out, int width, const DrawTracksBlock& block) {
  const hn::ScalableTag<uint32_t> d32;
  const hn::RebindToSigned<decltype(d32)> di32;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto low = hn::Set(d32, 0xffu), full = hn::Set(d32, 255u), half = hn::Set(d32, 128u);
  const auto rim = hn::Set(d32, uint32_t{block.rim}), opacity = hn::Set(d32, uint32_t{block.opacity});
  const auto divided = [&](auto v) {
    const auto sum = hn::Add(v, half);
    return hn::ShiftRight<8>(hn::Add(sum, hn::ShiftRight<8>(sum)));
  };
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    const auto key = hn::LoadU(d32, keys + x);
    if (hn::AllTrue(d32, hn::Eq(key, hn::Zero(d32)))) continue;
    const auto v = hn::PromoteTo(d32, hn::LoadU(d8, out + x));
    const auto colour =
        hn::ShiftRight<24>(hn::GatherIndex(d32, block.ramp, hn::BitCast(di32, hn::And(key, low))));
    const auto shade = hn::ShiftRight<8>(hn::Mul(hn::And(hn::ShiftRight<8>(key), low), rim));
    const auto fill = hn::ShiftRight<8>(hn::Mul(hn::ShiftRight<16>(key), opacity));
    const auto darkened = divided(hn::Mul(v, hn::Sub(full, shade)));
    const auto result = divided(hn::Add(hn::Mul(darkened, hn::Sub(full, fill)), hn::Mul(colour, fill)));
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di32, result)), d8, out + x);
  }
  for (; x < width; ++x)
    if (keys[x] != 0)
      out[x] = static_cast<uint8_t>(
          blend_key(out[x], keys[x], block.ramp[keys[x] & 255] >> 24, block.rim, block.opacity));
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(raise_keys);
HWY_EXPORT(blend_rgba);
HWY_EXPORT(blend_gray);

DrawSpan rows_of_slot(const DrawTracksBlock& block, const DrawGrid& grid, const uint32_t* points, int trail,
                      int height) {
  uint32_t low = kNoPoint, high = 0;
  for (int k = 0; k <= trail; ++k) {
    if (points[k] == kNoPoint) continue;
    low = std::min(low, points[k] >> 16), high = std::max(high, points[k] >> 16);
  }
  if (low == kNoPoint) return {1, 0};
  const DrawMark widest = make_mark(0, 0, 0, 0, std::max(block.point_radius, block.trail_radius), 0, 0);
  return span_around(static_cast<float>(low) * grid.step, static_cast<float>(high) * grid.step, widest.reach,
                     height);
}

namespace {

/// Draws all marks of rows [begin, end) into the keys of a strip that starts at row `begin`.
void draw_strip(const DrawJob& job, int begin, int end, uint32_t* keys, size_t pitch) {
  const auto raise = &HWY_DYNAMIC_DISPATCH(raise_keys);
  const int width = job.in.width(), height = job.in.height();
  // Skip trail steps outside the strip before computing their marks.
  const float reach = make_mark(0, 0, 0, 0, job.block->trail_radius, 0, 0).reach + 1.f;
  const auto in_steps = [&](float row) { return static_cast<int>(row * job.grid.steps); };
  const int above = in_steps(static_cast<float>(begin) - reach),
            below = in_steps(static_cast<float>(end) + reach);
  const auto clear = [&](uint32_t from, uint32_t to) {
    const int a = static_cast<int>(from >> 16), b = static_cast<int>(to >> 16);
    return std::max(a, b) < above || std::min(a, b) > below;
  };
  for (int slot = 0; slot < job.slots; ++slot) {
    if (job.rows[slot].first >= end || job.rows[slot].last < begin) continue;
    const uint32_t* points = job.history->points(slot, job.trail);
    for (int k = 0; k <= job.trail; ++k) {
      if (k > 0 && clear(points[k - 1], points[k])) continue;
      DrawMark mark;
      if (!mark_of(*job.block, job.grid, job.history->slots()[slot], points, k, job.trail, mark)) continue;
      const DrawSpan rows = rows_of(mark, height);
      const int first = std::max(rows.first, begin), last = std::min(rows.last + 1, end);
      if (first < last)
        raise(mark, width, first, last, keys + static_cast<size_t>(first - begin) * pitch, pitch);
    }
  }
}

}  // namespace

namespace {

/// Blends a row of keys into 16-bit samples; most keys are 0.
void blend_deep(const uint32_t* keys, uint16_t* out, int width, bool gray, const DrawTracksBlock& block) {
  for (int x = 0; x < width; ++x) {
    if (keys[x] == 0) continue;
    const uint32_t colour = block.ramp[keys[x] & 255];
    uint16_t* const pixel = out + (gray ? x : 4 * x);
    for (int c = 0; c < (gray ? 1 : 3); ++c)
      pixel[c] = static_cast<uint16_t>(
          deep_blend_key(pixel[c], keys[x], colour >> (gray ? 24 : 8 * c) & 255, block.rim, block.opacity));
  }
}

}  // namespace

void draw_rows(const DrawJob& job, Band band, uint32_t* keys) {
  const int width = job.in.width();
  const size_t pitch = draw_key_pitch(width);
  const bool gray = is_gray(job.in.format.format);
  const auto blend = gray ? &HWY_DYNAMIC_DISPATCH(blend_gray) : &HWY_DYNAMIC_DISPATCH(blend_rgba);
  for (int begin = band.begin; begin < band.end; begin += kDrawStrip) {
    const int end = std::min(begin + kDrawStrip, band.end);
    std::memset(keys, 0, static_cast<size_t>(end - begin) * pitch * sizeof(uint32_t));
    draw_strip(job, begin, end, keys, pitch);
    for (int y = begin; y < end; ++y) {
      std::memcpy(job.out.row(y), job.in.row(y), job.in.row_bytes());
      const uint32_t* const of_row = keys + static_cast<size_t>(y - begin) * pitch;
      if (job.in.is_deep())
        blend_deep(of_row, job.out.samples<uint16_t>(y), width, gray, *job.block);
      else
        blend(of_row, job.out.row(y), width, *job.block);
    }
  }
}

}  // namespace lensd
#endif
