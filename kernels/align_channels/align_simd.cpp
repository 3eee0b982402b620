#include "kernels/align_channels/align_simd.hpp"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/align_channels/align_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

int split_row(const uint8_t* in, int width, uint8_t* r, uint8_t* g, uint8_t* b) {
  const hn::ScalableTag<uint8_t> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    hn::Vec<decltype(d)> red, green, blue, alpha;
    hn::LoadInterleaved4(d, in + std::ptrdiff_t{x} * 4, red, green, blue, alpha);
    hn::StoreU(red, d, r + x), hn::StoreU(green, d, g + x), hn::StoreU(blue, d, b + x);
  }
  return x;
}

int add_row(const uint8_t* g, const uint8_t* c, int n, AlignSums& sums) {
  int x = 0;
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<int16_t, decltype(d8)> d16;
  const hn::Repartition<int32_t, decltype(d8)> d32;
  const hn::Repartition<uint64_t, decltype(d8)> d64;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const auto zero = hn::Zero(d8);
  const auto low = [&](auto v) HWY_ATTR { return hn::BitCast(d16, hn::InterleaveLower(d8, v, zero)); };
  const auto high = [&](auto v) HWY_ATTR { return hn::BitCast(d16, hn::InterleaveUpper(d8, v, zero)); };
  auto value = hn::Zero(d64);
  auto square = hn::Zero(d32), product = hn::Zero(d32);  // 1024 steps of at most 4 · 255² a lane
  for (; x + lanes <= n; x += lanes) {
    const auto green = hn::LoadU(d8, g + x), channel = hn::LoadU(d8, c + x);
    const auto c_low = low(channel), c_high = high(channel);
    value = hn::Add(value, hn::SumsOf8(channel));
    square = hn::Add(square, hn::Add(pair_dot(d32, c_low, c_low), pair_dot(d32, c_high, c_high)));
    product = hn::Add(product, hn::Add(pair_dot(d32, low(green), c_low), pair_dot(d32, high(green), c_high)));
  }
  const auto total = [&](auto v) HWY_ATTR {  // lanes of 32 bits, unsigned, without overflow
    const auto wide = hn::BitCast(d64, v);
    const auto sum = hn::Add(hn::And(wide, hn::Set(d64, 0xffffffffu)), hn::ShiftRight<32>(wide));
    return hn::GetLane(hn::SumOfLanes(d64, sum));
  };
  sums.value += hn::GetLane(hn::SumOfLanes(d64, value));
  sums.square += total(square), sums.product += total(product);
  return x;
}

/// Pixels [x0, x1), whose sources are all inside.
int merge_row(const uint8_t* red, const uint8_t* row, const uint8_t* blue, int x0, int x1, uint8_t* out) {
  int x = x0;
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto load = [&](const uint8_t* p, uint32_t mask)
                        HWY_ATTR { return hn::And(hn::BitCast(d32, hn::LoadU(d8, p)), hn::Set(d32, mask)); };
  for (; x + lanes <= x1; x += lanes) {
    const std::ptrdiff_t at = std::ptrdiff_t{x} * 4;
    const auto v = hn::Or(hn::Or(load(red + at, 0x000000ffu), load(row + at, 0xff00ff00u)),
                          load(blue + at, 0x00ff0000u));
    hn::StoreU(hn::BitCast(d8, v), d8, out + at);
  }
  return x;
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(split_row);
HWY_EXPORT(add_row);
HWY_EXPORT(merge_row);

void align_split_row(const uint8_t* in, int width, uint8_t* r, uint8_t* g, uint8_t* b) {
  for (int x = HWY_DYNAMIC_DISPATCH(split_row)(in, width, r, g, b); x < width; ++x)
    r[x] = in[x * 4], g[x] = in[x * 4 + 1], b[x] = in[x * 4 + 2];
}

void align_add_row(const uint8_t* g, const uint8_t* c, int n, AlignSums& sums) {
  for (int x = HWY_DYNAMIC_DISPATCH(add_row)(g, c, n, sums); x < n; ++x) {
    const uint64_t v = c[x];
    sums.value += v, sums.square += v * v, sums.product += v * g[x];
  }
}

void align_merge_row(const uint8_t* red_row, int red, const uint8_t* row, const uint8_t* blue_row, int blue,
                     int width, uint8_t* out) {
  const auto pixels = [&](int from, int to) {
    for (int x = from; x < to; ++x) {
      out[x * 4] = red_row[std::clamp(x + red, 0, width - 1) * 4];
      out[x * 4 + 1] = row[x * 4 + 1];
      out[x * 4 + 2] = blue_row[std::clamp(x + blue, 0, width - 1) * 4 + 2];
      out[x * 4 + 3] = row[x * 4 + 3];
    }
  };
  const int begin = std::min(width, std::max({0, -red, -blue}));
  const int end = std::max(begin, std::min({width, width - red, width - blue}));
  pixels(0, begin);
  const int done = HWY_DYNAMIC_DISPATCH(merge_row)(red_row + std::ptrdiff_t{red} * 4, row,
                                                   blue_row + std::ptrdiff_t{blue} * 4, begin, end, out);
  pixels(done, width);
}

}  // namespace lensd
#endif
