// Exact statistics of whole frames: histograms and channel sums, by integer additions in any order.
//
// The counters lie in a filter's stats memory, which is 0 before the frame's first pass; every CPU band and
// every CUDA block adds what it counted by itself. Alpha is not counted.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "core/device/workers.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Pixels of each value, for R, G and B; Gray8 uses the first. The largest image has 2^28 pixels.
struct Histogram {
  uint32_t count[3][256];
};

/// Sums of the values of R, G and B; Gray8 uses the first.
struct ChannelSums {
  uint64_t sum[3];
};

/// Rows of a band, large enough that adding its counts to the common ones does not show.
constexpr int tally_grain(Extent extent) {
  return 1 + 65536 / extent.width;
}

/// Colour channels that are counted.
LENSD_HD constexpr int colour_channels(PixelFormat format) {
  return format == PixelFormat::gray8 ? 1 : 3;
}

/// CPU: adds the band's pixels; may be called for several bands at once.
void add_histogram(const ConstImageRef& in, Band band, Histogram& total);
void add_sums(const ConstImageRef& in, Band band, ChannelSums& total);

#if LENSD_CUDA
/// CUDA: adds the whole image; `total` in device memory, 8-byte aligned.
void launch_histogram(const ConstImageRef& in, Histogram* total, CudaStream stream);
void launch_sums(const ConstImageRef& in, ChannelSums* total, CudaStream stream);
#endif

}  // namespace lensd
