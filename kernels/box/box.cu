#include "kernels/box/box.hpp"
#include "kernels/common/border/border_call.cuh"
#include "kernels/common/deep/pixels.cuh"
#include "kernels/common/warp.cuh"

namespace lensd {
namespace {

/// box_columns(): a thread computes running sums of four columns of samples over 32 rows. box_rows(): a block
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

/// Running sums of four columns of samples of type S.
template <class S>
struct BoxColumns;

template <>
struct BoxColumns<uint8_t> {
  using Sum = uint16_t;
  using Samples = uint32_t;  ///< four samples of a row
  using Sums = uint2;
  uint32_t even = 0, odd = 0;  ///< sums of samples 0 and 2, and of samples 1 and 3

  __device__ void add(Samples v) { even += v & 0x00ff00ff, odd += v >> 8 & 0x00ff00ff; }
  __device__ void sub(Samples v) { even -= v & 0x00ff00ff, odd -= v >> 8 & 0x00ff00ff; }
  __device__ Sums sums() const { return {__byte_perm(even, odd, 0x5410), __byte_perm(even, odd, 0x7632)}; }
};

template <>
struct BoxColumns<uint16_t> {
  using Sum = uint32_t;
  using Samples = uint2;
  using Sums = uint4;
  Sums sum = {};

