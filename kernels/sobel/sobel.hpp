// sobel: first derivatives with the 3×3 kernels of cv::Sobel, in integers.
//
// output = x, y: min(255, |derivative|), as cv::convertScaleAbs of cv::Sobel in 16 bits;
//          magnitude: √(dx² + dy²), rounded, at most 255;
//          direction: atan2(dy, dx) in 256ths of a turn, 0 to the right, 64 down; differs from the exact
//          rounding only within 4e-4 steps of a half.
//
// Formats: Gray8 in and out. Border rule: `border`. Temporal reach: none. Exact; magnitude and direction in
// single precision with a prescribed order.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/sobel/sobel_math.hpp"

namespace lensd {

class Sobel final : public FilterBase<Sobel, SobelParams, SobelBlock> {
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
