#include <algorithm>

#include "kernels/common/chunk.cuh"
#include "kernels/common/deep/pixels.cuh"
#include "kernels/scopes/scopes.hpp"

namespace lensd {
namespace {

/// The histogram and the vectorscope use few large blocks, because each block adds its counters to the global
/// ones at the end. The histogram's tables have interleaved copies, as many as fit, so that a warp's
/// increments of one value are spread over several banks.
struct ScopeTuning {
  static constexpr int threads = 512;
  static constexpr int max_blocks = 264;
  static constexpr int table_entries = 8 * 1024;  ///< 32 KiB
};
constexpr int kAnyChunks = 1 << 20;  ///< limit of chunks per thread that no image reaches

/// In the waveform and the parade, a block counts a few columns over part of the rows. S is the type of the
/// samples. Few columns and many threads hide the latency of additions to the same counter.
template <class S>
struct ColumnTuning {
  static constexpr int threads = 512;
  static constexpr int columns = 4;  ///< per block; counters take 4 KiB (parade 12), for 16 bits 16 KiB (48)
  static constexpr int row_shares = 8;  ///< parts of the rows; 512 blocks for widths of 256 or more
  static constexpr int plane = columns * kScopeLevels<S>;  ///< counters of a block for one channel
  static_assert(3 * plane * sizeof(uint32_t) <= kPlainSharedBytes);
};

/// Centre of the vectorscope, counted in shared memory. Nearly all pixels of 8-bit video lie in it. Other
/// pixels go directly to the global counters; a warp combines equal values into one addition. For 16-bit
/// images, two counters share a word, so that the window covers more: 156×156 instead of 110×110 of 1024×1024
/// levels.
template <class S>
struct ChromaWindow {
  static constexpr int levels = kScopeLevels<S>, side = sizeof(S) == 1 ? 96 : 156,
                       first = (levels - side) / 2;
  /// Counters per word of shared memory, and bits of a counter.
  static constexpr int per_word = sizeof(S) == 1 ? 1 : 2, bits = 32 / per_word;
  static constexpr uint32_t mask = ~0u >> (32 - bits);
  static constexpr int words = side * side / per_word;  ///< 36 KiB; 16 bits: 47.5 KiB
  static_assert(words * sizeof(uint32_t) <= kPlainSharedBytes);
  /// Maximum chunks per thread, so that a block has fewer than 2^16 pixels and no counter overflows.
  static constexpr int max_chunks = sizeof(S) == 1 ? kAnyChunks : 63;
  static_assert(sizeof(S) == 1 || ScopeTuning::threads * max_chunks * 2 < 1 << 16);
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
  constexpr int bins = kScopeLevels<S>, copies = ScopeTuning::table_entries / (4 * bins);
  __shared__ uint32_t tables[4 * bins * copies];  // [channel][value][copy]
  const int thread = static_cast<int>(threadIdx.x), copy = thread % copies;
  for (int i = thread; i < 4 * bins * copies; i += ScopeTuning::threads) tables[i] = 0;
  const LumaBlock weights = block->luma;
  __syncthreads();

