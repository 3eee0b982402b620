// median at radius 3 on CUDA, with the method of median_merge.hpp. A lane of a warp holds two adjacent
// columns and gets the columns to its right by shuffles; the last three lanes only provide columns. A
// register holds the samples of two columns that are MergeTuning::half columns apart, so that VIMNMX.U16x2
// computes two minima at once.
#include "kernels/common/border/border_call.cuh"
#include "kernels/common/launch.cuh"
#include "kernels/median/median.hpp"
#include "kernels/median/median_network.cuh"

namespace lensd {
namespace {

struct MergeTuning {
  static constexpr int warps = 4, blocks = 3;
  static constexpr int lanes = 29;          ///< lanes that compute output
  static constexpr int half = 2 * lanes;    ///< distance in columns between a register's two samples
  static constexpr int columns = 2 * half;  ///< output columns per warp
  static constexpr int rows = 16;           ///< output rows per warp
};

template <size_t N, size_t M, size_t... I>
__device__ __forceinline__ void in_order(const uint32_t (&w)[N + M], uint32_t (&to)[N + M],
                                         std::index_sequence<I...>) {
  ((to[I] = w[kMerge<N, M>.order[I]]), ...);
}

/// Merges two sorted lists.
template <size_t N, size_t M>
__device__ __forceinline__ void merge(const uint32_t (&a)[N], const uint32_t (&b)[M], uint32_t (&to)[N + M]) {
  uint32_t w[N + M];
#pragma unroll
  for (size_t i = 0; i < N; ++i) w[i] = a[i];
#pragma unroll
  for (size_t i = 0; i < M; ++i) w[N + i] = b[i];
  merge_in_place<N, M>(w);
  in_order<N, M>(w, to, std::make_index_sequence<N + M>());
}

/// Returns the values of the lane `by` lanes to the right.
template <size_t N>
__device__ __forceinline__ void from_right(const uint32_t (&own)[N], unsigned by, uint32_t (&to)[N]) {
#pragma unroll
  for (size_t i = 0; i < N; ++i) to[i] = __shfl_down_sync(~0u, own[i], by);
}

/// Samples of one column in the eight rows of two vertically adjacent windows.
using ColumnOf8 = uint32_t[8];

/// Sorts the inner six rows, which both windows share.
__device__ __forceinline__ void sort_inner(const ColumnOf8& rows, uint32_t (&v)[6]) {
#pragma unroll
  for (int k = 0; k < 6; ++k) v[k] = rows[k + 1];
  sort_6(v);
}

__device__ __forceinline__ void insert_7(const uint32_t (&v)[6], uint32_t x, uint32_t (&to)[7]) {
  to[0] = net_min(v[0], x), to[6] = net_max(v[5], x);
#pragma unroll
  for (int k = 1; k < 6; ++k) to[k] = net_min(v[k], net_max(v[k - 1], x));
}

/// Returns the median of the window that begins with the columns of `pair`. `last`: the column of this lane
/// that ends the window of the lane three lanes to the left.
__device__ __forceinline__ uint32_t median_of_49(const uint32_t (&pair)[14], const uint32_t (&last)[7]) {
  uint32_t next[14], four[28], column[7], few[21];
  from_right(pair, 1, next);
  merge<14, 14>(pair, next, four);
  from_right(pair, 2, next), from_right(last, 3, column);
  merge<14, 7>(next, column, few);
  // Of the four columns' values, only the 4th to the 25th can be the median. The k-th value of two sorted
  // lists is the minimum, over all pairs of prefixes with k values in total, of the larger of their last
  // values.
  uint32_t median = four[24];
#pragma unroll
  for (int k = 0; k < 21; ++k) median = net_min(median, net_max(four[23 - k], few[k]));
  return median;
}

/// Computes the medians in two rows of the windows that start at the lane's first and second column.
__device__ __forceinline__ void median_two_rows(const ColumnOf8& first, const ColumnOf8& second,
                                                uint32_t (&out)[2][2]) {
  uint32_t inner_a[6], inner_b[6];
  sort_inner(first, inner_a), sort_inner(second, inner_b);
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    uint32_t a[7], b[7], right[7], pair[14];
    insert_7(inner_a, first[7 * row], a), insert_7(inner_b, second[7 * row], b);
    merge<7, 7>(a, b, pair);
    out[row][0] = median_of_49(pair, a);
    from_right(a, 1, right);
    merge<7, 7>(b, right, pair);
    out[row][1] = median_of_49(pair, b);
  }
}

struct MergeJob {
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
  const MedianBlock* block;
  bool aligned;  ///< rows start at multiples of 4 bytes
};

/// The lane's four input columns, mapped by the border rule: two adjacent columns, and the two that are
/// MergeTuning::half columns to their right. −1: read as 0.
struct LaneColumns {
  int at[4];

