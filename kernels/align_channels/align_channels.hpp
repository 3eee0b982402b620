// align_channels: finds the shift of red and blue against green and removes it. Such shifts come from lateral
// chromatic aberration and from the separate plates of early colour photographs.
//
// The search uses pyramids of 2×2 means. The smallest level tries all shifts up to max_shift. Each larger
// level tries shifts near twice the result of the next smaller one. The shift with the highest normalised
// correlation with green wins. The correlation window stays inside the picture for all shifts, so shifts are
// limited to a quarter of the picture's width and height. A picture without structure is not changed. The
// shift of channel c is the (x, y) for which c(p + (x, y)) matches green(p) best. Statistics: red_x, red_y,
// blue_x and blue_y.
//
// 16 bits: the search uses all bits, in pyramids of 16-bit means. The shift of a channel that contains only
// noise is arbitrary.
//
// Formats: RGBA8, RGBA16. Border rule: replicate. Temporal reach: none. Exact: integer sums, then decisions
// in doubles in a fixed order. With CUDA, the device makes the decisions.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/align_channels/align_math.hpp"

namespace lensd {

class AlignChannels final : public FilterBase<AlignChannels, AlignParams, AlignBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;
  void reference(ReferenceRun& run) const override;

 private:
  void split(const PassArgs& args, Band rows) const;
  void launch_split(const PassArgs& args, CudaStream stream) const;
  /// Computes level `args.step` from the next larger one.
  void shrink(const PassArgs& args, Band rows) const;
  void launch_shrink(const PassArgs& args, CudaStream stream) const;
  /// Adds the band's part to the sums of level `args.step`. First, every band decides the shifts of level
  /// args.step + 1 if there is one; the first band stores them.
  void score(const PassArgs& args, Band rows) const;
  void launch_score(const PassArgs& args, CudaStream stream) const;
  void shift(const PassArgs& args, Band rows) const;
  void launch_shift(const PassArgs& args, CudaStream stream) const;

  static AlignWork& work_of(const PassArgs& args) { return *reinterpret_cast<AlignWork*>(args.scratch[1]); }
  static AlignStats& stats_of(const PassArgs& args) { return *static_cast<AlignStats*>(args.stats); }
  uint8_t* plane(const PassArgs& args, int level, int channel) const;

  AlignGeometry geometry_;  ///< search geometry from configure()
};

}  // namespace lensd