  __device__ void add(Samples v) {
    sum.x += v.x & 65535, sum.y += v.x >> 16, sum.z += v.y & 65535, sum.w += v.y >> 16;
  }
  __device__ void sub(Samples v) {
    sum.x -= v.x & 65535, sum.y -= v.x >> 16, sum.z -= v.y & 65535, sum.w -= v.y >> 16;
  }
  __device__ Sums sums() const { return sum; }
};

/// Returns the first `count` of the four samples at `p`; the others are 0. `aligned`: `p` is aligned to four
/// samples.
__device__ uint32_t four_samples(const uint8_t* p, int count, bool aligned) {
  if (count >= 4) return load_word(p, aligned);
  uint32_t word = 0;
  for (int i = 0; i < count; ++i) word |= static_cast<uint32_t>(p[i]) << (8 * i);
  return word;
}
__device__ uint2 four_samples(const uint16_t* p, int count, bool aligned) {
  if (aligned && count >= 4) return *reinterpret_cast<const uint2*>(p);
  uint32_t words[2] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (i < count) words[i / 2] |= static_cast<uint32_t>(p[i]) << (i % 2 * 16);
  return {words[0], words[1]};
}

/// Writes sums of 2r+1 rows. `aligned`: rows start at multiples of four samples.
template <class S>
__global__ void __launch_bounds__(BoxTuning::column_threads)
    box_columns(ImageView<const S> in, int row_samples, ImageView<typename BoxColumns<S>::Sums> sums,
                bool aligned, const BoxBlock* __restrict__ block) {
  using Samples = typename BoxColumns<S>::Samples;
  const int word = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), x = word * 4;
  if (x >= row_samples) return;
  const int height = in.extent.height, r = block->radius;
  const Border border = block->border;
  BoxColumns<S> columns;
  const auto row = [&](int y) -> Samples {
    const int inside = called_border_index(y, height, border);
    return inside < 0 ? Samples{} : four_samples(in.row(inside) + x, row_samples - x, aligned);
  };
  const int begin = static_cast<int>(blockIdx.y) * BoxTuning::column_rows;
  const int end = min(begin + BoxTuning::column_rows, height);
  const auto put = [&](int y) { sums.row(y)[word] = columns.sums(); };
  // Rows are loaded in batches, since the compiler does not move a load above a store.
  const auto slide = [&](const auto& row_at) {
    constexpr int kBatch = BoxTuning::batch;
#pragma unroll 8
    for (int y = begin - r; y < begin + r; ++y) columns.add(row_at(y));
#pragma unroll 1
    for (int y = begin; y < end; y += kBatch) {
      Samples entering[kBatch], leaving[kBatch];
#pragma unroll
      for (int k = 0; k < kBatch; ++k) entering[k] = row_at(y + k + r), leaving[k] = row_at(y + k - r);
#pragma unroll
      for (int k = 0; k < kBatch; ++k) {
        if (y + k >= end) return;
        columns.add(entering[k]);
        put(y + k);
        columns.sub(leaving[k]);
      }
    }
  };
  if (!aligned || x + 4 > row_samples) {
    for (int y = begin - r; y < begin + r; ++y) columns.add(row(y));
    for (int y = begin; y < end; ++y) {
      columns.add(row(y + r));
      put(y);
      columns.sub(row(y - r));
    }
    return;
  }
  const auto samples_at = [&](int y) { return *reinterpret_cast<const Samples*>(in.row(y) + x); };
  if (begin >= r && begin + BoxTuning::column_rows + r <= height) return slide(samples_at);
  slide([&](int y) {
    const int inside = called_border_index(y, height, border);
    return inside < 0 ? Samples{} : samples_at(inside);
  });
}

/// Computes exclusive prefix sums of BoxTuning::span values in place. Call from all threads of the block.
__device__ void prefix_sums(uint32_t* values) {
  const int first = static_cast<int>(threadIdx.x) * BoxTuning::per_thread;
  uint32_t own[BoxTuning::per_thread], total = 0;
  for (int k = 0; k < BoxTuning::per_thread; ++k) own[k] = values[first + k], total += own[k];
  uint32_t before = block_inclusive_sum<BoxTuning::row_threads>(total) - total;
  for (int k = 0; k < BoxTuning::per_thread; ++k) {
    values[first + k] = before;
    before += own[k];
  }
  __syncthreads();
}

/// Loads the sums of the colours of pixel `x`.
template <int C, int kColours, class Sum>
__device__ void load_sums(const Sum* row, int x, uint32_t (&sums)[kColours]) {
  if constexpr (C == 4 && sizeof(Sum) == 4) {
    const uint4 v = reinterpret_cast<const uint4*>(row)[x];
    sums[0] = v.x, sums[1] = v.y, sums[2] = v.z;
  } else {
    for (int c = 0; c < kColours; ++c) sums[c] = row[x * C + c];
  }
}

__device__ uint32_t mean_of(uint8_t, uint32_t sum, const BoxBlock& block) {
  return box_mean(sum, block);
}
__device__ uint32_t mean_of(uint16_t, uint32_t sum, const BoxBlock& block) {
  return deep_box_quotient(sum, block);
}

/// Stores `pixels` pixels at `to`: colour c of pixel i is mean(c, i), alpha comes from `from`. `aligned`:
/// output rows start at multiples of four samples.
template <int C, class Mean>
__device__ void store_means(const uint8_t* from, uint8_t* to, int pixels, bool aligned, const Mean& mean) {
  if constexpr (C == 4) {
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
template <int C, class Mean>
__device__ void store_means(const uint16_t* from, uint16_t* to, int pixels, bool aligned, const Mean& mean) {
  const auto sample = [&](int c, int i) { return static_cast<uint16_t>(mean(c, i)); };
  if constexpr (C == 4) {
    for (int i = static_cast<int>(threadIdx.x); i < pixels; i += BoxTuning::row_threads)
      store_deep(to + 4 * i, {{sample(0, i), sample(1, i), sample(2, i), from[4 * i + 3]}}, aligned);
  } else {
    const int i = static_cast<int>(threadIdx.x) * 4;
    if (i + 4 <= pixels)
      store_deep(to + i, {{sample(0, i), sample(0, i + 1), sample(0, i + 2), sample(0, i + 3)}}, aligned);
    else
      for (int k = i; k < pixels; ++k) to[k] = sample(0, k);
  }
}

/// Computes means as differences of prefix sums over the column sums. `C`: samples per pixel. Prefix sums may
/// wrap around; their differences are still correct.
template <class S, int C>
__global__ void __launch_bounds__(BoxTuning::row_threads)
    box_rows(ImageView<const S> in, ImageView<const typename BoxColumns<S>::Sum> sums, ImageView<S> out,
             bool aligned, const BoxBlock* __restrict__ params) {
  constexpr int colours = C == 4 ? 3 : 1;
  __shared__ uint32_t prefix[colours][BoxTuning::span];
  const BoxBlock block = *params;
  const int width = in.extent.width, x0 = static_cast<int>(blockIdx.x) * BoxTuning::row_pixels;
  const int y = static_cast<int>(blockIdx.y), pixels = min(BoxTuning::row_pixels, width - x0);
  const auto* row = sums.row(y);
  for (int i = static_cast<int>(threadIdx.x); i < BoxTuning::span; i += BoxTuning::row_threads) {
    const int x =
        i < pixels + 2 * block.radius ? border_index(x0 - block.radius + i, width, block.border) : -1;
    uint32_t column[colours] = {};
    if (x >= 0) load_sums<C>(row, x, column);
    for (int c = 0; c < colours; ++c) prefix[c][i] = column[c];
  }
  __syncthreads();
  for (int c = 0; c < colours; ++c) prefix_sums(prefix[c]);

  const int window = 2 * block.radius + 1;
  store_means<C>(in.row(y) + x0 * C, out.row(y) + x0 * C, pixels, aligned,
                 [&](int c, int i) { return mean_of(S(), prefix[c][i + window] - prefix[c][i], block); });
}

/// Launches the two kernels for samples of type S.
template <class S>
struct BoxLaunch {
  using Columns = BoxColumns<S>;

  static void columns(const PassArgs& args, std::ptrdiff_t pitch, CudaStream stream) {
    const ConstImageRef in = args.in[0];
    const int samples = static_cast<int>(in.format.row_samples());
    const dim3 grid(blocks_for(samples, 4 * BoxTuning::column_threads),
                    blocks_for(in.height(), BoxTuning::column_rows));
    using Sums = typename Columns::Sums;
    const ImageView<Sums> sums{reinterpret_cast<Sums*>(args.scratch[0]), pitch, in.format.extent};
    box_columns<S><<<grid, BoxTuning::column_threads, 0, stream>>>(in.as<const S>(), samples, sums,
                                                                   rows_aligned(in, 4 * sizeof(S)),
                                                                   static_cast<const BoxBlock*>(args.block));
    LENSD_LAUNCHED();
  }
  static void rows(const PassArgs& args, std::ptrdiff_t pitch, CudaStream stream) {
    const ConstImageRef in = args.in[0];
    const Extent extent = in.format.extent;
    const dim3 grid(blocks_for(extent.width, BoxTuning::row_pixels), static_cast<unsigned>(extent.height));
    using Sum = typename Columns::Sum;
    const ImageView<const Sum> sums{reinterpret_cast<const Sum*>(args.scratch[0]), pitch, extent};
    const auto kernel = in.channels() == 4 ? box_rows<S, 4> : box_rows<S, 1>;
    kernel<<<grid, BoxTuning::row_threads, 0, stream>>>(in.as<const S>(), sums, args.out.as<S>(),
                                                        rows_aligned(args.out, 4 * sizeof(S)),
                                                        static_cast<const BoxBlock*>(args.block));
    LENSD_LAUNCHED();
  }
};

}  // namespace

void Box::launch_columns(const PassArgs& args, CudaStream stream) const {
  const auto launch = args.in[0].is_deep() ? BoxLaunch<uint16_t>::columns : BoxLaunch<uint8_t>::columns;
  launch(args, sums_pitch(args.in[0].format), stream);
}

void Box::launch_rows(const PassArgs& args, CudaStream stream) const {
  const auto launch = args.in[0].is_deep() ? BoxLaunch<uint16_t>::rows : BoxLaunch<uint8_t>::rows;
  launch(args, sums_pitch(args.in[0].format), stream);
}

}  // namespace lensd
