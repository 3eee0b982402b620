// grey_world: white balance that makes the means of the colour channels equal.
//
// Channel c is multiplied by gain = mean of all channels / mean of c; where the mean of c is at most 0.05 of
// full scale, the mean of all is added instead. `strength` mixes with the input. `smooth` low-passes gains
// and additions from frame to frame; the first frame, also after a seek, takes its own.
//
// Formats: RGBA8; Gray8, where the gain is always 1. Aliasing: none. Border rule: none. Temporal reach: all
// frames since the last seek (state), none with smooth = 0. Exact: integer sums, doubles in prescribed order,
// tables. Source: G. Buchsbaum, A spatial processor model for object colour perception, 1980.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/grey_world/grey_world_math.hpp"

namespace lensd {

class GreyWorld final : public FilterBase<GreyWorld, GreyWorldParams, GreyWorldBlock> {
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
  enum Pass { kSums, kGains, kApply };
};

}  // namespace lensd
