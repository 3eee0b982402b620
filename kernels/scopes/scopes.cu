#include "kernels/common/chunk.cuh"
#include "kernels/common/deep/pixels.cuh"
#include "kernels/scopes/scopes.hpp"

namespace lensd {
namespace {

/// Histogram and vectorscope: few large blocks. Each block adds its counters to the global ones at the end.
/// The histogram's tables have interleaved copies, as many as fit, so that lanes with the same value hit
/// different banks.
struct ScopeTuning {
  static constexpr int threads = 512;
  static constexpr int max_blocks = 264;
  static constexpr int table_entries = 8 * 1024;  ///< 32 KiB
};

/// Waveform and parade: a block counts a few columns over part of the rows.
struct ColumnTuning {
  static constexpr int threads = 256;
  static constexpr int columns = 8;  ///< columns per block: 8 or 24 KiB of counters
  static_assert(3 * columns * 256 * sizeof(uint32_t) <= kPlainSharedBytes);
  static constexpr int row_shares = 8;  ///< parts of the rows: 256 blocks for images at least 256 pixels wide
};

/// Centre of the vectorscope. Nearly all pixels of video lie there, so it is counted in shared memory (36 of
/// 48 KiB). Other pixels go directly to the global counters; a warp combines equal values into one addition.
struct ChromaWindow {
  static constexpr int first = 80, side = 96;
};

/// Calls f(r, g, b) for each pixel of a chunk of RGBA16; `left` bytes of the row remain.
template <class F>
__device__ void each_deep_pixel(const Chunk& chunk, int left, const F& f) {
#pragma unroll
  for (int i = 0; i < 4; i += 2)
    if (4 * i < left) f(chunk.word[i] & 65535, chunk.word[i] >> 16, chunk.word[i + 1] & 65535);
}

/// Counts the histogram of samples of type S.
template <class S>
__global__ void __launch_bounds__(ScopeTuning::threads)
    histogram_scope(ImageView<const uint8_t> in, int row_bytes, bool gray, bool aligned,
                    const ScopeBlock* block, uint32_t* total) {
  constexpr int bins = sizeof(S) == 2 ? 1024 : 256, copies = ScopeTuning::table_entries / (4 * bins);
  __shared__ uint32_t tables[4 * bins * copies];  // [channel][value][copy]
  const int thread = static_cast<int>(threadIdx.x), copy = thread % copies;
  for (int i = thread; i < 4 * bins * copies; i += ScopeTuning::threads) tables[i] = 0;
  const LumaBlock weights = block->luma;
  __syncthreads();

  const auto count = [&](int table, int value) {
    atomicAdd(&tables[(table * bins + value) * copies + copy], 1u);
  };
  for (ChunkWalk walk(row_bytes); walk.y < in.extent.height; walk.next()) {
    const int left = row_bytes - walk.x * ChunkShape::bytes;
    const Chunk chunk = load_chunk(in.row(walk.y) + walk.x * ChunkShape::bytes, left, aligned);
    if constexpr (sizeof(S) == 2) {
      if (gray) {
#pragma unroll
        for (int i = 0; i < 8; ++i)
          if (2 * i < left) count(3, deep_bin(chunk.word[i / 2] >> (i % 2 * 16) & 65535));
      } else {
        each_deep_pixel(chunk, left, [&](uint32_t r, uint32_t g, uint32_t b) {
          count(0, deep_bin(r)), count(1, deep_bin(g)), count(2, deep_bin(b));
          count(3, deep_bin(luma16(weights, r, g, b)));
        });
      }
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const uint32_t w = chunk.word[i];
        const int byte[] = {static_cast<int>(w & 255), static_cast<int>(w >> 8 & 255),
                            static_cast<int>(w >> 16 & 255), static_cast<int>(w >> 24)};
        if (gray) {
          for (int k = 0; k < 4; ++k)
            if (4 * i + k < left) count(3, byte[k]);
        } else if (4 * i < left) {
          count(0, byte[0]), count(1, byte[1]), count(2, byte[2]);
          count(3, luma(weights, byte[0], byte[1], byte[2]));
        }
      }
    }
  }
  __syncthreads();

