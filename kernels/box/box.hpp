// box: rounded mean of a window of n = (2r+1)² pixels: (sum + n/2) / n in integers. At the border, n is the
// same.
//
// Formats: all (alpha passes through). Border rule: `border`; `constant` is 0 outside. Temporal reach: none.
// Exact. The cost does not depend on the radius: running column sums, then running sums along the row
// (McDonnell 1981). On CUDA, sums along a row are differences of prefix sums. For windows up to 15×15, the
// CPU adds the column sums of each window instead, which is faster.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/box/box_math.hpp"

namespace lensd {

class Box final : public FilterBase<Box, BoxParams, BoxBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void reference(ReferenceRun& run) const override;

 private:
  void average(const PassArgs& args, Band band) const;
  void average_deep(const PassArgs& args, Band band) const;
  void launch_columns(const PassArgs& args, CudaStream stream) const;
  void launch_rows(const PassArgs& args, CudaStream stream) const;
  /// Returns the pitch of the column sums on CUDA, in bytes. A sum has twice the bytes of a sample.
  static std::ptrdiff_t sums_pitch(const ImageFormat& format) {
    return static_cast<std::ptrdiff_t>((format.row_bytes() * 2 + 255) / 256 * 256);
  }
};

}  // namespace lensd
