#include "kernels/box/box.hpp"
#include "kernels/common/border_call.cuh"
#include "kernels/common/launch.cuh"

namespace lensd {
namespace {

/// Columns: a thread slides four byte columns down 32 rows. Rows: a block takes 1024 pixels and the rim of
/// the largest radius, five to a thread, which is odd and so free of bank conflicts.
struct BoxTuning {
  static constexpr int column_threads = 128;
  static constexpr int column_rows = 32;
  static constexpr int batch = 8;  ///< of them under way at a time
  static_assert(column_rows % batch == 0);
  static constexpr int row_threads = 256;
  static constexpr int per_thread = 5;
  static constexpr int row_pixels = 1024;
  static constexpr int span = row_threads * per_thread;
  static_assert(span > row_pixels + 2 * kBoxMaxRadius);
};

__device__ uint32_t four_bytes(const uint8_t* p, int count, bool aligned) {
  if (count >= 4) return load_word(p, aligned);
  uint32_t word = 0;
  for (int i = 0; i < count; ++i) word |= static_cast<uint32_t>(p[i]) << (8 * i);
  return word;
}

/// Sums of 2r+1 rows, 16 bits each. The four running sums of a thread sit in two words: bytes 0 and 2, 1
/// and 3.
__global__ void box_columns(ImageView<const uint8_t> in, int row_bytes, ImageView<uint2> sums, bool aligned,
                            const BoxBlock* __restrict__ block) {
  const int word = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), x = word * 4;
  if (x >= row_bytes) return;
  const int height = in.extent.height, r = block->radius;
  const Border border = block->border;
  uint32_t even = 0, odd = 0;
  const auto row = [&](int y) -> uint32_t {
    const int inside = called_border_index(y, height, border);
    return inside < 0 ? 0 : four_bytes(in.row(inside) + x, row_bytes - x, aligned);
  };
  const auto add = [&](uint32_t v) { even += v & 0x00ff00ff, odd += v >> 8 & 0x00ff00ff; };
  const auto sub = [&](uint32_t v) { even -= v & 0x00ff00ff, odd -= v >> 8 & 0x00ff00ff; };
  const int begin = static_cast<int>(blockIdx.y) * BoxTuning::column_rows;
  const int end = min(begin + BoxTuning::column_rows, height);
  const auto put = [&](int y) {
    sums.row(y)[word] = {__byte_perm(even, odd, 0x5410), __byte_perm(even, odd, 0x7632)};
  };
  // Rows are asked for in batches: the compiler moves no load above a store.
  const auto slide = [&](const auto& row_at) {
    constexpr int kBatch = BoxTuning::batch;
#pragma unroll 8
    for (int y = begin - r; y < begin + r; ++y) add(row_at(y));
#pragma unroll 1
    for (int y = begin; y < end; y += kBatch) {
      uint32_t entering[kBatch], leaving[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k) entering[k] = row_at(y + k + r), leaving[k] = row_at(y + k - r);
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (y + k >= end) return;
        add(entering[k]);
        put(y + k);
        sub(leaving[k]);
      }
    }
  };
  if (!aligned || x + 4 > row_bytes) {
    for (int y = begin - r; y < begin + r; ++y) add(row(y));
    for (int y = begin; y < end; ++y) {
      add(row(y + r));
      put(y);
      sub(row(y - r));
    }
    return;
  }
  const auto word_at = [&](int y) { return *reinterpret_cast<const uint32_t*>(in.row(y) + x); };
  if (begin >= r && begin + BoxTuning::column_rows + r <= height) return slide(word_at);
  slide([&](int y) {
    const int inside = called_border_index(y, height, border);
    return inside < 0 ? 0 : word_at(inside);
  });
}

/// Exclusive prefix sums of `values` (BoxTuning::span of them), in place; all threads of the block.
__device__ void prefix_sums(uint32_t* values, uint32_t* warp_totals) {
  const int t = static_cast<int>(threadIdx.x), lane = t & 31, first = t * BoxTuning::per_thread;
  uint32_t own[BoxTuning::per_thread], total = 0;
  for (int k = 0; k < BoxTuning::per_thread; ++k) own[k] = values[first + k], total += own[k];
  uint32_t scan = total;
  for (int d = 1; d < 32; d *= 2) {
    const uint32_t left = __shfl_up_sync(~0u, scan, static_cast<unsigned>(d));
    if (lane >= d) scan += left;
  }
  if (lane == 31) warp_totals[t / 32] = scan;
  __syncthreads();
  uint32_t before = scan - total;
  for (int w = 0; w < t / 32; ++w) before += warp_totals[w];
  for (int k = 0; k < BoxTuning::per_thread; ++k) {
    values[first + k] = before;
    before += own[k];
  }
  __syncthreads();
}

