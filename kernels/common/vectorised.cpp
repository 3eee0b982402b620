#include "kernels/common/vectorised.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/vectorised.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {

int64_t this_target() {
  return HWY_TARGET;
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(this_target);

int64_t simd_target() {
  return HWY_DYNAMIC_DISPATCH(this_target)();
}

}  // namespace lensd
#endif
