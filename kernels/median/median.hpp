// median: the middle value of the (2r + 1)² window.
//
// Formats: Gray8, RGBA8 (channel by channel, alpha passes through). Border rule: `border`. Temporal reach:
// none. Exact; with border replicate equal to cv::medianBlur. Source: radius 1 and 2: sorted columns shared
// between neighbours, min/max networks (median_network-inl.hpp); radius 3: sorted columns merged
// (median_merge.hpp); beyond: a search over thresholds with running box sums, tile by tile
// (median_tiles.hpp).
//
// A changed radius makes a new plan: on CUDA it chooses between kernels of 30 and of 150 registers, with and
// without shared memory. One kernel that holds them all would run each at the occupancy of the worst.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/median/median_math.hpp"

namespace lensd {

class Median final : public FilterBase<Median, MedianParams, MedianBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  int radius_ = 1;  ///< as configured
};

}  // namespace lensd