  __device__ LaneColumns(int x, int width, Border border) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      at[i] = called_border_index(x - 3 + i % 2 + i / 2 * MergeTuning::half, width, border);
  }
};

/// The lane's columns of a grey image with samples of type S.
template <class S>
struct MergeGray {
  ColumnOf8 columns[2];

  __device__ __forceinline__ void load(const MergeJob& job, const LaneColumns& lane, int y, int to) {
    const auto* row = reinterpret_cast<const S*>(job.in.row(max(y, 0)));
    uint32_t v[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) v[i] = y < 0 || lane.at[i] < 0 ? 0 : row[lane.at[i]];
    columns[0][to] = v[0] | v[2] << 16, columns[1][to] = v[1] | v[3] << 16;
  }
  /// Computes and stores the lane's pixels in rows y and y + 1, clipped to the picture. `x`: the lane's
  /// first output column.
  __device__ __forceinline__ void write(const MergeJob& job, int x, int y) const {
    uint32_t out[2][2];
    median_two_rows(columns[0], columns[1], out);
    if (threadIdx.x >= MergeTuning::lanes) return;
    const Extent extent = job.out.extent;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (y + r >= extent.height) return;
      auto* to = reinterpret_cast<S*>(job.out.row(y + r));
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = x + i % 2 + i / 2 * MergeTuning::half;
        if (at < extent.width) to[at] = static_cast<S>(out[r][i % 2] >> (i / 2 * 16));
      }
    }
  }
  __device__ __forceinline__ void advance() {
#pragma unroll
    for (int k = 0; k < 6; ++k) columns[0][k] = columns[0][k + 2], columns[1][k] = columns[1][k + 2];
  }
};

/// Pixels of the lane's four columns of an RGBA8 image. For sorting, a register holds red and blue of one
/// pixel, or green of two.
struct MergeColour {
  ColumnOf8 pixels[4];

  __device__ __forceinline__ void load(const MergeJob& job, const LaneColumns& lane, int y, int to) {
    const uint8_t* row = job.in.row(max(y, 0));
#pragma unroll
    for (int i = 0; i < 4; ++i)
      pixels[i][to] = y < 0 || lane.at[i] < 0 ? 0 : load_word(row + 4 * lane.at[i], job.aligned);
  }
  __device__ __forceinline__ void write(const MergeJob& job, int x, int y) const {
    constexpr uint32_t kRedBlue = 0x00ff00ffu;
    uint32_t near[2][2], far[2][2], green[2][2];
    ColumnOf8 a, b;
#pragma unroll
    for (int k = 0; k < 8; ++k) a[k] = pixels[0][k] & kRedBlue, b[k] = pixels[1][k] & kRedBlue;
    median_two_rows(a, b, near);
#pragma unroll
    for (int k = 0; k < 8; ++k) a[k] = pixels[2][k] & kRedBlue, b[k] = pixels[3][k] & kRedBlue;
    median_two_rows(a, b, far);
#pragma unroll
    for (int k = 0; k < 8; ++k)
      a[k] = __byte_perm(pixels[0][k], pixels[2][k], 0x0501) & kRedBlue,
      b[k] = __byte_perm(pixels[1][k], pixels[3][k], 0x0501) & kRedBlue;
    median_two_rows(a, b, green);
    if (threadIdx.x >= MergeTuning::lanes) return;
    const Extent extent = job.out.extent;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (y + r >= extent.height) return;
      const uint8_t* own = job.in.row(y + r);
      uint8_t* to = job.out.row(y + r);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = x + i % 2 + i / 2 * MergeTuning::half;
        if (at >= extent.width) continue;
        const uint32_t red_blue = i < 2 ? near[r][i % 2] : far[r][i % 2];
        const uint32_t pixel = red_blue | (green[r][i % 2] >> (i / 2 * 16) & 0xff) << 8 |
                               static_cast<uint32_t>(own[4 * at + 3]) << 24;
        store_word(to + 4 * at, pixel, job.aligned);
      }
    }
  }
  __device__ __forceinline__ void advance() {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int k = 0; k < 6; ++k) pixels[i][k] = pixels[i][k + 2];
  }
};

