// temporal_denoise: recursive, motion-adaptive noise reduction. Each colour channel of each pixel keeps an
// estimate e in 8.8 fixed point; with d = |v − e| the next one is
//
//   v                          where d ≥ motion_threshold (and in the first frame, also after a seek)
//   e + p·(v − e)              elsewhere, p rising linearly from 1 − strength at d = 0 to 1 at the threshold
//
// and out = e rounded. p has 8 bits, products are cut off; a resting picture is reached exactly. Alpha passes
// through.
//
// Formats: Gray8, RGBA8. Aliasing: none. Border rule: none. Temporal reach: all frames since the last seek
// (state: 2 bytes for each byte of the image). Exact: integers.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/temporal_denoise/temporal_denoise_math.hpp"

namespace lensd {

class TemporalDenoise final
    : public FilterBase<TemporalDenoise, TemporalDenoiseParams, TemporalDenoiseBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  /// Bytes from one row of estimates to the next; rows begin on multiples of 32 bytes.
  static size_t state_pitch(const ImageFormat& format) {
    return (format.row_bytes() + 15) / 16 * 32;
  }
};

}  // namespace lensd
