#include "kernels/gaussian/deep_gaussian.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/common/border/border_simd.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {
namespace {

/// Computes out[i] = deep_gaussian_sum() of the samples centre(k)[i]. centre(k) points to the row, or to the
/// position in the row, at distance k from the centre. Blocks of sums stay in registers.
template <class Centre>
void weighted_sums(const float* weights, int radius, int n, float* __restrict out, const Centre& centre) {
  constexpr int kParts = 4, kBlock = kParts * kFloats;
  int i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    Floats sum[kParts], before[kParts], after[kParts];
    std::memcpy(sum, centre(0) + i, sizeof(sum));
    for (Floats& s : sum) s = weights[0] * s;
    for (int k = 1; k <= radius; ++k) {
      std::memcpy(before, centre(-k) + i, sizeof(before));
      std::memcpy(after, centre(k) + i, sizeof(after));
      for (int j = 0; j < kParts; ++j) sum[j] = sum[j] + weights[k] * (before[j] + after[j]);
    }
    std::memcpy(out + i, sum, sizeof(sum));
  }
  for (; i < n; ++i)
    out[i] = deep_gaussian_sum(weights, radius, [&centre, i](int k) { return centre(k)[i]; });
}

void blur_chunk(ConstImageRef in, ImageRef out, Band band, int x0, int x1, const GaussianBlock& block,
                DeepGaussianScratch& s) {
  const int step = in.channels(), r = block.radius, n = (x1 - x0) * step, rows = 2 * r + 1;
  const auto slot = [&](int y) { return s.ring[(y - band.begin + rows) % rows]; };
  const auto across = [&](int y) {
    copy_span(border_row(in, y, block.border), in.width(), in.pixel_bytes(), x0 - r, x1 + r, block.border,
              reinterpret_cast<uint8_t*>(s.padded));
    vectorised([&s, &block, n, r, step, to = slot(y)] {
      for (int i = 0; i < n + 2 * r * step; ++i) s.samples[i] = s.padded[i];
      const float* const first = s.samples + r * step;
      weighted_sums(block.weights, r, n, to, [first, step](int k) { return first + k * step; });
    });
  };
  for (int y = band.begin - r; y < band.begin + r; ++y) across(y);
  for (int y = band.begin; y < band.end; ++y) {
    across(y + r);
    const float* ring[2 * kGaussianMaxRadius + 1];
    for (int k = -r; k <= r; ++k) ring[k + r] = slot(y + k);
    vectorised([&s, &block, &ring, n, r, step, from = in.samples<uint16_t>(y) + x0 * step,
                to = out.samples<uint16_t>(y) + x0 * step] {
      float* const sums = s.samples;
      weighted_sums(block.weights, r, n, sums, [&ring, r](int k) { return ring[k + r]; });
      for (int i = 0; i < n; ++i) {
        const auto v = static_cast<uint16_t>(deep_gaussian_value(sums[i]));
        to[i] = step == 4 && i % 4 == 3 ? from[i] : v;
      }
    });
  }
}

}  // namespace

void deep_gaussian_band(ConstImageRef in, ImageRef out, Band band, const GaussianBlock& block,
                        uint8_t* worker) {
  auto& scratch = *reinterpret_cast<DeepGaussianScratch*>(worker);
  const int width = in.width(), pixels = kDeepGaussianChunk / in.channels();
  for (int x = 0; x < width; x += pixels)
    blur_chunk(in, out, band, x, std::min(width, x + pixels), block, scratch);
}

}  // namespace lensd
