// Filters with one pass over the rows of their output.
//
// Self defines `apply(args, band) const` for the CPU and `launch_apply(args, stream) const` for CUDA. The
// output has the format of the first input unless Self overrides configure().
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/common/samples.hpp"

namespace lensd {

/// Parameter block of a filter whose parameters need no conversion.
template <class P>
struct ParamsBlock : P {
  static ParamsBlock make(const P& p) { return {p}; }
};

/// Cost of a pass for each byte of its output: bytes moved and operations.
struct PassCost {
  double bytes = 2, operations = 1;
};

template <class Self, class P, class B = ParamsBlock<P>>
class SinglePass : public FilterBase<Self, P, B> {
 public:
  using Block = B;
  static constexpr PassCost cost{};

  Layout configure(const FilterInputs& inputs) override { return single_pass(inputs.images[0], Self::cost); }

 protected:
  static Layout single_pass(const ImageFormat& output, PassCost per_byte) {
    const double bytes = static_cast<double>(output.row_bytes()) * output.extent.height;
    return {.output = output,
            .passes = {{.name = Self::static_schema().name.c_str(),
                        .run = cpu_pass<&Self::apply>,
                        .launch = cuda_pass<&Self::launch_apply>,
                        .items = output.extent.height,
                        .grain = 8,
                        .bytes = per_byte.bytes * bytes,
                        .operations = per_byte.operations * bytes}},
            .scratch_bytes = {}};
  }
};

/// Queues the pass of a PointFilter or WindowFilter on CUDA. Defined in row_filter.cuh; the build
/// instantiates it for each folder that holds only a header.
template <class F>
void launch_filter(const PassArgs& args, CudaStream stream);

}  // namespace lensd
