#include "kernels/resize/resize_simd.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/resize/resize_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// Computes the horizontal sums of RGBA outputs [x0, x1), two pixels per step. Their taps must be inside the
/// row. Returns the first output not computed.
template <int kPairs>
int taps_rgba(const uint8_t* in, const ResizeTable& table, int x0, int x1, int16_t* out) {
  const hn::Full128<uint8_t> d8;
  const hn::Full128<int16_t> d16;
  const hn::Full128<int32_t> d32;
  const hn::Full128<uint64_t> d64;
  constexpr uint8_t z = 0x80;  // index that shuffles in 0
  alignas(16) constexpr uint8_t kSplit[16] = {0, z, 4, z, 1, z, 5, z, 2, z, 6, z, 3, z, 7, z};
  const auto split = hn::Load(d8, kSplit);
  const auto pixel = [&](int x) HWY_ATTR {
    const uint8_t* p = in + std::ptrdiff_t{table.start[x]} * 4;
    auto sum = hn::Set(d32, 128);
    for (int k = 0; k < kPairs; ++k) {
      uint64_t two;
      std::memcpy(&two, p + k * 8, 8);
      const auto samples = hn::TableLookupBytesOr0(hn::BitCast(d8, hn::Set(d64, two)), split);
      const auto weights = hn::BitCast(d16, hn::Set(d32, table.pair(k)[x]));
      sum = hn::Add(sum, pair_dot(d32, hn::BitCast(d16, samples), weights));
    }
    return hn::ShiftRight<8>(sum);
  };
  int x = x0;
  for (; x + 2 <= x1; x += 2) {
    const auto left = pixel(x), right = pixel(x + 1);
    hn::StoreU(hn::ReorderDemote2To(d16, left, right), d16, out + std::ptrdiff_t{x} * 4);
  }
  return x;
}

/// Computes the horizontal sums of grey outputs [x0, x1), four per step. 16 bytes from each start must be
/// inside the row. The 16 bytes from the first start contain the samples of all four outputs, unless the
/// picture shrinks to less than about a third (lanczos3) or a quarter (other methods). Returns the first
/// output not computed.
template <int kPairs>
int taps_gray(const uint8_t* in, const ResizeTable& table, int x0, int x1, int16_t* out) {
  const hn::Full128<uint8_t> d8;
  const hn::Full128<int16_t> d16;
  const hn::Full128<int32_t> d32;
  const hn::Half<decltype(d16)> half;
  int x = x0;
  for (; x + 4 <= x1; x += 4) {
    const int32_t* const starts = table.start + x;
    const bool close = starts[3] + 2 * kPairs <= starts[0] + 16;
    const auto samples = hn::LoadU(d8, in + starts[0]);
    const auto start = hn::LoadU(d32, starts);
    const auto offset = hn::Sub(start, hn::Broadcast<0>(start));
    // Each lane selects the bytes `offset`, 0, `offset` + 1, 0.
    auto places =
        hn::Add(hn::Or(offset, hn::ShiftLeft<16>(offset)), hn::Set(d32, static_cast<int32_t>(0x80018000u)));
    auto sum = hn::Set(d32, 128);
    for (int k = 0; k < kPairs; ++k) {
      auto pair = hn::TableLookupBytesOr0(samples, hn::BitCast(d8, places));
      if (!close) {
        alignas(16) int32_t apart[4];
        for (int i = 0; i < 4; ++i) apart[i] = in[starts[i] + 2 * k] | in[starts[i] + 2 * k + 1] << 16;
        pair = hn::BitCast(d8, hn::Load(d32, apart));
      }
      const auto weights = hn::LoadU(d32, table.pair(k) + x);
      sum = hn::Add(sum, pair_dot(d32, hn::BitCast(d16, pair), hn::BitCast(d16, weights)));
      places = hn::Add(places, hn::Set(d32, 0x00020002));
    }
    hn::StoreU(hn::DemoteTo(half, hn::ShiftRight<8>(sum)), half, out + x);
  }
  return x;
}

template <int kPairs>
size_t sum_rows(const int16_t* const* rows, const int32_t* pairs, size_t n, uint8_t* out) {
  const hn::ScalableTag<int16_t> d16;
  const hn::Repartition<int32_t, decltype(d16)> d32;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const size_t lanes = hn::Lanes(d16);
  size_t x = 0;
  for (; x + lanes <= n; x += lanes) {
    auto lower = hn::Set(d32, 1 << 19), upper = lower;
    for (int p = 0; p < kPairs; ++p) {
      const auto a = hn::LoadU(d16, rows[2 * p] + x), b = hn::LoadU(d16, rows[2 * p + 1] + x);
      const auto weights = hn::BitCast(d16, hn::Set(d32, pairs[p]));
      lower = hn::Add(lower, pair_dot(d32, hn::InterleaveLower(d16, a, b), weights));
      upper = hn::Add(upper, pair_dot(d32, hn::InterleaveUpper(d16, a, b), weights));
    }
    // Interleaving and packing both work within 128-bit blocks, which restores the order.
    const auto v = hn::ReorderDemote2To(d16, hn::ShiftRight<20>(lower), hn::ShiftRight<20>(upper));
    hn::StoreU(hn::DemoteTo(d8, v), d8, out + x);
  }
  return x;
}

