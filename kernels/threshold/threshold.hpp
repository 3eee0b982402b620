// threshold: 255 where a channel is above the level, 0 elsewhere (cv::THRESH_BINARY); alpha passes through.
//
// otsu: each channel's level comes from the frame's own histogram (cv::THRESH_OTSU, bit for bit). Statistics
// report the levels in use.
//
// Formats: Gray8, RGBA8. Aliasing: none. Border rule: none. Temporal reach: none. Exact: integer counts, then
// doubles in prescribed order. Source: N. Otsu, A threshold selection method from gray-level histograms,
// 1979.
//
// Switching otsu makes a new plan: with it there are two passes more, which would otherwise be launched for
// nothing in every frame and cost as much as the threshold itself.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/threshold/threshold_math.hpp"

namespace lensd {

class Threshold final : public FilterBase<Threshold, ThresholdParams, ThresholdBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;
  void reference(ReferenceRun& run) const override;

 private:
  void count(const PassArgs& args, Band band) const;
  void launch_count(const PassArgs& args, CudaStream stream) const;
  void choose_level(const PassArgs& args, Band band) const;
  void launch_choose_level(const PassArgs& args, CudaStream stream) const;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;

  bool otsu_ = false;  ///< as configured
};

}  // namespace lensd
