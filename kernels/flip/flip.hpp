// flip: mirrors the picture left to right, top to bottom, or both (a rotation by 180 degrees).
//
// Formats: all. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "kernels/common/single_pass.hpp"

namespace lensd {

enum class FlipMode : uint8_t { horizontal, vertical, both };

struct FlipParams {
  FlipMode mode = FlipMode::horizontal;
};

struct FlipBlock {
  bool x = false, y = false;  ///< x: reverse the columns; y: reverse the rows
  static FlipBlock make(const FlipParams& params) {
    return {params.mode != FlipMode::vertical, params.mode != FlipMode::horizontal};
  }
};

class Flip final : public SinglePass<Flip, FlipParams, FlipBlock> {
 public:
  static constexpr PassCost cost{.operations = 0};

  static FilterSchema make_schema();
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;
};

/// Writes rows `band` of the mirrored `in` to `out`, which has the same format. Also used by rotate for 180
/// degrees.
void flip_rows(const FlipBlock& flip, const ConstImageRef& in, const ImageRef& out, Band band);
/// Queues the flip of the whole image on CUDA; `flip` is in device memory.
void launch_flip(const FlipBlock* flip, const ConstImageRef& in, const ImageRef& out, CudaStream stream);

}  // namespace lensd
