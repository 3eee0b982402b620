// Exact statistics of whole frames: histograms and channel sums, by integer additions in any order.
//
// The counters are in a filter's stats memory, which is zeroed before the frame's first pass. Every CPU band
// and every CUDA block adds its own counts. Alpha is not counted.
#pragma once

#include <string>

#include "core/device/cuda_fwd.hpp"
#include "core/device/workers.hpp"
#include "kernels/common/samples.hpp"

namespace lensd {

/// Number of pixels of each value for R, G and B; grey uses only the first. 16-bit samples are counted by
/// their high bytes. An image has at most 2^28 pixels, so counts fit in 32 bits.
struct Histogram {
  uint32_t count[3][256];
};

/// Range of the values of R, G and B; grey uses only the first.
struct SampleRange {
  uint32_t highest[3];
  uint32_t lowest_below_white[3];  ///< 65535 − lowest, so that it grows from 0 like `highest`

  LENSD_HD int lowest(int c) const { return 65535 - static_cast<int>(lowest_below_white[c]); }
};

/// A histogram, and the range of 16-bit samples.
struct RangeHistogram {
  Histogram histogram;
  SampleRange range;
};

/// Sums of the values of R, G and B; grey uses only the first.
struct ChannelSums {
  uint64_t sum[3];
};

/// Returns the grain in rows of a pass that counts pixels. A band has so many pixels that the addition of its
/// counts to the total takes negligible time.
constexpr int tally_grain(Extent extent) {
  return 1 + 65536 / extent.width;
}

/// Adds the band's pixels to `total` on the CPU. Thread-safe.
void add_tally(const ConstImageRef& in, Band band, Histogram& total);
void add_tally(const ConstImageRef& in, Band band, RangeHistogram& total);
void add_tally(const ConstImageRef& in, Band band, ChannelSums& total);

/// Returns the name of a channel's statistic: "mean" for grey, "mean_r" and so on for colour.
inline std::string channel_statistic(const std::string& name, int c, int channels) {
  return channels == 1 ? name : name + '_' + "rgb"[c];
}

/// Queues the addition of the whole image to `total` on CUDA. `total` is in device memory, 8-byte aligned.
void launch_tally(const ConstImageRef& in, Histogram* total, CudaStream stream);
void launch_tally(const ConstImageRef& in, RangeHistogram* total, CudaStream stream);
void launch_tally(const ConstImageRef& in, ChannelSums* total, CudaStream stream);

}  // namespace lensd
