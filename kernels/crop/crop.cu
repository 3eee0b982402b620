#include "kernels/common/bytes16.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/crop/crop.hpp"

namespace lensd {
namespace {

/// 16 bytes of output a thread: the copy shape.
struct CropTuning {
  static constexpr int threads = 128;
};

__global__ void crop_kernel(ImageView<const uint8_t> in, int in_bytes, int left, int top,
                            ImageView<uint8_t> out, int out_bytes) {
  const int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) * 16;
  if (x >= out_bytes) return;
  const int y = static_cast<int>(blockIdx.y);
  const uint8_t* row = in.row(top + y);
  store16(out.row(y) + x, load16(row + left + x, row, row + in_bytes), min(16, out_bytes - x));
}

}  // namespace

void Crop::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const int out_bytes = static_cast<int>(args.out.row_bytes());
  const dim3 grid(blocks_for(out_bytes, CropTuning::threads * 16), static_cast<unsigned>(args.out.height()));
  crop_kernel<<<grid, CropTuning::threads, 0, stream>>>(
      in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), rect_.x * in.channels(), rect_.y,
      args.out.as<uint8_t>(), out_bytes);
  LENSD_LAUNCHED();
}

}  // namespace lensd
