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

/// Vectors without samples in the ranges are skipped, because in most images few samples are.
void count_in_ranges(const uint16_t* row, size_t samples, const ValueTables& tables) {
  const hn::ScalableTag<uint16_t> d16;
  constexpr size_t lanes = hn::MaxLanes(d16);
  using Bits = std::conditional_t<lanes == 32, uint32_t, std::conditional_t<lanes == 16, uint16_t, uint8_t>>;
  static_assert(lanes == 8 * sizeof(Bits));
  const auto first = hn::LoadDup128(d16, tables.first), last = hn::LoadDup128(d16, tables.last);
  const auto counted = hn::Ne(hn::LoadDup128(d16, tables.counts), hn::Zero(d16));
  const auto not_counted = hn::Not(counted);
  size_t i = 0;
  for (; i + lanes <= samples; i += lanes) {
    const auto distance = hn::Sub(hn::LoadU(d16, row + i), first);
    const auto in_range = hn::Eq(hn::Min(distance, last), distance), found = hn::And(in_range, counted);
    if (hn::AllFalse(d16, found)) continue;
    uint16_t at[lanes];
    hn::StoreU(distance, d16, at);
    if (hn::AllTrue(d16, hn::Or(in_range, not_counted))) {
      for (size_t k = 0; k < lanes; ++k)
        if (tables.counts[k % kValueLanes] != 0) ++tables.table[k % kValueLanes][at[k]];
      continue;
    }
    Bits stored;
    hn::StoreMaskBits(d16, found, reinterpret_cast<uint8_t*>(&stored));
    for (uint32_t bits = stored; bits != 0; bits &= bits - 1) {
      const auto k = static_cast<size_t>(std::countr_zero(bits));
      ++tables.table[k % kValueLanes][at[k]];
    }
  }
  for (; i < samples; ++i) {
    const size_t lane = i % kValueLanes;
    const auto at = static_cast<uint16_t>(row[i] - tables.first[lane]);
    if (at <= tables.last[lane] && tables.counts[lane] != 0) ++tables.table[lane][at];
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