/// Two channels of the lane's four columns of an RGBA16 image: red and green in the first layer of the grid,
/// blue and alpha in the second. A register holds both channels of one pixel.
struct MergeDeepColour {
  ColumnOf8 words[4];

  __device__ __forceinline__ void load(const MergeJob& job, const LaneColumns& lane, int y, int to) {
    const uint8_t* row = job.in.row(max(y, 0)) + 4 * blockIdx.z;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      words[i][to] = y < 0 || lane.at[i] < 0 ? 0 : load_word(row + 8 * lane.at[i], job.aligned);
  }
  __device__ __forceinline__ void write(const MergeJob& job, int x, int y) const {
    uint32_t near[2][2], far[2][2];
    median_two_rows(words[0], words[1], near);
    median_two_rows(words[2], words[3], far);
    if (threadIdx.x >= MergeTuning::lanes) return;
    const Extent extent = job.out.extent;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (y + r >= extent.height) return;
      const uint8_t* own = job.in.row(y + r) + 4 * blockIdx.z;
      uint8_t* to = job.out.row(y + r) + 4 * blockIdx.z;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = x + i % 2 + i / 2 * MergeTuning::half;
        if (at >= extent.width) continue;
        uint32_t word = i < 2 ? near[r][i % 2] : far[r][i % 2];
        if (blockIdx.z == 1) word = __byte_perm(word, load_word(own + 8 * at, job.aligned), 0x7610);
        store_word(to + 8 * at, word, job.aligned);
      }
    }
  }
  __device__ __forceinline__ void advance() {
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int k = 0; k < 6; ++k) words[i][k] = words[i][k + 2];
  }
};

template <class Samples>
__global__ void __launch_bounds__(32 * MergeTuning::warps, MergeTuning::blocks)
    median_merge_kernel(MergeJob job) {
  const int x0 = static_cast<int>(blockIdx.x) * MergeTuning::columns,
            x = x0 + 2 * static_cast<int>(threadIdx.x);
  const int y0 = static_cast<int>(blockIdx.y * MergeTuning::warps + threadIdx.y) * MergeTuning::rows;
  const int height = job.in.extent.height;
  if (y0 >= height) return;  // uniform across the warp
  const Border border = job.block->border;
  const LaneColumns lane(x, job.in.extent.width, border);
  Samples samples;
  const auto load = [&](int y, int to) {
    samples.load(job, lane, y >= 0 && y < height ? y : called_border_index(y, height, border), to);
  };
#pragma unroll
  for (int k = 0; k < 6; ++k) load(y0 - 3 + k, k);
  const int end = min(height, y0 + MergeTuning::rows);
#pragma unroll 1
  for (int y = y0; y < end; y += 2) {
    load(y + 3, 6), load(y + 4, 7);
    samples.write(job, x, y);
    samples.advance();
  }
}

}  // namespace

void Median::launch_merge(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const MergeJob job{in.as<const uint8_t>(), args.out.as<uint8_t>(),
                     static_cast<const MedianBlock*>(args.block),
                     rows_aligned(in, 4) && rows_aligned(args.out, 4)};
  const dim3 threads(32, MergeTuning::warps);
  const bool gray = in.channels() == 1, deep = in.is_deep();
  const dim3 grid(blocks_for(in.width(), MergeTuning::columns),
                  blocks_for(in.height(), MergeTuning::warps * MergeTuning::rows), deep && !gray ? 2 : 1);
  const auto kernel =
      gray ? (deep ? median_merge_kernel<MergeGray<uint16_t>> : median_merge_kernel<MergeGray<uint8_t>>)
           : (deep ? median_merge_kernel<MergeDeepColour> : median_merge_kernel<MergeColour>);
  kernel<<<grid, threads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd
