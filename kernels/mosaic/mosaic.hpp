// mosaic: every pixel becomes the rounded mean of its block; blocks at the right and bottom may be partial.
//
// Formats: Gray8, RGBA8 (channel by channel, alpha passes through). Border rule: none. Temporal reach: none.
// Exact: integer sums. Statistics: the frame's exact mean before the mosaic, as `mean` or `mean_r`, `mean_g`,
// `mean_b`. The block size is live: the CUDA launch is the same for all of them.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/mosaic/mosaic_math.hpp"

namespace lensd {

class Mosaic final : public FilterBase<Mosaic, MosaicParams, MosaicBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;
  void reference(ReferenceRun& run) const override;

 private:
  ImageFormat format_;
};

}  // namespace lensd