  const auto count = [&](int table, int value) {
    atomicAdd(&tables[(table * bins + value) * copies + copy], 1u);
  };
  each_chunk(in, row_bytes, aligned, [&](const Chunk& chunk, int left) {
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
  });
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
__global__ void __launch_bounds__(ColumnTuning<S>::threads)
    columns_scope(ImageView<const S> in, bool gray, int planes, bool aligned, const ScopeBlock* block,
                  uint32_t* total) {
  using Tuning = ColumnTuning<S>;
  extern __shared__ uint32_t counts[];  // [plane][column of the block][level]
  constexpr int levels = kScopeLevels<S>, plane = Tuning::plane;
  const int thread = static_cast<int>(threadIdx.x), width = in.extent.width, columns = scope_columns(width);
  const int first = static_cast<int>(blockIdx.x) * Tuning::columns;
  const int last = min(first + Tuning::columns, columns);
  for (int i = thread; i < planes * plane; i += Tuning::threads) counts[i] = 0;
  const LumaBlock weights = block->luma;
  __syncthreads();

  const int warps = Tuning::threads / 32, warp = thread / 32;
  const int begin = scope_column_begin(first, width), end = scope_column_begin(last, width);
  for (int x = begin + thread % 32; x < end; x += 32) {
    uint32_t* own = counts + (x * columns / width - first) * levels;
    for (int y = static_cast<int>(blockIdx.y) * warps + warp; y < in.extent.height;
         y += static_cast<int>(gridDim.y) * warps) {
      const S* row = in.row(y);
      if constexpr (sizeof(S) == 2) {
        const DeepPixel p = gray ? DeepPixel{{row[x], row[x], row[x], 0}} : load_deep(row + 4 * x, aligned);
        if (planes == 1) {
          atomicAdd(&own[deep_bin(gray ? p.v[0] : luma16(weights, p.v[0], p.v[1], p.v[2]))], 1u);
        } else {
          for (int c = 0; c < 3; ++c) atomicAdd(&own[c * plane + deep_bin(p.v[c])], 1u);
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
    for (int i = thread; i < (last - first) * levels; i += Tuning::threads)
      if (const uint32_t count = counts[p * plane + i]; count != 0)
        atomicAdd(&total[(p * columns + first) * levels + i], count);
}

/// Counts the vectorscope of samples of type S. A thread processes at most ChromaWindow<S>::max_chunks
/// chunks.
template <class S>
__global__ void __launch_bounds__(ScopeTuning::threads)
    chroma_scope(ImageView<const uint8_t> in, int row_bytes, bool aligned, const ScopeBlock* weights,
                 uint32_t* total) {
  using Window = ChromaWindow<S>;
  constexpr int levels = Window::levels, first = Window::first, side = Window::side;
  __shared__ uint32_t window[Window::words];
  const int thread = static_cast<int>(threadIdx.x);
  for (int i = thread; i < Window::words; i += ScopeTuning::threads) window[i] = 0;
  const ScopeBlock block = *weights;
  __syncthreads();

  const auto shift = [](int i) { return i % Window::per_word * Window::bits; };
  const auto count = [&](int level_cb, int level_cr) {
    const int cb = level_cb - first, cr = level_cr - first;
    if (cb >= 0 && cb < side && cr >= 0 && cr < side) {
      const int i = cr * side + cb;
      atomicAdd(&window[i / Window::per_word], 1u << shift(i));
    } else {
      const int index = level_cr * levels + level_cb;
      const unsigned equal = __match_any_sync(__activemask(), index);
      if (thread % 32 == __ffs(static_cast<int>(equal)) - 1)
        atomicAdd(&total[index], static_cast<uint32_t>(__popc(equal)));
    }
  };
  each_chunk(in, row_bytes, aligned, [&](const Chunk& chunk, int left) {
    if constexpr (sizeof(S) == 2) {
      each_deep_pixel(chunk, left, [&](uint32_t red, uint32_t green, uint32_t blue) {
        const int r = static_cast<int>(red), g = static_cast<int>(green), b = static_cast<int>(blue);
        count(deep_colour_difference(block.cb, r, g, b), deep_colour_difference(block.cr, r, g, b));
      });
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (4 * i >= left) continue;
        const uint32_t w = chunk.word[i];
        const int r = static_cast<int>(w & 255), g = static_cast<int>(w >> 8 & 255),
                  b = static_cast<int>(w >> 16 & 255);
        count(colour_difference(block.cb, r, g, b), colour_difference(block.cr, r, g, b));
      }
    }
  });
  __syncthreads();

  for (int i = thread; i < side * side; i += ScopeTuning::threads)
    if (const uint32_t n = window[i / Window::per_word] >> shift(i) & Window::mask; n != 0)
      atomicAdd(&total[(i / side + first) * levels + i % side + first], n);
}

/// Counts a grey image, which has no chroma: all pixels are in the centre.
__global__ void grey_scope(uint32_t pixels, uint32_t* centre) {
  *centre = pixels;
}

/// Returns the number of blocks for an image, such that a thread processes at most `max_chunks` chunks.
unsigned scope_blocks(const ImageFormat& format, int max_chunks) {
  const int64_t chunks =
      static_cast<int64_t>(blocks_for(static_cast<int>(format.row_bytes()), ChunkShape::bytes)) *
      format.extent.height;
  const auto blocks = [&](int64_t each) {
    return (chunks + each * ScopeTuning::threads - 1) / (each * ScopeTuning::threads);
  };
  return static_cast<unsigned>(
      std::max(std::min<int64_t>(blocks(1), ScopeTuning::max_blocks), blocks(max_chunks)));
}

void launch_columns(const PassArgs& args, int planes, CudaStream stream) {
  const ConstImageRef in = args.in[0];
  with_sample_type(in.format.format, [&]<class S>() {
    using Tuning = ColumnTuning<S>;
    const dim3 grid(blocks_for(scope_columns(in.width()), Tuning::columns), Tuning::row_shares);
    const size_t shared = static_cast<size_t>(planes * Tuning::plane) * sizeof(uint32_t);
    columns_scope<S><<<grid, Tuning::threads, shared, stream>>>(
        in.as<const S>(), in.channels() == 1, planes, rows_aligned(in, 4 * sizeof(S)),
        static_cast<const ScopeBlock*>(args.block), static_cast<uint32_t*>(args.stats));
  });
  LENSD_LAUNCHED();
}

}  // namespace

void Scope::launch_histogram(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  with_sample_type(in.format.format, [&]<class S>() {
    histogram_scope<S><<<scope_blocks(in.format, kAnyChunks), ScopeTuning::threads, 0, stream>>>(
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
                                    counts + grey_index(scope_levels(in.format.format)));
  else
    with_sample_type(in.format.format, [&]<class S>() {
      chroma_scope<S>
          <<<scope_blocks(in.format, ChromaWindow<S>::max_chunks), ScopeTuning::threads, 0, stream>>>(
              in.as<const uint8_t>(), static_cast<int>(in.row_bytes()), aligned16(in),
              static_cast<const ScopeBlock*>(args.block), counts);
    });
  LENSD_LAUNCHED();
}

}  // namespace lensd
