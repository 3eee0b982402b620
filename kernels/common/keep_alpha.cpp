#include "kernels/common/keep_alpha.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/keep_alpha.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void join_alpha(const uint8_t* in, const uint8_t* colours, uint8_t* out, size_t n) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const auto alpha = hn::BitCast(d8, hn::Set(d32, 0xff000000u));
  const size_t lanes = hn::Lanes(d8);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto colour = hn::AndNot(alpha, hn::LoadU(d8, colours + i));
    hn::StoreU(hn::Or(colour, hn::And(alpha, hn::LoadU(d8, in + i))), d8, out + i);
  }
  for (; i < n; ++i) out[i] = i % 4 == 3 ? in[i] : colours[i];
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(join_alpha);

void with_alpha_of(const uint8_t* in, const uint8_t* colours, uint8_t* out, size_t n) {
  HWY_DYNAMIC_DISPATCH(join_alpha)(in, colours, out, n);
}

}  // namespace lensd
#endif
