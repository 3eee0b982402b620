#include "kernels/common/border/border.hpp"
#include "kernels/klt/klt.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/klt/klt_pyramid_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes sums of five rows with the weights 1 4 6 4 1; a sum is at most 4080. Works in whole vectors: may
/// access memory beyond `width`.
void column_sums(const uint8_t* const (&rows)[5], uint16_t* sums, int width) {
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

/// Sums column sums along the row with the weights 1 4 6 4 1 and writes every second result, rounded.
/// `width`: output pixels. sums[-2] to sums[2 · width] must be valid. Works in whole vectors: may access
/// memory beyond the ends.
void halve_row(const uint16_t* sums, uint8_t* out, int width) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::RebindToSigned<decltype(d16)> di16;  // DemoteTo needs signed lanes
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

HWY_EXPORT(column_sums);
HWY_EXPORT(halve_row);

namespace {
/// Padding before and after a row of sums, in bytes. Whole vectors may access it.
constexpr size_t kFront = 64, kBehind = 192;
}  // namespace

size_t Klt::shrink_worker_bytes(Extent extent) {
  return kFront + kBehind + (static_cast<size_t>(extent.width) + 63) / 64 * 64 * sizeof(uint16_t);
}

void Klt::shrink(const PassArgs& args, Band rows) const {
  const auto column_sums = &HWY_DYNAMIC_DISPATCH(column_sums);
  const auto halve_row = &HWY_DYNAMIC_DISPATCH(halve_row);
  uint8_t* after = state_of(args).after();
  const ImageView<uint8_t> fine = shape_.view(after, args.step - 1), coarse = shape_.view(after, args.step);
  const int width = fine.extent.width, height = fine.extent.height;
  auto* sums = reinterpret_cast<uint16_t*>(args.worker + kFront);
  for (int y = rows.begin; y < rows.end; ++y) {
    const uint8_t* five[5];
    for (int k = 0; k < 5; ++k) five[k] = fine.row(border_index(2 * y + k - 2, height, Border::reflect101));
    column_sums(five, sums, width);
    for (const int x : {-2, -1, width, width + 1}) sums[x] = sums[border_index(x, width, Border::reflect101)];
    halve_row(sums, coarse.row(y), coarse.extent.width);
  }
}

}  // namespace lensd
#endif
