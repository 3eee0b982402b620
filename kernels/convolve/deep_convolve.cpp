// convolve on the CPU for 16-bit images.
#include <algorithm>
#include <cstring>

#include "kernels/common/border/border_simd.hpp"
#include "kernels/convolve/convolve.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolve/deep_convolve.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/deep/float_lanes-inl.hpp"

/// Writes `n` values: to_deep_sample() of deep_convolve_sum(). rows[i] points to the sample under the
/// first weight of kernel row i, for output 0. Reads whole blocks of four vectors. The sums are separate
/// variables, because GCC keeps arrays of vectors in memory.
void convolve_rows(const ConvolveBlock& block, const float* const* rows, int step, int n, const uint16_t* in,
                   uint16_t* out) {
  const hn::ScalableTag<float> d;
  const Samples16<decltype(d)> d16;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto kept = alpha_mask(d16, step);
  const auto bias = hn::Set(d, block.deep_bias), unit = hn::Set(d, block.deep_unit);
  const auto store = [&](auto sum, const uint16_t* old, uint16_t* to) HWY_ATTR {
    const auto limited = hn::Min(hn::Max(hn::Mul(sum, unit), hn::Zero(d)), hn::Set(d, 65535.f));
    store_samples(d, limited, kept, old, to);
  };
  for (int i = 0; i < n; i += 4 * lanes) {
    auto s0 = bias, s1 = bias, s2 = bias, s3 = bias;
    for (int t = 0; t < block.deep_count; ++t) {
      const auto& tap = block.deep[t];
      const float* const from = rows[tap.row] + tap.col * step + i;
      const auto weight = hn::Set(d, tap.weight);
      s0 = hn::Add(s0, hn::Mul(weight, hn::LoadU(d, from)));
      s1 = hn::Add(s1, hn::Mul(weight, hn::LoadU(d, from + lanes)));
      s2 = hn::Add(s2, hn::Mul(weight, hn::LoadU(d, from + 2 * lanes)));
      s3 = hn::Add(s3, hn::Mul(weight, hn::LoadU(d, from + 3 * lanes)));
    }
    const bool whole = i + 4 * lanes <= n;
    const size_t rest = 2 * static_cast<size_t>(n - i);
    uint16_t last[HWY_MAX_BYTES];  // a block has HWY_MAX_BYTES samples at most
    if (!whole) std::memcpy(last, in + i, rest);
    const uint16_t* const old = whole ? in + i : last;
    uint16_t* const to = whole ? out + i : last;
    store(s0, old, to), store(s1, old + lanes, to + lanes);
    store(s2, old + 2 * lanes, to + 2 * lanes), store(s3, old + 3 * lanes, to + 3 * lanes);
    if (!whole) std::memcpy(out + i, last, rest);
  }
}

/// Converts `n` samples to floats. Reads and writes whole vectors: up to 15 samples beyond `n`.
void widen_row(const uint16_t* from, int n, float* to) {
  const hn::ScalableTag<float> d;
  const Samples16<decltype(d)> d16;
  for (int i = 0; i < n; i += static_cast<int>(hn::Lanes(d)))
    hn::StoreU(widened(d, hn::LoadU(d16, from + i)), d, to + i);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(convolve_rows);
HWY_EXPORT(widen_row);

namespace {

constexpr int kDeepChunk = 1024;  ///< samples of a column chunk
constexpr int kDeepRow = kDeepChunk + 4 * (kConvolveMaxSide - 1) + 64;

/// Private memory of a worker: rows with their border.
struct DeepConvolveWorker {
  uint16_t padded[kDeepRow];
  float ring[kConvolveMaxSide][kDeepRow];
};

}  // namespace

size_t Convolve::deep_worker_bytes() {
  return sizeof(DeepConvolveWorker);
}

void Convolve::apply_deep(const PassArgs& args, Band band) const {
  const ConvolveBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  auto& worker = *reinterpret_cast<DeepConvolveWorker*>(args.worker);
  const int ch = in.channels(), rx = block.cols / 2, ry = block.rows / 2, pixels = kDeepChunk / ch;
  const auto slot = [&](int y) { return worker.ring[(y - band.begin + ry) % block.rows]; };
  for (int x0 = 0; x0 < in.width(); x0 += pixels) {
    const int x1 = std::min(x0 + pixels, in.width()), n = (x1 - x0) * ch;
    for (int y = band.begin - ry; y < band.end + ry; ++y) {
      copy_span(border_row(in, y, block.border), in.width(), in.pixel_bytes(), x0 - rx, x1 + rx, block.border,
                reinterpret_cast<uint8_t*>(worker.padded));
      HWY_DYNAMIC_DISPATCH(widen_row)(worker.padded, n + 2 * rx * ch, slot(y));
      const int target = y - ry;
      if (target < band.begin) continue;
      const float* rows[kConvolveMaxSide];
      for (int i = 0; i < block.rows; ++i) rows[i] = slot(target - ry + i);
      HWY_DYNAMIC_DISPATCH(convolve_rows)
      (block, rows, ch, n, in.samples<uint16_t>(target) + x0 * ch,
       args.out.samples<uint16_t>(target) + x0 * ch);
    }
  }
}

}  // namespace lensd
#endif
