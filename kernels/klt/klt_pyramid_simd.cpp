#include <cstring>

#include "kernels/common/border.hpp"
#include "kernels/klt/klt_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/klt/klt_pyramid_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Weighted sums of five rows, up to 4080. May write a vector beyond the end.
void klt_column_sums(const uint8_t* const (&rows)[5], uint16_t* sums, int width) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  for (int x = 0; x < width; x += lanes) {
    const auto at = [&](int k) { return hn::PromoteTo(d16, hn::LoadU(d8, rows[k] + x)); };
    const auto outer = hn::Add(at(0), at(4)), inner = hn::Add(at(1), at(3)), middle = at(2);
    const auto middles = hn::Add(hn::ShiftLeft<2>(middle), hn::Add(middle, middle));
    hn::StoreU(hn::Add(hn::Add(outer, hn::ShiftLeft<2>(inner)), middles), d16, sums + x);
  }
}

/// Every other pixel of a row of sums; sums[-2] to sums[2 · width] are there. Both ends may be overrun by a
/// vector.
void klt_halve_row(const uint16_t* sums, uint8_t* out, int width) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::RebindToSigned<decltype(d16)> di16;  // DemoteTo wants signed lanes
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const int lanes = static_cast<int>(hn::Lanes(d16));
  const auto half = hn::Set(d16, 128);
  for (int x = 0; x < width; x += lanes) {
    hn::Vec<decltype(d16)> even0, odd0, even1, odd1, even2, odd2;
    hn::LoadInterleaved2(d16, sums + 2 * x - 2, even0, odd0);
    hn::LoadInterleaved2(d16, sums + 2 * x, even1, odd1);
    hn::LoadInterleaved2(d16, sums + 2 * x + 2, even2, odd2);
    const auto inner = hn::ShiftLeft<2>(hn::Add(odd0, odd1));
    const auto middles = hn::Add(hn::ShiftLeft<2>(even1), hn::Add(even1, even1));
    const auto sum = hn::Add(hn::Add(hn::Add(even0, even2), hn::Add(inner, middles)), half);
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di16, hn::ShiftRight<8>(sum))), d8, out + x);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(klt_column_sums);
HWY_EXPORT(klt_halve_row);

namespace {
constexpr size_t kFront = 64, kBehind = 192;  ///< bytes around a row of sums that vectors may touch
}

size_t klt_shrink_worker_bytes(Extent fine) {
  return kFront + kBehind + (static_cast<size_t>(fine.width) + 63) / 64 * 64 * sizeof(uint16_t);
}

void klt_shrink_rows(const ImageView<const uint8_t>& fine, const ImageView<uint8_t>& coarse, Band rows,
                     uint8_t* worker) {
  const auto column_sums = &HWY_DYNAMIC_DISPATCH(klt_column_sums);
  const auto halve_row = &HWY_DYNAMIC_DISPATCH(klt_halve_row);
  const int width = fine.extent.width, height = fine.extent.height;
  auto* sums = reinterpret_cast<uint16_t*>(worker + kFront);
  for (int y = rows.begin; y < rows.end; ++y) {
    const uint8_t* five[5];
    for (int k = 0; k < 5; ++k) five[k] = fine.row(border_index(2 * y + k - 2, height, Border::reflect101));
    column_sums(five, sums, width);
    for (const int x : {-2, -1}) sums[x] = sums[border_index(x, width, Border::reflect101)];
    for (const int x : {width, width + 1}) sums[x] = sums[border_index(x, width, Border::reflect101)];
    halve_row(sums, coarse.row(y), coarse.extent.width);
  }
}

}  // namespace lensd
#endif