  for (int i = thread; i < 4 * bins; i += ScopeTuning::threads) {
    uint32_t sum = 0;
    for (int k = 0; k < copies; ++k) sum += tables[i * copies + (k + i) % copies];
    if (sum != 0) atomicAdd(&total[i], sum);
  }
}

/// Counts a waveform (`planes` = 1: luma) or a parade (`planes` = 3: R, G, B). A lane processes one pixel
/// column after another, so it looks up a column's counters only once. S is the type of the samples.
template <class S>
__global__ void __launch_bounds__(ColumnTuning::threads)
    columns_scope(ImageView<const S> in, bool gray, int planes, bool aligned, const ScopeBlock* block,
                  uint32_t* total) {
  extern __shared__ uint32_t counts[];  // [plane][column of the block][value]
  constexpr int plane = ColumnTuning::columns * 256;
  const int thread = static_cast<int>(threadIdx.x), width = in.extent.width, columns = scope_columns(width);
  const int first = static_cast<int>(blockIdx.x) * ColumnTuning::columns;
  const int last = min(first + ColumnTuning::columns, columns);
  for (int i = thread; i < planes * plane; i += ColumnTuning::threads) counts[i] = 0;
  const LumaBlock weights = block->luma;
  __syncthreads();

  const int warps = ColumnTuning::threads / 32, warp = thread / 32;
  const int begin = scope_column_begin(first, width), end = scope_column_begin(last, width);
  for (int x = begin + thread % 32; x < end; x += 32) {
    uint32_t* own = counts + (x * columns / width - first) * 256;
    for (int y = static_cast<int>(blockIdx.y) * warps + warp; y < in.extent.height;
         y += static_cast<int>(gridDim.y) * warps) {
      const S* row = in.row(y);
      if constexpr (sizeof(S) == 2) {
        const DeepPixel p = gray ? DeepPixel{{row[x], row[x], row[x], 0}} : load_deep(row + 4 * x, aligned);
        if (planes == 1) {
          atomicAdd(&own[to_byte(gray ? p.v[0] : luma16(weights, p.v[0], p.v[1], p.v[2]))], 1u);
        } else {
          for (int c = 0; c < 3; ++c) atomicAdd(&own[c * plane + to_byte(p.v[c])], 1u);
        }
      } else {
        const uint32_t w = gray ? row[x] * 0x010101u : load_word(row + 4 * x, aligned);
        const uint32_t r = w & 255, g = w >> 8 & 255, b = w >> 16 & 255;
        if (planes == 1) {
          atomicAdd(
              &own[gray ? r : luma(weights, static_cast<int>(r), static_cast<int>(g), static_cast<int>(b))],
              1u);
        } else {
          atomicAdd(&own[r], 1u), atomicAdd(&own[plane + g], 1u), atomicAdd(&own[2 * plane + b], 1u);
        }
      }
    }
  }
  __syncthreads();

  for (int p = 0; p < planes; ++p)
    for (int i = thread; i < (last - first) * 256; i += ColumnTuning::threads)
      if (const uint32_t count = counts[p * plane + i]; count != 0)
        atomicAdd(&total[(p * columns + first) * 256 + i], count);
}

/// Counts the vectorscope of samples of type S.
template <class S>
__global__ void __launch_bounds__(ScopeTuning::threads)
    chroma_scope(ImageView<const uint8_t> in, int row_bytes, bool aligned, const ScopeBlock* weights,
                 uint32_t* total) {
  constexpr int first = ChromaWindow::first, side = ChromaWindow::side;
  __shared__ uint32_t window[side * side];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < side * side; i += ScopeTuning::threads) window[i] = 0;
  const ScopeBlock block = *weights;
  __syncthreads();

