// auto_contrast: stretches the histogram so that its ends become 0 and 255.
//
// low is the lowest value with more than clip_low % of the samples up to it, high the highest with more than
// clip_high % from it upwards, both by exact counts; out = clamp((v − low)·255/(high − low)), rounded. The
// ends come from all channels together, or from each by itself (per_channel). A picture of a single value
// stays as it is. `smooth` low-passes the ends from frame to frame; the first frame, also after a seek, takes
// its own.
//
// Formats: Gray8, RGBA8. Aliasing: none. Border rule: none. Temporal reach: all frames since the last seek
// (state), none with smooth = 0. Exact: integer counts, doubles in prescribed order, tables.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/auto_contrast/auto_contrast_math.hpp"

namespace lensd {

class AutoContrast final : public FilterBase<AutoContrast, AutoContrastParams, AutoContrastBlock> {
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
  enum Pass { kHistogram, kEnds, kApply };
};

}  // namespace lensd
