#include "kernels/common/tally.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "kernels/common/add_shared.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/tally.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Adds the bytes of a row to `sums` by channel. `step` is 1 (grey) or 4 (RGBA).
void sum_row(const uint8_t* row, size_t bytes, size_t step, uint64_t* sums) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const hn::Repartition<uint64_t, decltype(d8)> d64;
  const size_t lanes = hn::Lanes(d8);
  size_t x = 0;
  if (step == 1) {
    auto sum = hn::Zero(d64);
    for (; x + lanes <= bytes; x += lanes) sum = hn::Add(sum, hn::SumsOf8(hn::LoadU(d8, row + x)));
    sums[0] += hn::GetLane(hn::SumOfLanes(d64, sum));
  } else {
    auto r = hn::Zero(d64), g = hn::Zero(d64), b = hn::Zero(d64);
    const auto red = hn::BitCast(d8, hn::Set(d32, 0xffu)), green = hn::BitCast(d8, hn::Set(d32, 0xff00u)),
               blue = hn::BitCast(d8, hn::Set(d32, 0xff0000u));
    for (; x + lanes <= bytes; x += lanes) {
      const auto v = hn::LoadU(d8, row + x);
      r = hn::Add(r, hn::SumsOf8(hn::And(v, red)));
      g = hn::Add(g, hn::SumsOf8(hn::And(v, green)));
      b = hn::Add(b, hn::SumsOf8(hn::And(v, blue)));
    }
    sums[0] += hn::GetLane(hn::SumOfLanes(d64, r));
    sums[1] += hn::GetLane(hn::SumOfLanes(d64, g));
    sums[2] += hn::GetLane(hn::SumOfLanes(d64, b));
  }
  for (; x < bytes; x += step)
    for (size_t c = 0; c < (step == 1 ? 1u : 3u); ++c) sums[c] += row[x + c];
}

/// Does what sum_row() does for a row of 16-bit samples. A row has at most 16384 pixels, so its sums fit in
/// 32 bits.
void sum_deep_row(const uint16_t* row, size_t samples, size_t step, uint64_t* sums) {
  const hn::ScalableTag<uint32_t> d32;
  const hn::Rebind<uint16_t, decltype(d32)> d16;
  const size_t lanes = hn::Lanes(d32);
  auto first = hn::Zero(d32), second = hn::Zero(d32);
  size_t i = 0;
  for (; i + 2 * lanes <= samples; i += 2 * lanes) {
    first = hn::Add(first, hn::PromoteTo(d32, hn::LoadU(d16, row + i)));
    second = hn::Add(second, hn::PromoteTo(d32, hn::LoadU(d16, row + i + lanes)));
  }
  uint32_t parts[HWY_MAX_BYTES / 4];
  hn::StoreU(hn::Add(first, second), d32, parts);
  const auto channel = [step](size_t k) { return step == 1 ? 0 : k % 4; };
  uint64_t sum[4] = {};
  for (size_t k = 0; k < lanes; ++k) sum[channel(k)] += parts[k];
  for (; i < samples; ++i) sum[channel(i)] += row[i];
  for (size_t c = 0; c < (step == 1 ? 1u : 3u); ++c) sums[c] += sum[c];
}

