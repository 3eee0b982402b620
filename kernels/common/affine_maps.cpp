#include "kernels/common/table/table_filter.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/affine_maps.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/deep/float_lanes-inl.hpp"

/// Applies AffineMap to a row of `n` samples; sample i uses the map of channel i % 4. In RGBA images, copies
/// alpha.
void map_row(const uint16_t* in, size_t n, const AffineMaps& maps, int channels, uint16_t* out) {
  const hn::ScalableTag<float> d;
  const Samples16<decltype(d)> d16;
  const size_t lanes = hn::Lanes(d);
  float repeated[3][HWY_MAX_BYTES / 4];
  for (size_t k = 0; k < lanes; ++k) {
    const AffineMap& of_lane = maps.channel[k % 4];
    repeated[0][k] = of_lane.base, repeated[1][k] = of_lane.scale, repeated[2][k] = of_lane.offset;
  }
  const auto base = hn::LoadU(d, repeated[0]), scale = hn::LoadU(d, repeated[1]),
             offset = hn::LoadU(d, repeated[2]);
  const auto zero = hn::Zero(d), most = hn::Set(d, 65535.f);
  const auto kept = alpha_mask(d16, channels);
  const auto map = [&](const uint16_t* from, uint16_t* to) HWY_ATTR {
    const auto above = hn::Sub(widened(d, hn::LoadU(d16, from)), base);
    const auto mapped = hn::Add(hn::Mul(scale, above), offset);
    store_samples(d, hn::Min(hn::Max(mapped, zero), most), kept, from, to);
  };
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) map(in + i, out + i), map(in + i + lanes, out + i + lanes);
  for (; i + lanes <= n; i += lanes) map(in + i, out + i);
  uint16_t rest[HWY_MAX_BYTES / 4] = {};
  for (size_t k = 0; i + k < n; ++k) rest[k] = in[i + k];
  map(rest, rest);
  for (size_t k = 0; i + k < n; ++k) out[i + k] = rest[k];
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(map_row);

void apply_maps(const ConstImageRef& in, const ImageRef& out, const AffineMaps& maps, Band band) {
  for (int y = band.begin; y < band.end; ++y) HWY_DYNAMIC_DISPATCH(map_row)
  (in.samples<uint16_t>(y), in.format.row_samples(), maps, in.channels(), out.samples<uint16_t>(y));
}

}  // namespace lensd
#endif
