// PointFilter and WindowFilter on CUDA.
#pragma once

#include "kernels/common/chunk.cuh"
#include "kernels/common/point_filter.hpp"
#include "kernels/common/window_filter.hpp"

namespace lensd {

template <class F>
struct PointChunk {
  const typename F::Block* block;
  uint32_t colour;

  __device__ void operator()(Chunk& chunk, ChunkPlace) const {
#pragma unroll
    for (uint32_t& w : chunk.word) w = with_alpha(four_values<F>(*block, w), w, colour);
  }
};

/// Applies value() to chunks of 16-bit samples, two per word.
template <class F>
struct DeepPointChunk {
  const typename F::Block* block;
  bool rgba;

  __device__ void operator()(Chunk& chunk, ChunkPlace) const {
    const auto value = [this](uint32_t v) {
      return static_cast<uint32_t>(clamp_to(65535, F::value(*block, static_cast<int>(v), 65535)));
    };
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t word = chunk.word[i], high = word >> 16;
      chunk.word[i] = value(word & 0xffff) | (rgba && i % 2 == 1 ? high : value(high)) << 16;
    }
  }
};

/// Window that lies inside the image; `centre` is the sample in its middle.
template <class S>
struct InnerWindow {
  const S* centre;
  std::ptrdiff_t pitch_bytes;
  int step;
  LENSD_HD int operator()(int dx, int dy) const {
    return reinterpret_cast<const S*>(reinterpret_cast<const uint8_t*>(centre) + dy * pitch_bytes)[dx * step];
  }
};

/// A thread computes the four samples of a word. Uses no shared memory, because repeated reads of
/// neighbouring samples hit the L1 cache.
struct WindowTuning {
  static constexpr int threads_x = 32, threads_y = 8;
};

template <class F>
__global__ void window_kernel(ImageView<const uint8_t> in, ImageView<uint8_t> out, int step, bool aligned,
                              const typename F::Block* params) {
  const int x = 4 * static_cast<int>(blockIdx.x * WindowTuning::threads_x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * WindowTuning::threads_y + threadIdx.y);
  const int row_bytes = in.extent.width * step, reach = F::radius * step;
  if (x >= row_bytes || y >= in.extent.height) return;
  const typename F::Block block = *params;
  const bool inside =
      x >= reach && x + 4 + reach <= row_bytes && y >= F::radius && y + F::radius < in.extent.height;
  uint32_t word = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (x + i >= row_bytes) break;
    const uint8_t* centre = in.row(y) + x + i;
    uint8_t v = *centre;
    if (step == 1 || i < 3)
      v = clamp_to_byte(
          inside ? F::value(block, InnerWindow<uint8_t>{centre, in.pitch_bytes, step}, 255)
                 : F::value(block, BorderedWindow<uint8_t>{in, step, x + i, y, block.border}, 255));
    word |= static_cast<uint32_t>(v) << (8 * i);
  }
  store_bytes(out.row(y) + x, word, row_bytes - x, aligned);
}

/// A thread computes one 16-bit sample.
template <class F>
__global__ void deep_window_kernel(ImageView<const uint16_t> in, ImageView<uint16_t> out, int step,
                                   const typename F::Block* params) {
  const int x = static_cast<int>(blockIdx.x * WindowTuning::threads_x + threadIdx.x);
  const int y = static_cast<int>(blockIdx.y * WindowTuning::threads_y + threadIdx.y);
  const int samples = in.extent.width * step, reach = F::radius * step;
  if (x >= samples || y >= in.extent.height) return;
  const typename F::Block block = *params;
  const uint16_t* centre = in.row(y) + x;
  int v = *centre;
  if (step == 1 || x % 4 < 3) {
    const bool inside =
        x >= reach && x + reach < samples && y >= F::radius && y + F::radius < in.extent.height;
    v = clamp_to(65535, inside
                            ? F::value(block, InnerWindow<uint16_t>{centre, in.pitch_bytes, step}, 65535)
                            : F::value(block, BorderedWindow<uint16_t>{in, step, x, y, block.border}, 65535));
  }
  out.row(y)[x] = static_cast<uint16_t>(v);
}

template <class F>
void launch_filter(const PassArgs& args, CudaStream stream) {
  const ConstImageRef in = args.in[0];
  const auto* block = static_cast<const typename F::Block*>(args.block);
  if constexpr (requires { F::radius; }) {
    const dim3 threads(WindowTuning::threads_x, WindowTuning::threads_y);
    if (in.is_deep()) {
      const dim3 grid(blocks_for(static_cast<int>(in.format.row_samples()), WindowTuning::threads_x),
                      blocks_for(in.height(), WindowTuning::threads_y));
      deep_window_kernel<F><<<grid, threads, 0, stream>>>(in.as<const uint16_t>(), args.out.as<uint16_t>(),
                                                          in.channels(), block);
      LENSD_LAUNCHED();
      return;
    }
    const dim3 grid(blocks_for(static_cast<int>(in.row_bytes()), 4 * WindowTuning::threads_x),
                    blocks_for(in.height(), WindowTuning::threads_y));
    window_kernel<F><<<grid, threads, 0, stream>>>(in.as<const uint8_t>(), args.out.as<uint8_t>(),
                                                   in.channels(), rows_aligned(args.out, 4), block);
    LENSD_LAUNCHED();
  } else if (in.is_deep()) {
    launch_chunks(in, args.out, stream, DeepPointChunk<F>{block, in.channels() == 4});
  } else {
    launch_chunks(in, args.out, stream, PointChunk<F>{block, colour_bits(in.format.format)});
  }
}

}  // namespace lensd