int taps_inside(const uint8_t* in, const ResizeTable& table, int taps, int channels, int x0, int x1,
                int16_t* out) {
  if (channels == 4)
    return taps == 2   ? taps_rgba<1>(in, table, x0, x1, out)
           : taps == 4 ? taps_rgba<2>(in, table, x0, x1, out)
                       : taps_rgba<3>(in, table, x0, x1, out);
  return taps == 2   ? taps_gray<1>(in, table, x0, x1, out)
         : taps == 4 ? taps_gray<2>(in, table, x0, x1, out)
                     : taps_gray<3>(in, table, x0, x1, out);
}

size_t sum_rows_wide(const int16_t* const* rows, const int32_t* pairs, int taps, size_t n, uint8_t* out) {
  return taps == 2   ? sum_rows<1>(rows, pairs, n, out)
         : taps == 4 ? sum_rows<2>(rows, pairs, n, out)
                     : sum_rows<3>(rows, pairs, n, out);
}

size_t half_row(const uint8_t* upper, const uint8_t* lower, int channels, size_t n, uint8_t* out) {
  size_t x = 0;
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint16_t, decltype(d8)> d16;
  const hn::Repartition<int16_t, decltype(d8)> i16;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const size_t lanes = hn::Lanes(d8);
  const auto two = hn::Set(d16, 2);
  if (channels == 1) {
    const hn::Half<decltype(d8)> half;
    const auto pairs = [&](const uint8_t* p) HWY_ATTR {
      const auto v = hn::BitCast(d16, hn::LoadU(d8, p));
      return hn::Add(hn::And(v, hn::Set(d16, 255)), hn::ShiftRight<8>(v));
    };
    for (; x + lanes / 2 <= n; x += lanes / 2) {
      const auto sum = hn::Add(hn::Add(pairs(upper + 2 * x), pairs(lower + 2 * x)), two);
      hn::StoreU(hn::DemoteTo(half, hn::BitCast(i16, hn::ShiftRight<2>(sum))), half, out + x);
    }
    return x;
  }
  constexpr uint8_t z = 0x80;  // index that shuffles in 0
  alignas(16) static constexpr uint8_t kLow[16] = {0, 2, 4, 6, 8, 10, 12, 14, z, z, z, z, z, z, z, z};
  alignas(16) static constexpr uint8_t kHigh[16] = {z, z, z, z, z, z, z, z, 0, 2, 4, 6, 8, 10, 12, 14};
  const auto evens_low = hn::LoadDup128(d8, kLow), evens_high = hn::LoadDup128(d8, kHigh);
  const auto zero = hn::Zero(d8);
  const auto low = [&](auto v) HWY_ATTR { return hn::BitCast(d16, hn::InterleaveLower(d8, v, zero)); };
  const auto high = [&](auto v) HWY_ATTR { return hn::BitCast(d16, hn::InterleaveUpper(d8, v, zero)); };
  for (; x + lanes <= n; x += lanes) {
    auto sum_low = two, sum_high = two;
    for (const uint8_t* row : {upper, lower}) {
      const auto a = hn::BitCast(d32, hn::LoadU(d8, row + 2 * x));
      const auto b = hn::BitCast(d32, hn::LoadU(d8, row + 2 * x + lanes));
      const auto even = hn::BitCast(d8, hn::ConcatEven(d32, b, a)),
                 odd = hn::BitCast(d8, hn::ConcatOdd(d32, b, a));
      sum_low = hn::Add(sum_low, hn::Add(low(even), low(odd)));
      sum_high = hn::Add(sum_high, hn::Add(high(even), high(odd)));
    }
    // After the shift, values are below 256, so the even bytes are the result.
    const auto a = hn::BitCast(d8, hn::ShiftRight<2>(sum_low)),
               b = hn::BitCast(d8, hn::ShiftRight<2>(sum_high));
    hn::StoreU(hn::Or(hn::TableLookupBytesOr0(a, evens_low), hn::TableLookupBytesOr0(b, evens_high)), d8,
               out + x);
  }
  return x;
}

void add_row(const uint8_t* in, uint32_t weight, bool first, size_t n, uint32_t* sums) {
  const hn::ScalableTag<uint32_t> d32;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const size_t lanes = hn::Lanes(d32);
  const auto factor = hn::Set(d32, weight);
  size_t x = 0;
  for (; x + lanes <= n; x += lanes) {
    const auto v = hn::Mul(hn::PromoteTo(d32, hn::LoadU(d8, in + x)), factor);
    hn::StoreU(first ? v : hn::Add(v, hn::LoadU(d32, sums + x)), d32, sums + x);
  }
  for (; x < n; ++x) sums[x] = in[x] * weight + (first ? 0 : sums[x]);
}

/// Computes a row of means whose sums fit in 32 bits. Truncating the double quotient is exact, because a
/// quotient of such small integers never rounds up to the next integer.
void mean_row_rgba(const uint32_t* sums, const AreaAxis& axis, int width, uint32_t weights, uint8_t* out) {
  const hn::Full128<uint32_t> d32;
  const double divisor = weights;
  const auto inner_weight = hn::Set(d32, static_cast<uint32_t>(axis.m));
  AreaCursor at(axis);
  for (int x = 0; x < width; ++x) {
    at.next();
    const auto pixel = [&](int s) HWY_ATTR { return hn::LoadU(d32, sums + std::ptrdiff_t{s} * 4); };
    auto inner = hn::Zero(d32);
    for (int s = at.first + 1; s < at.last; ++s) inner = hn::Add(inner, pixel(s));
    const auto ends = hn::Add(hn::Mul(pixel(at.first), hn::Set(d32, at.first_weight)),
                              hn::Mul(pixel(at.last), hn::Set(d32, at.last_weight)));
    const auto sum = hn::Add(hn::Mul(inner, inner_weight), ends);
    alignas(16) uint32_t total[4];
    hn::Store(hn::Add(sum, hn::Set(d32, weights / 2)), d32, total);
    for (int c = 0; c < 4; ++c)
      out[x * 4 + c] = static_cast<uint8_t>(static_cast<double>(total[c]) / divisor);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(taps_inside);
HWY_EXPORT(sum_rows_wide);
HWY_EXPORT(half_row);
HWY_EXPORT(add_row);
HWY_EXPORT(mean_row_rgba);

namespace {

/// Computes the horizontal sums of outputs [x0, x1). Their taps may be outside the row.
void taps_clamped(const uint8_t* in, const ResizeAxis& axis, const ResizeTable& table, int taps, int channels,
                  int x0, int x1, int16_t* out) {
  for (int x = x0; x < x1; ++x)
    for (int c = 0; c < channels; ++c) {
      int sum = 0;
      for (int k = 0; k < taps; ++k)
        sum += table.weight(k, x) * in[std::clamp(table.start[x] + k, 0, axis.n - 1) * channels + c];
      out[std::ptrdiff_t{x} * channels + c] = static_cast<int16_t>(resize_horizontal(sum));
    }
}

}  // namespace

void resize_taps_row(const uint8_t* in, const ResizeAxis& axis, const ResizeTable& table, int taps,
                     int channels, int16_t* out) {
  const int reach = channels == 4 ? taps : 16;  // samples that the vector loops read from each start
  int begin = 0, end = axis.m;
  while (begin < end && table.start[begin] < 0) ++begin;
  while (end > begin && table.start[end - 1] + reach > axis.n) --end;
  taps_clamped(in, axis, table, taps, channels, 0, begin, out);
  const int done = HWY_DYNAMIC_DISPATCH(taps_inside)(in, table, taps, channels, begin, end, out);
  taps_clamped(in, axis, table, taps, channels, done, axis.m, out);
}

void resize_sum_rows(const int16_t* const* rows, const int32_t* pairs, int taps, size_t n, uint8_t* out) {
  for (size_t x = HWY_DYNAMIC_DISPATCH(sum_rows_wide)(rows, pairs, taps, n, out); x < n; ++x) {
    int sum = 0;
    for (int k = 0; k < taps; ++k)
      sum += static_cast<int16_t>(static_cast<uint32_t>(pairs[k / 2]) >> (k % 2 * 16)) * rows[k][x];
    out[x] = static_cast<uint8_t>(resize_vertical(sum));
  }
}

void resize_half_row(const uint8_t* upper, const uint8_t* lower, int channels, size_t n, uint8_t* out) {
  const size_t step = static_cast<size_t>(channels);
  for (size_t i = HWY_DYNAMIC_DISPATCH(half_row)(upper, lower, channels, n, out); i < n; ++i) {
    const size_t at = i / step * step * 2 + i % step;
    out[i] = static_cast<uint8_t>((upper[at] + upper[at + step] + lower[at] + lower[at + step] + 2) >> 2);
  }
}

void resize_add_row(const uint8_t* in, uint32_t weight, bool first, size_t n, uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(add_row)(in, weight, first, n, sums);
}

void resize_mean_row(const uint32_t* sums, const AreaAxis& axis, int width, int channels, uint64_t total,
                     uint8_t* out) {
  if (channels == 4 && total < (uint64_t{1} << 32) / 256)
    return HWY_DYNAMIC_DISPATCH(mean_row_rgba)(sums, axis, width, static_cast<uint32_t>(total), out);
  const double divisor = static_cast<double>(total);
  AreaCursor at(axis);
  for (int x = 0; x < width; ++x) {
    at.next();
    for (int c = 0; c < channels; ++c) {
      const uint32_t* column = sums + c;
      uint64_t inner = 0;
      for (int s = at.first + 1; s < at.last; ++s) inner += column[s * channels];
      const uint64_t sum = uint64_t{column[at.first * channels]} * at.first_weight +
                           uint64_t{column[at.last * channels]} * at.last_weight +
                           inner * static_cast<uint64_t>(axis.m);
      out[x * channels + c] = static_cast<uint8_t>(static_cast<double>(sum + total / 2) / divisor);
    }
  }
}

}  // namespace lensd
#endif
