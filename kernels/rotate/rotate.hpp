// rotate: the picture turned clockwise by 90, 180 or 270 degrees.
//
// Formats: Gray8, RGBA8. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/rotate/rotate_math.hpp"

namespace lensd {

class Rotate final : public FilterBase<Rotate, RotateParams, RotateBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  RotateAngle angle_ = RotateAngle::quarter;  ///< as planned
};

}  // namespace lensd