/// Extends the four ranges low[k] … high[k] by the samples whose index modulo 4 is k: channel k of RGBA, or
/// every fourth sample of grey.
void extend_ranges(const uint16_t* row, size_t samples, uint16_t* low, uint16_t* high) {
  const hn::ScalableTag<uint16_t> d16;
  const size_t lanes = hn::Lanes(d16);
  uint16_t least[HWY_MAX_BYTES / 2], most[HWY_MAX_BYTES / 2];
  for (size_t k = 0; k < lanes; ++k) least[k] = low[k % 4], most[k] = high[k % 4];
  auto lows = hn::LoadU(d16, least), highs = hn::LoadU(d16, most);
  size_t i = 0;
  for (; i + lanes <= samples; i += lanes) {
    const auto v = hn::LoadU(d16, row + i);
    lows = hn::Min(lows, v), highs = hn::Max(highs, v);
  }
  hn::StoreU(lows, d16, least), hn::StoreU(highs, d16, most);
  for (size_t k = 0; i + k < samples; ++k)
    least[k] = std::min(least[k], row[i + k]), most[k] = std::max(most[k], row[i + k]);
  for (size_t k = 0; k < lanes; ++k)
    low[k % 4] = std::min(low[k % 4], least[k]), high[k % 4] = std::max(high[k % 4], most[k]);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(sum_row);
HWY_EXPORT(sum_deep_row);
HWY_EXPORT(extend_ranges);

namespace {

void raise(uint32_t& total, uint32_t value) {
  const std::atomic_ref shared(total);
  uint32_t known = shared.load(std::memory_order_relaxed);
  while (known < value && !shared.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

// Adjacent pixels increment different tables, since successive increments of one counter are serialised.
using Tables = uint32_t[6][256];

void count_gray(const uint8_t* row, size_t width, Tables& tables) {
  size_t x = 0;
  for (; x + 8 <= width; x += 8) {
    uint64_t v;
    std::memcpy(&v, row + x, 8);
    for (int i = 0; i < 8; ++i) ++tables[i % 4][v >> (8 * i) & 255];
  }
  for (; x < width; ++x) ++tables[0][row[x]];
}

void count_rgba(const uint8_t* row, size_t width, Tables& tables) {
  size_t x = 0;
  for (; x + 2 <= width; x += 2) {
    uint64_t v;
    std::memcpy(&v, row + 4 * x, 8);
    for (int c = 0; c < 3; ++c) ++tables[c][v >> (8 * c) & 255], ++tables[3 + c][v >> (32 + 8 * c) & 255];
  }
  for (; x < width; ++x)
    for (size_t c = 0; c < 3; ++c) ++tables[c][row[4 * x + c]];
}

/// Counts the high bytes of `samples` samples. Adjacent samples of a channel increment different tables.
void count_deep_gray(const uint16_t* row, size_t samples, Tables& tables) {
  size_t i = 0;
  for (; i + 4 <= samples; i += 4)
    for (size_t k = 0; k < 4; ++k) ++tables[k][row[i + k] >> 8];
  for (; i < samples; ++i) ++tables[0][row[i] >> 8];
}
void count_deep_rgba(const uint16_t* row, size_t samples, Tables& tables) {
  size_t i = 0;
  for (; i + 8 <= samples; i += 8)
    for (size_t c = 0; c < 3; ++c) ++tables[c][row[i + c] >> 8], ++tables[3 + c][row[i + 4 + c] >> 8];
  for (; i < samples; i += 4)
    for (size_t c = 0; c < 3; ++c) ++tables[c][row[i + c] >> 8];
}

}  // namespace

void add_tally(const ConstImageRef& in, Band band, Histogram& total) {
  const bool gray = is_gray(in.format.format);
  Tables tables{};
  for (int y = band.begin; y < band.end && in.is_deep(); ++y)
    (gray ? count_deep_gray : count_deep_rgba)(in.samples<uint16_t>(y), in.format.row_samples(), tables);
  for (int y = band.begin; y < band.end && !in.is_deep(); ++y)
    (gray ? count_gray : count_rgba)(in.row(y), static_cast<size_t>(in.width()), tables);
  for (int i = 0; i < 256; ++i) {
    if (gray)
      add_shared(total.count[0][i], tables[0][i] + tables[1][i] + tables[2][i] + tables[3][i]);
    else
      for (int c = 0; c < 3; ++c) add_shared(total.count[c][i], tables[c][i] + tables[3 + c][i]);
  }
}

void add_tally(const ConstImageRef& in, Band band, RangeHistogram& total) {
  add_tally(in, band, total.histogram);
  if (!in.is_deep()) return;
  const bool gray = is_gray(in.format.format);
  uint16_t low[4] = {65535, 65535, 65535, 65535}, high[4] = {};
  for (int y = band.begin; y < band.end; ++y)
    HWY_DYNAMIC_DISPATCH(extend_ranges)(in.samples<uint16_t>(y), in.format.row_samples(), low, high);
  for (size_t k = 0; k < (gray ? 4u : 3u); ++k) {
    const size_t c = gray ? 0 : k;
    raise(total.range.highest[c], high[k]);
    raise(total.range.lowest_below_white[c], 65535u - low[k]);
  }
}

void add_tally(const ConstImageRef& in, Band band, ChannelSums& total) {
  uint64_t sums[3] = {};
  const auto row = &HWY_DYNAMIC_DISPATCH(sum_row);
  for (int y = band.begin; y < band.end && in.is_deep(); ++y) HWY_DYNAMIC_DISPATCH(sum_deep_row)
  (in.samples<uint16_t>(y), in.format.row_samples(), static_cast<size_t>(in.channels()), sums);
  for (int y = band.begin; y < band.end && !in.is_deep(); ++y)
    row(in.row(y), in.row_bytes(), static_cast<size_t>(in.channels()), sums);
  for (int c = 0; c < 3; ++c) add_shared(total.sum[c], sums[c]);
}

}  // namespace lensd
#endif
