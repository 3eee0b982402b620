// gaussian and unsharp on the CPU for 16-bit images: a band of rows in column chunks that fit in the L2
// cache.
//
//   image row ─ with border, as floats ─ horizontal sums ─▶ ring of 2·radius + 1 rows ─ vertical sums ─▶ row
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {

inline constexpr int kDeepGaussianChunk = 1024;  ///< samples of a column chunk
/// Number of samples that are computed at once with the largest vectors. Divides kDeepGaussianChunk.
inline constexpr int kDeepGaussianBlock = 64;

/// Private memory of a worker, for any image and radius.
struct alignas(64) DeepGaussianScratch {
  static constexpr int kRim = 8 * kGaussianMaxRadius;
  uint16_t padded[kDeepGaussianChunk + kRim + 64];
  float samples[kDeepGaussianChunk + kRim + 64];
  /// The stride of the rows is not a multiple of 4096 bytes. Otherwise all rows would use the same sets of
  /// the cache.
  float ring[2 * kGaussianMaxRadius + 1][kDeepGaussianChunk + 32];
};

/// Blurs the rows of `band`. `worker` is the worker's DeepGaussianScratch.
void deep_gaussian_band(ConstImageRef in, ImageRef out, Band band, const GaussianBlock& block,
                        uint8_t* worker);

}  // namespace lensd
