#include <type_traits>

#include "kernels/common/border/border.hpp"
#include "kernels/common/launch.cuh"
#include "kernels/common/samples.hpp"
#include "kernels/diffusion/diffusion.hpp"

namespace lensd {
namespace {

/// Computes up to four iterations in registers: a thread holds 4 × 4 pixels of one channel, a block 64 × 64.
/// Each iteration makes one more outer ring of the block's pixels invalid, so the four outer rings are not
/// written. A thread exchanges values with the squares on its left and right by warp shuffles, and with those
/// above and below through shared memory.
struct DiffusionTuning {
  static constexpr int side = 4, across = 16, threads = across * across;
  static constexpr int tile = side * across, halo = kDiffusionFused, inner = tile - 2 * halo;
  static_assert(halo == side, "the halo consists of whole squares");
};

/// Planes of states in scratch memory, for samples of type S.
template <class S>
struct DiffusionPlanes {
  static constexpr bool deep = sizeof(S) == 2;
  using State = std::conditional_t<deep, float, uint16_t>;
  using Four = std::conditional_t<deep, float4, ushort4>;
  uint8_t* data;  ///< planes of states; null: use the picture
  size_t pitch, plane;
  __device__ State* row(int channel, int y) const {
    return reinterpret_cast<State*>(data + plane * static_cast<size_t>(channel) +
                                    pitch * static_cast<size_t>(y));
  }
};

/// Returns a / b rounded to nearest, like the compiler's division but without its checks for overflow and
/// underflow.
__device__ float near_quotient(float a, float b) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
  r = __fmaf_rn(r, __fmaf_rn(-b, r, 1.0f), r);
  float q = __fmul_rn(a, r);
  q = __fmaf_rn(r, __fmaf_rn(-b, q, a), q);
  return __fmaf_rn(r, __fmaf_rn(-b, q, a), q);
}

/// Computes diffusion_flow() for integers stored as floats.
__device__ float flow_between(float a, float b, const DiffusionBlock& block) {
  const float d = b - a, q = d * block.inverse_kappa;
  return round_flow(near_quotient(block.lambda, 1.0f + q * q) * d);
}

/// The square of states that a thread computes, for images with samples of type S.
template <class S>
struct DiffusionSquare {
  static constexpr int side = DiffusionTuning::side;
  float at[side][side];

  /// Loads the square whose top left pixel is (x, y), by the border rule.
  __device__ void load(const ImageView<const S>& in, int channels, int channel,
                       const DiffusionPlanes<S>& from, Border border, int x, int y) {
    const Extent extent = in.extent;
    const bool inside = x >= 0 && y >= 0 && x + side <= extent.width && y + side <= extent.height;
#pragma unroll
    for (int j = 0; j < side; ++j) {
      if (inside && from.data) {
        using Four = typename DiffusionPlanes<S>::Four;
        const Four four = *reinterpret_cast<const Four*>(from.row(channel, y + j) + x);
        at[j][0] = four.x, at[j][1] = four.y, at[j][2] = four.z, at[j][3] = four.w;
        continue;
      }
#pragma unroll
      for (int i = 0; i < side; ++i) {
        const int u = inside ? x + i : border_index(x + i, extent.width, border),
                  v = inside ? y + j : border_index(y + j, extent.height, border);
        at[j][i] =
            u < 0 || v < 0 ? 0
            : from.data
                ? from.row(channel, v)[u]
                : static_cast<typename DiffusionPlanes<S>::State>(in.row(v)[u * channels + channel] << 8);
      }
    }
  }

