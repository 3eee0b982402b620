#include "kernels/common/border/border.hpp"
#include "kernels/klt/klt.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/klt/klt_pyramid_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Computes sums of five rows with the weights 1 4 6 4 1. Works in whole vectors: may access memory beyond
/// `width`.
template <class Pixel, class Sum>
void column_sums(const Pixel* const (&rows)[5], Sum* sums, int width) {
  const hn::ScalableTag<Sum> d_sum;
  const hn::Rebind<Pixel, decltype(d_sum)> d_pixel;
  const int lanes = static_cast<int>(hn::Lanes(d_sum));
  for (int x = 0; x < width; x += lanes) {
    const auto at = [&](int k) HWY_ATTR { return hn::PromoteTo(d_sum, hn::LoadU(d_pixel, rows[k] + x)); };
    const auto outer = hn::Add(at(0), at(4)), inner = hn::Add(at(1), at(3)), middle = at(2);
    const auto middles = hn::Add(hn::ShiftLeft<2>(middle), hn::Add(middle, middle));
    hn::StoreU(hn::Add(hn::Add(outer, hn::ShiftLeft<2>(inner)), middles), d_sum, sums + x);
  }
}

/// Sums column sums along the row with the weights 1 4 6 4 1 and writes every second result, rounded.
/// `width`: output pixels. sums[-2] to sums[2 · width] must be valid. Works in whole vectors: may access
/// memory beyond the ends.
template <class Sum, class Pixel>
void halve_row(const Sum* sums, Pixel* out, int width) {
  const hn::ScalableTag<Sum> d_sum;
  const hn::RebindToSigned<decltype(d_sum)> d_signed;  // DemoteTo needs signed lanes
  const hn::Rebind<Pixel, decltype(d_sum)> d_pixel;
  const int lanes = static_cast<int>(hn::Lanes(d_sum));
  const auto half = hn::Set(d_sum, Sum{128});
  for (int x = 0; x < width; x += lanes) {
    hn::Vec<decltype(d_sum)> even0, odd0, even1, odd1, even2, odd2;
    hn::LoadInterleaved2(d_sum, sums + 2 * x - 2, even0, odd0);
    hn::LoadInterleaved2(d_sum, sums + 2 * x, even1, odd1);
    hn::LoadInterleaved2(d_sum, sums + 2 * x + 2, even2, odd2);
    const auto inner = hn::ShiftLeft<2>(hn::Add(odd0, odd1));
    const auto middles = hn::Add(hn::ShiftLeft<2>(even1), hn::Add(even1, even1));
    const auto sum = hn::Add(hn::Add(hn::Add(even0, even2), hn::Add(inner, middles)), half);
    hn::StoreU(hn::DemoteTo(d_pixel, hn::BitCast(d_signed, hn::ShiftRight<8>(sum))), d_pixel, out + x);
  }
}

/// Computes rows of `coarse` from `fine`. `sums`: a row of sums with padding on both sides.
template <class Pixel, class Sum>
void shrink_rows(const ImageView<const Pixel>& fine, const ImageView<Pixel>& coarse, Band rows, Sum* sums) {
  const int width = fine.extent.width, height = fine.extent.height;
  for (int y = rows.begin; y < rows.end; ++y) {
    const Pixel* five[5];
    for (int k = 0; k < 5; ++k) five[k] = fine.row(border_index(2 * y + k - 2, height, Border::reflect101));
    column_sums(five, sums, width);
    for (const int x : {-2, -1, width, width + 1}) sums[x] = sums[border_index(x, width, Border::reflect101)];
    halve_row(sums, coarse.row(y), coarse.extent.width);
  }
}

void shrink_simd(const KltShape& shape, uint8_t* half, int level, Band rows, uint8_t* sums) {
  const uint8_t* const read = half;
  if (shape.deep)
    return shrink_rows(shape.view<uint16_t>(read, level - 1), shape.view<uint16_t>(half, level), rows,
                       reinterpret_cast<uint32_t*>(sums));
  shrink_rows(shape.view<uint8_t>(read, level - 1), shape.view<uint8_t>(half, level), rows,
              reinterpret_cast<uint16_t*>(sums));
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(shrink_simd);

namespace {
/// Padding before and after a row of sums, in bytes. Whole vectors may access it.
constexpr size_t kFront = 64, kBehind = 192;
}  // namespace

size_t Klt::shrink_worker_bytes() const {
  const size_t sum_bytes = shape_.deep ? sizeof(uint32_t) : sizeof(uint16_t);
  const auto width = static_cast<size_t>(shape_.level[0].extent.width);
  return kFront + kBehind + (width + 63) / 64 * 64 * sum_bytes;
}

void Klt::shrink(const PassArgs& args, Band rows) const {
  HWY_DYNAMIC_DISPATCH(shrink_simd)
  (shape_, state_of(args).after(), args.step, rows, args.worker + kFront);
}

}  // namespace lensd
#endif
