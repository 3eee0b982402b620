// box: mean of the (2r+1)² window, rounded: (sum + n/2) / n in integers, n = (2r+1)² for every pixel.
//
// Formats: Gray8, RGBA8 (alpha passes through). Border rule: `border`; outside of `constant` counts as 0.
// Temporal reach: none. Exact. Cost does not depend on the radius: column sums slide down, their sum slides
// along the row (McDonnell 1981); on CUDA the second is a difference of prefix sums. On the CPU windows of up
// to 15×15 are cheaper still, as their column sums are added up in 16 bits, all for each pixel.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/box/box_math.hpp"

namespace lensd {

class Box final : public FilterBase<Box, BoxParams, BoxBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

  /// Bytes from one row of column sums to the next, CUDA.
  static size_t sums_pitch(const ImageFormat& format) {
    return (format.row_bytes() * 2 + 255) / 256 * 256;
  }
};

}  // namespace lensd
