// median: the middle value of the (2r + 1)² window.
//
// Formats: all (channel by channel, alpha passes through). Border rule: `border`. Temporal reach: none.
// Exact. With border replicate, equal to cv::medianBlur.
//
//   radius 1 and 2: median_simd.cpp, median.cu, deep_median.cu: sorted columns shared by neighbours, min/max
//                   networks
//   radius 3:       median_merge_simd.cpp, median_merge.cu: sorted columns merged
//   radius 4 to 25: median_tiles_simd.cpp, median_tiles.cu: search over thresholds with box sums;
//                   with 16 bits: median_ranks.cpp, median_ranks.cu: marks of ranks
//
// Changing the radius needs a new plan, because it selects different CUDA kernels. These use 30 or 150
// registers and may use shared memory. A single kernel for all radii would have the lowest occupancy of
// these.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/median/median_math.hpp"

namespace lensd {

class Median final : public FilterBase<Median, MedianParams, MedianBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void reference(ReferenceRun& run) const override;

 private:
  /// Filters with sorted columns, up to kMedianMergeRadius.
  void run_columns(const PassArgs& args, Band band) const;
  static size_t columns_worker_bytes(ImageFormat format);
  void run_tiles(const PassArgs& args, Band band) const;
  static size_t tiles_worker_bytes();
  /// Filters 16-bit images with ranks, for radii above kMedianMergeRadius.
  void run_ranks(const PassArgs& args, Band band) const;
  static size_t ranks_worker_bytes();
  /// Launches the network kernels, up to kMedianNetworkRadius.
  void launch_networks(const PassArgs& args, CudaStream stream) const;
  /// Launches the network kernels for 16-bit images.
  void launch_deep_networks(const PassArgs& args, CudaStream stream) const;
  void launch_merge(const PassArgs& args, CudaStream stream) const;
  void launch_tiles(const PassArgs& args, CudaStream stream) const;
  void launch_ranks(const PassArgs& args, CudaStream stream) const;

  int radius_ = 1;  ///< radius from configure()
};

}  // namespace lensd
