// flip: the picture mirrored left to right, top to bottom, or both (which is half a turn).
//
// Formats: Gray8, RGBA8. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/flip/flip_math.hpp"

namespace lensd {

class Flip final : public FilterBase<Flip, FlipParams, FlipBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;
};

/// Rows [band) of `out`, which has the format of `in`. Also half a turn for `rotate`.
void flip_rows(const FlipBlock& flip, const ConstImageRef& in, const ImageRef& out, Band band);
#if LENSD_CUDA
/// The same on the device; `flip` is in device memory.
void launch_flip(const FlipBlock* flip, const ConstImageRef& in, const ImageRef& out, CudaStream stream);
#endif

}  // namespace lensd
