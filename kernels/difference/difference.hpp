// difference: |a − b| of each colour channel times gain, clamped to 255. Alpha comes from the first input.
//
// With two inputs, compares the first with the second. With one input, compares each frame with the previous
// one; the first frame, and the first after a seek, outputs 0.
//
// Formats: all, all inputs alike; 16 bits: clamped to 65535. Aliasing: none. Border rule: none. Temporal
// reach: 1 frame with one input (state), none with two. Exact: gain in 1/256, products rounded half up.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/single_pass.hpp"

namespace lensd {

struct DifferenceParams {
  double gain = 1;
};

struct DifferenceBlock {
  uint32_t gain_q8;
  static DifferenceBlock make(const DifferenceParams& p) {
    return {static_cast<uint32_t>(std::lround(p.gain * 256))};
  }
};

/// Returns min(most, |a − b|·gain), rounded.
LENSD_HD constexpr uint32_t amplified_difference(uint32_t a, uint32_t b, uint32_t gain_q8,
                                                 uint32_t most = 255) {
  const uint32_t d = ((a > b ? a - b : b - a) * gain_q8 + 128) >> 8;
  return d < most ? d : most;
}

class Difference final : public SinglePass<Difference, DifferenceParams, DifferenceBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void apply_deep(const PassArgs& args, Band band) const;
  void reference(ReferenceRun& run) const override;

 private:
  /// Returns the pitch of the state's rows in bytes, a multiple of 16. The state is the previous frame.
  static size_t state_pitch(const ImageFormat& format) { return (format.row_bytes() + 15) / 16 * 16; }
};

}  // namespace lensd
