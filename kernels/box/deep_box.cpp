#include "kernels/box/deep_box.hpp"

#include <cstring>

#include "kernels/common/border/border_simd.hpp"
#include "kernels/common/vectorised.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/box/deep_box.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D32 = hn::ScalableTag<uint32_t>;
using V32 = hn::Vec<D32>;

/// Updates column sums: sums[i] += add[i] − sub[i]. A null row means zeros.
void deep_slide(uint32_t* sums, const uint16_t* add, const uint16_t* sub, size_t n) {
  const D32 d32;
  const hn::Rebind<uint16_t, D32> d16;
  const size_t lanes = hn::Lanes(d32);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto v = hn::LoadU(d32, sums + i);
    if (add) v = hn::Add(v, hn::PromoteTo(d32, hn::LoadU(d16, add + i)));
    if (sub) v = hn::Sub(v, hn::PromoteTo(d32, hn::LoadU(d16, sub + i)));
    hn::StoreU(v, d32, sums + i);
  }
  for (; i < n; ++i) sums[i] += (add ? uint32_t{add[i]} : 0u) - (sub ? uint32_t{sub[i]} : 0u);
}

/// Computes running sums of 2·radius + 1 pixels of kStep samples each.
template <int kStep>
HWY_INLINE void deep_running_sums(const uint32_t* columns, uint32_t* sums, int width, int radius) {
  uint32_t s[kStep] = {};
  for (int i = 0; i < 2 * radius; ++i)
    for (int c = 0; c < kStep; ++c) s[c] += columns[i * kStep + c];
  const uint32_t* const head = columns + 2 * radius * kStep;
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < kStep; ++c) {
      s[c] += head[x * kStep + c];
      sums[x * kStep + c] = s[c];
      s[c] -= columns[x * kStep + c];
    }
}

/// Divides sums as deep_box_mean() does. The reciprocal is exact for sums below 2^30; see box_mean().
struct DeepBoxQuotient {
  V32 half, reciprocal;
  int shift;
  explicit DeepBoxQuotient(const BoxBlock& block)
      : half(hn::Set(D32(), static_cast<uint32_t>(block.half))),
        reciprocal(hn::Set(D32(), block.reciprocal)),
        shift(block.shift - 32) {}

  HWY_INLINE V32 operator()(V32 sum) const {
    const D32 d32;
    const hn::RepartitionToWide<D32> d64;
    const auto v = hn::Add(sum, half);
    const auto even = hn::ShiftRight<32>(hn::MulEven(v, reciprocal));
    const auto odd = hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, v))), reciprocal);
    const auto high = hn::OddEven(hn::BitCast(d32, odd), hn::BitCast(d32, even));
    return hn::ShiftRightSame(high, shift);
  }
};

/// Writes the means of `n` windows. The sum of a window is the sum of `side` values that are `step` apart. If
/// `step` is 4, copies alpha from `in`. Only for radii 1 to kDeepBoxExactRadius.
void deep_means(const uint32_t* columns, size_t side, int step, const BoxBlock& block, const uint16_t* in,
                uint16_t* out, size_t n) {
  const D32 d32;
  const hn::RebindToSigned<D32> di32;
  const hn::Rebind<uint16_t, D32> d16;
  const hn::Repartition<uint64_t, decltype(d16)> d64;
  const auto colour = hn::BitCast(d16, hn::Set(d64, step == 4 ? ~uint64_t{0} >> 16 : ~uint64_t{0}));
  const DeepBoxQuotient quotient(block);
  const size_t lanes = hn::Lanes(d32);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const uint32_t* from = columns + i;
    auto sum = hn::LoadU(d32, from);
    for (size_t k = 1; k < side; ++k) from += step, sum = hn::Add(sum, hn::LoadU(d32, from));
    const auto mean = hn::DemoteTo(d16, hn::BitCast(di32, quotient(sum)));
    const auto kept = hn::AndNot(colour, hn::LoadU(d16, in + i));
    hn::StoreU(hn::Or(hn::And(mean, colour), kept), d16, out + i);
  }
  for (; i < n; ++i) {
    uint32_t sum = 0;
    for (size_t k = 0; k < side; ++k) sum += columns[i + k * static_cast<size_t>(step)];
    out[i] = step == 4 && i % 4 == 3 ? in[i] : deep_box_mean(sum, block);
  }
}

