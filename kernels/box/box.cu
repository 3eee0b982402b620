#include "kernels/box/box.hpp"
#include "kernels/common/border/border_call.cuh"
#include "kernels/common/launch.cuh"

namespace lensd {
namespace {

/// box_columns(): a thread computes running sums of four byte columns over 32 rows. box_rows(): a block
/// computes 1024 pixels from column sums with up to kBoxMaxRadius columns of border on each side. A thread
/// scans five values; an odd number avoids bank conflicts.
struct BoxTuning {
  static constexpr int column_threads = 128;
  static constexpr int column_rows = 32;
  static constexpr int batch = 8;  ///< number of rows loaded at a time
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

/// Writes 16-bit sums of 2r+1 rows. A thread has four running sums in two words: `even` (bytes 0 and 2) and
/// `odd` (bytes 1 and 3).
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
  // Rows are loaded in batches, since the compiler does not move a load above a store.
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

/// Computes exclusive prefix sums of BoxTuning::span values in place. Call with all threads of the block.
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

/// Computes means as differences of prefix sums over the column sums. `C`: bytes per pixel.
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

void Box::launch_columns(const PassArgs& args, CudaStream stream) const {
  if (args.in[0].is_deep()) return launch_deep_columns(args, stream);
  const ConstImageRef in = args.in[0];
  const Extent extent = in.format.extent;
  const int row_bytes = static_cast<int>(in.row_bytes());
  const dim3 grid(blocks_for(row_bytes, 4 * BoxTuning::column_threads),
                  blocks_for(extent.height, BoxTuning::column_rows));
  const ImageView<uint2> sums{reinterpret_cast<uint2*>(args.scratch[0]), sums_pitch(in.format), extent};
  box_columns<<<grid, BoxTuning::column_threads, 0, stream>>>(
      in.as<const uint8_t>(), row_bytes, sums, rows_aligned(in, 4), static_cast<const BoxBlock*>(args.block));
  LENSD_LAUNCHED();
}

void Box::launch_rows(const PassArgs& args, CudaStream stream) const {
  if (args.in[0].is_deep()) return launch_deep_rows(args, stream);
  const ConstImageRef in = args.in[0];
  const Extent extent = in.format.extent;
  const dim3 grid(blocks_for(extent.width, BoxTuning::row_pixels), static_cast<unsigned>(extent.height));
  const ImageView<const uint16_t> sums{reinterpret_cast<const uint16_t*>(args.scratch[0]),
                                       sums_pitch(in.format), extent};
  const auto kernel = in.channels() == 4 ? box_rows<4> : box_rows<1>;
  kernel<<<grid, BoxTuning::row_threads, 0, stream>>>(in.as<const uint8_t>(), sums, args.out.as<uint8_t>(),
                                                      rows_aligned(args.out, 4),
                                                      static_cast<const BoxBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
