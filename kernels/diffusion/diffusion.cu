#include "kernels/common/border.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/diffusion/diffusion.hpp"

namespace lensd {
namespace {

/// Up to four iterations in shared memory: 64 × 32 pixels of one channel and a rim of four that shrinks.
struct DiffusionTuning {
  static constexpr int threads = 256;
  static constexpr int width = 64, height = 32, rim = kDiffusionFused;
  static constexpr int tile_width = width + 2 * rim, tile_height = height + 2 * rim;
};

struct DiffusionPlanes {
  uint8_t* data;  ///< null: the picture
  size_t pitch, plane;
  __device__ uint16_t* row(int channel, int y) const {
    return reinterpret_cast<uint16_t*>(data + plane * static_cast<size_t>(channel) +
                                       pitch * static_cast<size_t>(y));
  }
};

__global__ void __launch_bounds__(DiffusionTuning::threads)
    diffusion_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, int channels, DiffusionPlanes from,
                     DiffusionPlanes to, int steps, const DiffusionBlock* __restrict__ params) {
  constexpr int W = DiffusionTuning::tile_width, H = DiffusionTuning::tile_height, rim = DiffusionTuning::rim;
  __shared__ uint16_t states[2][W * H];
  const DiffusionBlock block = *params;
  const int t = static_cast<int>(threadIdx.x), channel = static_cast<int>(blockIdx.z);
  const int width = in.extent.width, height = in.extent.height;
  const int x0 = static_cast<int>(blockIdx.x) * DiffusionTuning::width - rim,
            y0 = static_cast<int>(blockIdx.y) * DiffusionTuning::height - rim;
  // What lies outside goes on as the pixel that it mirrors; a replicated rim is, for neighbours at distance
  // 1, a reflected one.
  const Border border = block.border == Border::replicate ? Border::reflect : block.border;
  for (int i = t; i < W * H; i += DiffusionTuning::threads) {
    const int x = border_index(x0 + i % W, width, border), y = border_index(y0 + i / W, height, border);
    uint16_t state = 0;
    if (x >= 0 && y >= 0)
      state = from.data ? from.row(channel, y)[x] : diffusion_state(in.row(y)[x * channels + channel]);
    states[0][i] = state;
  }
  __syncthreads();
  for (int step = 1; step <= steps; ++step) {
    const uint16_t* now = states[(step - 1) & 1];
    uint16_t* next = states[step & 1];
    for (int i = t; i < W * H; i += DiffusionTuning::threads) {
      const int tx = i % W, ty = i / W;
      if (tx < step || tx >= W - step || ty < step || ty >= H - step) continue;
      const int x = x0 + tx, y = y0 + ty, at = now[i];
      int state = at;
      for (const int offset : {1, -1, W, -W})
        state += diffusion_flow(at, now[i + offset], block.lambda, block.inverse_kappa);
      const bool outside = x < 0 || x >= width || y < 0 || y >= height;
      next[i] = static_cast<uint16_t>(border == Border::constant && outside ? 0 : diffusion_clamp(state));
    }
    __syncthreads();
  }
  for (int i = t; i < DiffusionTuning::width * DiffusionTuning::height; i += DiffusionTuning::threads) {
    const int tx = i % DiffusionTuning::width + rim, ty = i / DiffusionTuning::width + rim, x = x0 + tx,
              y = y0 + ty;
    if (x >= width || y >= height) continue;
    const uint16_t state = states[steps & 1][ty * W + tx];
    if (to.data) {
      to.row(channel, y)[x] = state;
    } else {
      out.row(y)[x * channels + channel] = diffusion_value(state);
      if (channels == 4 && channel == 0) out.row(y)[4 * x + 3] = in.row(y)[4 * x + 3];
    }
  }
}

}  // namespace

void Diffusion::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const size_t pitch = state_pitch(static_cast<size_t>(in.width())),
               plane = pitch * static_cast<size_t>(in.height());
  const int first = args.pass * kDiffusionFused, steps = min(kDiffusionFused, iterations_ - first);
  const bool last = first + steps == iterations_;
  const DiffusionPlanes from{
      args.pass == 0 ? nullptr : args.scratch[static_cast<size_t>((args.pass - 1) & 1)], pitch, plane};
  const DiffusionPlanes to{last ? nullptr : args.scratch[static_cast<size_t>(args.pass & 1)], pitch, plane};
  const dim3 grid(blocks_for(in.width(), DiffusionTuning::width),
                  blocks_for(in.height(), DiffusionTuning::height), in.channels() == 4 ? 3 : 1);
  diffusion_kernel<<<grid, DiffusionTuning::threads, 0, stream>>>(
      in.as<const uint8_t>(), args.out.as<uint8_t>(), in.channels(), from, to, steps,
      static_cast<const DiffusionBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
