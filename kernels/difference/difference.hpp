// difference: |a − b| of each colour channel times gain, clamped to 255; alpha comes from the first input.
//
// Two inputs: the first against the second. One input: each frame against the one before; the first frame,
// also after a seek, is 0.
//
// Formats: Gray8, RGBA8, all inputs alike. Aliasing: none. Border rule: none. Temporal reach: 1 frame with
// one input (state), none with two. Exact: gain in 8-bit fixed point, rounded half up.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/difference/difference_math.hpp"

namespace lensd {

class Difference final : public FilterBase<Difference, DifferenceParams, DifferenceBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  /// State: the last frame, rows on multiples of 16 bytes.
  static size_t state_pitch(const ImageFormat& format) {
    return (format.row_bytes() + 15) / 16 * 16;
  }
};

}  // namespace lensd