  const auto count = [&](int index) {
    const int cb = index % 256 - first, cr = index / 256 - first;
    if (cb >= 0 && cb < side && cr >= 0 && cr < side) {
      atomicAdd(&window[cr * side + cb], 1u);
    } else {
      const unsigned equal = __match_any_sync(__activemask(), index);
      if (thread % 32 == __ffs(static_cast<int>(equal)) - 1)
        atomicAdd(&total[index], static_cast<uint32_t>(__popc(equal)));
    }
  };
  for (ChunkWalk walk(row_bytes); walk.y < in.extent.height; walk.next()) {
    const int left = row_bytes - walk.x * ChunkShape::bytes;
    const Chunk chunk = load_chunk(in.row(walk.y) + walk.x * ChunkShape::bytes, left, aligned);
    if constexpr (sizeof(S) == 2) {
      each_deep_pixel(chunk, left,
                      [&](uint32_t r, uint32_t g, uint32_t b) { count(deep_chroma_index(block, r, g, b)); });
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (4 * i >= left) continue;
        const uint32_t w = chunk.word[i];
        count(chroma_index(block, static_cast<int>(w & 255), static_cast<int>(w >> 8 & 255),
                           static_cast<int>(w >> 16 & 255)));
      }
    }
  }
  __syncthreads();

  for (int i = thread; i < side * side; i += ScopeTuning::threads)
    if (window[i] != 0) atomicAdd(&total[(i / side + first) * 256 + i % side + first], window[i]);
}

/// Counts a grey image, which has no chroma: all pixels are in the centre.
__global__ void grey_scope(uint32_t pixels, uint32_t* total) {
  total[kGreyIndex] = pixels;
}

unsigned scope_blocks(const ImageFormat& format) {
  const int64_t chunks =
      static_cast<int64_t>(blocks_for(static_cast<int>(format.row_bytes()), ChunkShape::bytes)) *
      format.extent.height;
  const int64_t blocks = (chunks + ScopeTuning::threads - 1) / ScopeTuning::threads;
  return static_cast<unsigned>(blocks < ScopeTuning::max_blocks ? blocks : ScopeTuning::max_blocks);
}

void launch_columns(const PassArgs& args, int planes, CudaStream stream) {
  const ConstImageRef in = args.in[0];
  const dim3 grid(blocks_for(scope_columns(in.width()), ColumnTuning::columns), ColumnTuning::row_shares);
  const size_t shared = static_cast<size_t>(planes) * ColumnTuning::columns * 256 * sizeof(uint32_t);
  with_sample_type(in.format.format, [&]<class S>() {
    columns_scope<S><<<grid, ColumnTuning::threads, shared, stream>>>(
        in.as<const S>(), in.channels() == 1, planes, rows_aligned(in, 4 * sizeof(S)),
        static_cast<const ScopeBlock*>(args.block), static_cast<uint32_t*>(args.stats));
  });
  LENSD_LAUNCHED();
}

}  // namespace

void Scope::launch_histogram(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  with_sample_type(in.format.format, [&]<class S>() {
    histogram_scope<S><<<scope_blocks(in.format), ScopeTuning::threads, 0, stream>>>(
        in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), in.channels() == 1, aligned16(in),
        static_cast<const ScopeBlock*>(args.block), static_cast<uint32_t*>(args.stats));
  });
  LENSD_LAUNCHED();
}

void Scope::launch_waveform(const PassArgs& args, CudaStream stream) const {
  launch_columns(args, 1, stream);
}

void Scope::launch_parade(const PassArgs& args, CudaStream stream) const {
  launch_columns(args, 3, stream);
}

void Scope::launch_chroma(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  auto* counts = static_cast<uint32_t*>(args.stats);
  if (in.channels() == 1)
    grey_scope<<<1, 1, 0, stream>>>(static_cast<uint32_t>(in.width()) * static_cast<uint32_t>(in.height()),
                                    counts);
  else
    with_sample_type(in.format.format, [&]<class S>() {
      chroma_scope<S><<<scope_blocks(in.format), ScopeTuning::threads, 0, stream>>>(
          in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), aligned16(in),
          static_cast<const ScopeBlock*>(args.block), counts);
    });
  LENSD_LAUNCHED();
}

}  // namespace lensd