  /// Computes one iteration. `above` and `below` are the adjacent rows. Bit 4j + i of `zeros` marks pixels
  /// that stay 0.
  __device__ void step(const float4& above, const float4& below, uint32_t zeros,
                       const DiffusionBlock& block) {
    const float top[side] = {above.x, above.y, above.z, above.w},
                bottom[side] = {below.x, below.y, below.z, below.w};
    float down[side];  // flows from a row to the row above
#pragma unroll
    for (int i = 0; i < side; ++i) down[i] = flow_between(top[i], at[0][i], block);
#pragma unroll
    for (int j = 0; j < side; ++j) {
      const float right = __shfl_down_sync(~0u, at[j][0], 1);
      float across[side], next[side];
#pragma unroll
      for (int i = 0; i < side; ++i)
        across[i] = flow_between(at[j][i], i + 1 < side ? at[j][i + 1] : right, block);
      const float left = __shfl_up_sync(~0u, across[side - 1], 1);
#pragma unroll
      for (int i = 0; i < side; ++i) {
        const float to = flow_between(at[j][i], j + 1 < side ? at[j + 1][i] : bottom[i], block);
        next[i] = at[j][i] + ((across[i] - (i > 0 ? across[i - 1] : left)) + (to - down[i]));
        down[i] = to;
      }
#pragma unroll
      for (int i = 0; i < side; ++i) at[j][i] = fminf(fmaxf(next[i], 0.0f), kWhite<S> * 256.0f);
    }
    if (zeros == 0) return;
#pragma unroll
    for (int j = 0; j < side; ++j)
#pragma unroll
      for (int i = 0; i < side; ++i)
        if (zeros >> (side * j + i) & 1) at[j][i] = 0;
  }
};

template <class S>
__global__ void __launch_bounds__(DiffusionTuning::threads)
    diffusion_kernel(ImageView<const S> in, ImageView<S> out, int channels, DiffusionPlanes<S> from,
                     DiffusionPlanes<S> to, int steps, const DiffusionBlock* __restrict__ params) {
  constexpr int kSide = DiffusionTuning::side, kAcross = DiffusionTuning::across;
  __shared__ float4 first_rows[2][kAcross][kAcross], last_rows[2][kAcross][kAcross];
  DiffusionBlock block = *params;
  if constexpr (sizeof(S) == 2) block.inverse_kappa = block.deep_inverse_kappa;
  const int t = static_cast<int>(threadIdx.x), column = t % kAcross, row = t / kAcross;
  const int channel = static_cast<int>(blockIdx.z), width = in.extent.width, height = in.extent.height;
  const int x = static_cast<int>(blockIdx.x) * DiffusionTuning::inner - DiffusionTuning::halo +
                kSide * column,
            y = static_cast<int>(blockIdx.y) * DiffusionTuning::inner - DiffusionTuning::halo + kSide * row;
  // Pixels outside the picture must change like the pixels that they mirror. With replicate they would not,
  // so use reflect, which is the same at distance 1.
  const Border border = block.border == Border::replicate ? Border::reflect : block.border;
  DiffusionSquare<S> square;
  square.load(in, channels, channel, from, border, x, y);
  uint32_t zeros = 0;
  if (border == Border::constant)
    for (int k = 0; k < kSide * kSide; ++k) {
      const int u = x + k % kSide, v = y + k / kSide;
      if (u < 0 || u >= width || v < 0 || v >= height) zeros |= 1u << k;
    }
  for (int step = 0; step < steps; ++step) {
    auto &first = first_rows[step & 1], &last = last_rows[step & 1];
    first[row][column] = make_float4(square.at[0][0], square.at[0][1], square.at[0][2], square.at[0][3]);
    last[row][column] = make_float4(square.at[3][0], square.at[3][1], square.at[3][2], square.at[3][3]);
    __syncthreads();
    square.step(last[max(row - 1, 0)][column], first[min(row + 1, kAcross - 1)][column], zeros, block);
  }

  if (column == 0 || column == kAcross - 1 || row == 0 || row == kAcross - 1) return;
#pragma unroll
  for (int j = 0; j < kSide; ++j) {
    if (y + j >= height) return;
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      if (x + i >= width) break;
      const int state = static_cast<int>(square.at[j][i]);
      if (to.data) {
        to.row(channel, y + j)[x + i] = static_cast<typename DiffusionPlanes<S>::State>(state);
      } else {
        S* pixel = out.row(y + j) + (x + i) * channels;
        pixel[channel] = static_cast<S>((state + 128) >> 8);
        if (channels == 4 && channel == 0) pixel[3] = in.row(y + j)[4 * (x + i) + 3];
      }
    }
  }
}

}  // namespace

void Diffusion::launch_iterations(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const size_t pitch = state_pitch(static_cast<size_t>(in.width()), in.format.format),
               plane = pitch * static_cast<size_t>(in.height());
  const int steps = min(kDiffusionFused, iterations_ - args.step);
  const bool first = args.step == 0, last = args.step + steps == iterations_;
  const auto target = static_cast<size_t>(args.step / kDiffusionFused & 1);
  const dim3 grid(blocks_for(in.width(), DiffusionTuning::inner),
                  blocks_for(in.height(), DiffusionTuning::inner), in.channels() == 4 ? 3 : 1);
  with_sample_type(in.format.format, [&]<class S>() {
    const DiffusionPlanes<S> from{first ? nullptr : args.scratch[1 - target], pitch, plane};
    const DiffusionPlanes<S> to{last ? nullptr : args.scratch[target], pitch, plane};
    diffusion_kernel<S><<<grid, DiffusionTuning::threads, 0, stream>>>(
        in.as<const S>(), args.out.as<S>(), in.channels(), from, to, steps,
        static_cast<const DiffusionBlock*>(args.block));
    LENSD_LAUNCHED();
  });
}

}  // namespace lensd
