#include "kernels/common/launch.cuh"
#include "kernels/deinterlace/deinterlace.hpp"

namespace lensd {
namespace {

struct DeinterlaceTuning {
  static constexpr int threads = 256;
};

/// A thread writes one sample of the output and of the state.
template <class S>
__global__ void __launch_bounds__(DeinterlaceTuning::threads)
    deinterlace_kernel(const DeinterlaceBlock* params, ImageView<const S> in, ImageView<S> out,
                       StatePair<S> state, int row_samples, int step) {
  const int i = static_cast<int>(blockIdx.x * DeinterlaceTuning::threads + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y);
  if (i >= row_samples) return;
  const DeinterlaceBlock block = *params;
  const S* const before = state.before();
  const size_t pitch = static_cast<size_t>(row_samples);
  int v = in.row(y)[i];
  state.after()[pitch * y + i] = static_cast<S>(v);
  if ((y & 1) == block.missing_rows(*state.frame) && (step == 1 || i % 4 != 3)) {
    const auto rows = FieldRows<const S*>::around(
        y, in.extent.height, [&](int row) { return in.row(row); },
        [&](int row) { return before + pitch * row; });
    v = predict_in_field(rows, i, row_samples, step);
    if (state.frame->reset == 0) v = limit_to_fields(rows, i, v, block.check);
  }
  out.row(y)[i] = static_cast<S>(v);
}

}  // namespace

void Deinterlace::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef& in = args.in[0];
  const int samples = static_cast<int>(in.format.row_samples());
  const dim3 grid(blocks_for(samples, DeinterlaceTuning::threads), static_cast<unsigned>(in.height()));
  with_sample_type(in.format.format, [&]<class S>() {
    deinterlace_kernel<S><<<grid, DeinterlaceTuning::threads, 0, stream>>>(
        static_cast<const DeinterlaceBlock*>(args.block), in.as<const S>(), args.out.as<S>(),
        args.state_of<S>(), samples, in.channels());
  });
  LENSD_LAUNCHED();
}

}  // namespace lensd
