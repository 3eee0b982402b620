#include "kernels/common/table_filter.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/common/affine_maps.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Applies AffineMap to a row of `n` samples; sample i uses scales[i % 4] and offsets[i % 4]. In images with
/// four channels, copies alpha.
void map_row(const uint16_t* in, size_t n, const float* scales, const float* offsets, size_t channels,
             uint16_t* out) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> d32;
  const hn::Rebind<uint16_t, decltype(d)> d16;
  const hn::CappedTag<float, 4> d4;
  const size_t lanes = hn::Lanes(d);
  float repeated[2][HWY_MAX_BYTES / 4];
  for (size_t k = 0; k < lanes; k += 4)
    hn::StoreU(hn::LoadU(d4, scales), d4, repeated[0] + k),
        hn::StoreU(hn::LoadU(d4, offsets), d4, repeated[1] + k);
  const auto scale = hn::LoadU(d, repeated[0]), offset = hn::LoadU(d, repeated[1]);
  const auto half = hn::Set(d, 0.5f), zero = hn::Zero(d), most = hn::Set(d, 65535.f);
  const auto kept = hn::BitCast(
      d16, hn::Set(hn::Repartition<uint64_t, decltype(d16)>(), channels == 4 ? 0xffff000000000000u : 0));
  const auto map = [&](const uint16_t* from, uint16_t* to) HWY_ATTR {
    const auto old = hn::LoadU(d16, from);
    const auto v = hn::ConvertTo(d, hn::PromoteTo(d32, old));
    const auto limited = hn::Min(hn::Max(hn::Add(hn::Mul(scale, v), offset), zero), most);
    const auto mapped = hn::DemoteTo(d16, hn::ConvertTo(d32, hn::Add(limited, half)));
    hn::StoreU(hn::Or(hn::AndNot(kept, mapped), hn::And(kept, old)), d16, to);
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
  float scales[4], offsets[4];
  for (size_t k = 0; k < 4; ++k) scales[k] = maps.channel[k].scale, offsets[k] = maps.channel[k].offset;
  for (int y = band.begin; y < band.end; ++y) HWY_DYNAMIC_DISPATCH(map_row)
  (in.samples<uint16_t>(y), in.format.row_samples(), scales, offsets, static_cast<size_t>(in.channels()),
   out.samples<uint16_t>(y));
}

}  // namespace lensd
#endif
