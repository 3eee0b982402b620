#include "kernels/common/keep_alpha.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/keep_alpha.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void copy_alpha(const uint8_t* in, uint8_t* out, size_t n) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const auto alpha = hn::BitCast(d8, hn::Set(d32, 0xff000000u));
  const size_t lanes = hn::Lanes(d8);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::Or(hn::AndNot(alpha, hn::LoadU(d8, out + i)), hn::And(alpha, hn::LoadU(d8, in + i))), d8,
               out + i);
  for (i += 3; i < n; i += 4) out[i] = in[i];
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(copy_alpha);

void keep_alpha(const uint8_t* in, uint8_t* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(copy_alpha)(in, out, n);
}

}  // namespace lensd
#endif