void deep_sums_gray(const uint32_t* columns, uint32_t* sums, int width, int radius) {
  deep_running_sums<1>(columns, sums, width, radius);
}
void deep_sums_rgba(const uint32_t* columns, uint32_t* sums, int width, int radius) {
  deep_running_sums<4>(columns, sums, width, radius);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(deep_slide);
HWY_EXPORT(deep_means);
HWY_EXPORT(deep_sums_gray);
HWY_EXPORT(deep_sums_rgba);

namespace {

/// Up to this radius, a window's sum plus half its number of pixels is below 2^30.
constexpr int kDeepBoxExactRadius = 63;
static_assert(uint64_t{127} * 127 * 65535 + 127 * 127 / 2 < uint64_t{1} << 30);

/// Writes the means of windows with radius 0 or a radius above kDeepBoxExactRadius. Copies alpha from `in`.
void divide(const uint32_t* sums, const BoxBlock& block, const uint16_t* in, uint16_t* out, int n,
            bool rgba) {
  vectorised([=, &block] {
    const BoxBlock b = block;
    for (int i = 0; i < n; ++i) {
      const uint16_t mean = deep_box_mean(sums[i], b);
      out[i] = rgba && i % 4 == 3 ? in[i] : mean;
    }
  });
}

size_t column_values(const ImageFormat& format) {
  return format.row_samples() + static_cast<size_t>(2 * kBoxMaxRadius * channels(format.format));
}

}  // namespace

size_t deep_box_bytes(const ImageFormat& format) {
  return (column_values(format) + format.row_samples()) * sizeof(uint32_t) + 2 * kBoxMaxRadius * sizeof(int);
}

void Box::average_deep(const PassArgs& args, Band band) const {
  const BoxBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  const int r = block.radius, width = in.width(), ch = in.channels(), n = width * ch;
  const size_t samples = static_cast<size_t>(n);
  const auto slide = HWY_DYNAMIC_DISPATCH(deep_slide);
  const auto means = HWY_DYNAMIC_DISPATCH(deep_means);
  const auto sum_across =
      ch == 1 ? &HWY_DYNAMIC_DISPATCH(deep_sums_gray) : &HWY_DYNAMIC_DISPATCH(deep_sums_rgba);
  auto* const columns = reinterpret_cast<uint32_t*>(args.worker);
  uint32_t* const centre = columns + kBoxMaxRadius * ch;
  uint32_t* const sums = columns + column_values(in.format);
  auto* const border_columns = reinterpret_cast<int*>(sums + n);
  for (int i = 0; i < 2 * r; ++i)
    border_columns[i] = border_index(i < r ? i - r : width + i - r, width, block.border);
  const auto row = [&](int y) { return reinterpret_cast<const uint16_t*>(border_row(in, y, block.border)); };

  std::memset(centre, 0, samples * sizeof(uint32_t));
  for (int y = band.begin - r; y < band.begin + r; ++y) slide(centre, row(y), nullptr, samples);
  for (int y = band.begin; y < band.end; ++y) {
    slide(centre, row(y + r), y > band.begin ? row(y - r - 1) : nullptr, samples);
    for (int i = 0; i < 2 * r; ++i) {
      uint32_t* const to = centre + (i < r ? i - r : width + i - r) * ch;
      for (int c = 0; c < ch; ++c) to[c] = border_columns[i] < 0 ? 0 : centre[border_columns[i] * ch + c];
    }
    const uint16_t* const from = in.samples<uint16_t>(y);
    uint16_t* const to = args.out.samples<uint16_t>(y);
    const uint32_t* const first = centre - r * ch;
    if (r >= 1 && r <= kBoxNarrowRadius) {
      means(first, static_cast<size_t>(2 * r + 1), ch, block, from, to, samples);
      continue;
    }
    sum_across(first, sums, width, r);
    if (r >= 1 && r <= kDeepBoxExactRadius)
      means(sums, 1, ch, block, from, to, samples);
    else
      divide(sums, block, from, to, n, ch == 4);
  }
}

}  // namespace lensd
#endif
