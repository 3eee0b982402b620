#include "kernels/common/count_values.hpp"

#include <bit>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/count_values.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Skips vectors without samples in the ranges. Most images have few samples there.
void count_in_ranges(const uint16_t* row, size_t samples, const ValueTables& tables) {
  const hn::ScalableTag<uint16_t> d16;
  constexpr size_t lanes = hn::MaxLanes(d16);
  using Bits = std::conditional_t<lanes == 32, uint32_t, std::conditional_t<lanes == 16, uint16_t, uint8_t>>;
  static_assert(lanes == 8 * sizeof(Bits));
  const auto first = hn::LoadDup128(d16, tables.first), last = hn::LoadDup128(d16, tables.last);
  const auto counted = hn::Ne(hn::LoadDup128(d16, tables.counts), hn::Zero(d16));
  const auto not_counted = hn::Not(counted);
  const auto count = [&tables, row](size_t sample, size_t lane) {
    ++tables.table[lane][tables.position(lane, row[sample])];
  };
  size_t i = 0;
  for (; i + lanes <= samples; i += lanes) {
    const auto distance = hn::Sub(hn::LoadU(d16, row + i), first);
    const auto in_range = hn::Eq(hn::Min(distance, last), distance), found = hn::And(in_range, counted);
    if (hn::AllFalse(d16, found)) continue;
    // Positions are computed again from the row, because storing `distance` and loading its lanes took up to
    // four times as long (AVX-512).
    if (hn::AllTrue(d16, hn::Or(in_range, not_counted))) {
      for (size_t k = 0; k < lanes; k += kValueLanes)
        for (size_t lane = 0; lane < kValueLanes; ++lane)
          if (tables.counts[lane] != 0) count(i + k + lane, lane);
      continue;
    }
    Bits stored;
    hn::StoreMaskBits(d16, found, reinterpret_cast<uint8_t*>(&stored));
    for (uint32_t bits = stored; bits != 0; bits &= bits - 1) {
      const auto k = static_cast<size_t>(std::countr_zero(bits));
      count(i + k, k % kValueLanes);
    }
  }
  for (; i < samples; ++i) {
    const size_t lane = i % kValueLanes;
    if (tables.counts[lane] != 0 && tables.position(lane, row[i]) <= tables.last[lane]) count(i, lane);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(count_in_ranges);

void count_in_ranges(const uint16_t* row, size_t samples, const ValueTables& tables) {
  HWY_DYNAMIC_DISPATCH(count_in_ranges)(row, samples, tables);
}

}  // namespace lensd
#endif
