// levels: black and white points, gamma, contrast, brightness, then saturation.
//
//   t = clamp((v − black) / (white − black)), white = black being a step, white < black a negative
//   t = clamp((t^(1/gamma) − 0.5)·contrast + 0.5 + brightness), rounded to 8 bits: one 256-entry table
//   out = clamp(luma + saturation·(channel − luma)) with the BT.601 luma of the tabled pixel, in fixed point
//
// Formats: Gray8 (saturation has no meaning there), RGBA8. Aliasing: none. Border rule: none. Temporal reach:
// none. The table is computed on the host for both backends; the rest is integers: exact.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/levels/levels_math.hpp"

namespace lensd {

class Levels final : public FilterBase<Levels, LevelsParams, LevelsBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;
};

}  // namespace lensd