/// Differences of prefix sums of the column sums, divided. `C` is the number of bytes of a pixel.
template <int C>
__global__ void __launch_bounds__(BoxTuning::row_threads)
    box_rows(ImageView<const uint8_t> in, ImageView<const uint16_t> sums, ImageView<uint8_t> out,
             bool aligned, const BoxBlock* __restrict__ params) {
  constexpr int colours = C == 4 ? 3 : 1;
  __shared__ uint32_t prefix[colours][BoxTuning::span];
  __shared__ uint32_t warp_totals[colours][BoxTuning::row_threads / 32];
  const BoxBlock block = *params;
  const int width = in.extent.width, x0 = static_cast<int>(blockIdx.x) * BoxTuning::row_pixels;
  const int y = static_cast<int>(blockIdx.y), pixels = min(BoxTuning::row_pixels, width - x0);
  const uint16_t* row = sums.row(y);
  for (int i = static_cast<int>(threadIdx.x); i < BoxTuning::span; i += BoxTuning::row_threads) {
    const int x =
        i < pixels + 2 * block.radius ? border_index(x0 - block.radius + i, width, block.border) : -1;
    for (int c = 0; c < colours; ++c) prefix[c][i] = x < 0 ? 0 : row[x * C + c];
  }
  __syncthreads();
  for (int c = 0; c < colours; ++c) prefix_sums(prefix[c], warp_totals[c]);

  const int window = 2 * block.radius + 1;
  const auto mean = [&](int c, int i) {
    return static_cast<uint32_t>(box_mean(prefix[c][i + window] - prefix[c][i], block));
  };
  uint8_t* to = out.row(y) + x0 * C;
  if constexpr (C == 4) {
    const uint8_t* from = in.row(y) + x0 * C;
    for (int i = static_cast<int>(threadIdx.x); i < pixels; i += BoxTuning::row_threads)
      store_word(
          to + 4 * i,
          mean(0, i) | mean(1, i) << 8 | mean(2, i) << 16 | static_cast<uint32_t>(from[4 * i + 3]) << 24,
          aligned);
  } else {
    const int i = static_cast<int>(threadIdx.x) * 4;
    if (i >= pixels) return;
    uint32_t word = 0;
    for (int k = 0; k < min(4, pixels - i); ++k) word |= mean(0, i + k) << (8 * k);
    store_bytes(to + i, word, pixels - i, aligned);
  }
}

}  // namespace

void Box::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const auto* block = static_cast<const BoxBlock*>(args.block);
  const auto pitch = static_cast<std::ptrdiff_t>(sums_pitch(in.format));
  const Extent extent = in.format.extent;
  if (args.pass == 0) {
    const int row_bytes = static_cast<int>(in.row_bytes());
    const dim3 grid(blocks_for(row_bytes, 4 * BoxTuning::column_threads),
                    blocks_for(extent.height, BoxTuning::column_rows));
    const ImageView<uint2> sums{reinterpret_cast<uint2*>(args.scratch[0]), pitch, extent};
    box_columns<<<grid, BoxTuning::column_threads, 0, stream>>>(in.as<const uint8_t>(), row_bytes, sums,
                                                                rows_aligned(in, 4), block);
  } else {
    const dim3 grid(blocks_for(extent.width, BoxTuning::row_pixels), static_cast<unsigned>(extent.height));
    const ImageView<const uint16_t> sums{reinterpret_cast<const uint16_t*>(args.scratch[0]), pitch, extent};
    const auto kernel = in.channels() == 4 ? box_rows<4> : box_rows<1>;
    kernel<<<grid, BoxTuning::row_threads, 0, stream>>>(in.as<const uint8_t>(), sums, args.out.as<uint8_t>(),
                                                        rows_aligned(args.out, 4), block);
  }
  LENSD_LAUNCHED();
}

}  // namespace lensd
