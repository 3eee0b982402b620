#include "kernels/common/planar_tile.cuh"
#include "kernels/sobel/sobel.hpp"

namespace lensd {
namespace {

/// A thread computes 8 × 4 pixels from rows that it reads past the caches' first misses: neighbours read the
/// same.
struct SobelTuning {
  static constexpr int threads_x = 32, threads_y = 4;
  static constexpr int words = 2, columns = 4 * words, rows = 4;
};

/// Values of a row's columns, in the halves of words: 0 and 2 of each four, 1 and 3, and those on either side
/// of all.
struct SobelPairs {
  uint32_t even[SobelTuning::words], odd[SobelTuning::words], rim;

  /// Of the columns left of the even ones, and right of the odd ones.
  __device__ __forceinline__ uint32_t left_of_even(int word) const {
    return word == 0 ? __byte_perm(rim, odd[0], 0x5410) : __byte_perm(odd[word - 1], odd[word], 0x5432);
  }
  __device__ __forceinline__ uint32_t right_of_odd(int word) const {
    return word + 1 == SobelTuning::words ? __byte_perm(even[word], rim, 0x7632)
                                          : __byte_perm(even[word], even[word + 1], 0x5432);
  }
};

/// What a thread reads of each row: its columns from `x` on, and the one on either side, which the border
/// rule may put anywhere or nowhere (−1). `wide`: the columns are inside, at a multiple of 8 bytes.
struct SobelColumns {
  int x, left, right;
  bool wide;

  __device__ SobelColumns(int from, int width, Border border, bool aligned)
      : x(from),
        left(border_index(from - 1, width, border)),
        right(border_index(from + SobelTuning::columns, width, border)),
        wide(aligned && from + SobelTuning::columns <= width) {}
};

/// Words of the columns of row y by the border rule. Not inlined: few threads come here, and it is long.
__device__ __noinline__ uint2 sobel_words(const TileSource& in, int x, int y, Border border) {
  uint32_t first[1], second[1];
  load_quad<1>(in, x, y, border, first), load_quad<1>(in, x + 4, y, border, second);
  return make_uint2(first[0], second[0]);
}
__device__ __noinline__ int sobel_row(int y, int height, Border border) {
  return border_index(y, height, border);
}

/// A thread's columns of row y.
__device__ __forceinline__ SobelPairs sobel_pixels(const TileSource& in, const SobelColumns& at, int y,
                                                   Border border) {
  constexpr uint32_t kBytes = 0x00ff00ffu;
  const int inside = y >= 0 && y < in.extent.height ? y : sobel_row(y, in.extent.height, border);
  if (inside < 0) return {};
  const uint8_t* row = in.row(inside);
  const uint2 two = at.wide ? *reinterpret_cast<const uint2*>(row + at.x) : sobel_words(in, at.x, y, border);
  const uint32_t left = at.left < 0 ? 0 : row[at.left], right = at.right < 0 ? 0 : row[at.right];
  return {{two.x & kBytes, two.y & kBytes}, {two.x >> 8 & kBytes, two.y >> 8 & kBytes}, left | right << 16};
}

/// The words of a row that reaches beyond the image, or is not aligned. Not inlined, as sobel_rim().
__device__ __noinline__ void sobel_store_rim(const ImageView<uint8_t>& out, int x, int y, uint2 words,
                                             bool aligned) {
  uint8_t* to = out.row(y) + x;
  store_bytes(to, words.x, out.extent.width - x, aligned);
  if (x + 4 < out.extent.width) store_bytes(to + 4, words.y, out.extent.width - x - 4, aligned);
}

/// Derivatives of four pixels, by what keeps the halves positive too large.
struct SobelGradient {
  static constexpr uint32_t kPair = 0x00010001u;
  static constexpr int x_bias = 1024, y_bias = 4 * x_bias;
  uint32_t x[2], y[2];  ///< of the columns 0 and 2, and of 1 and 3

  /// Of the four columns of `word`, from sums down the columns: above + 2 at + below, and below − above +
  /// x_bias.
  __device__ __forceinline__ SobelGradient(const SobelPairs& smooth, const SobelPairs& derived, int word) {
    x[0] = smooth.odd[word] + x_bias * kPair - smooth.left_of_even(word);
    x[1] = smooth.right_of_odd(word) + x_bias * kPair - smooth.even[word];
    y[0] = derived.left_of_even(word) + 2 * derived.even[word] + derived.odd[word];
    y[1] = derived.even[word] + 2 * derived.odd[word] + derived.right_of_odd(word);
  }
  __device__ __forceinline__ int dx(int column) const { return half(x[column & 1], column) - x_bias; }
  __device__ __forceinline__ int dy(int column) const { return half(y[column & 1], column) - y_bias; }

  /// sobel_magnitude(). An approximate root is within 2^-23 of the exact one, 3e-5 below 256, which is as
  /// good as a correctly rounded one: neither comes near the half between two results. The result is the
  /// lowest byte.
  __device__ __forceinline__ uint32_t magnitude(int column) const {
    const float dx = whole(x[column & 1], column) - (kWhole + x_bias),
                dy = whole(y[column & 1], column) - (kWhole + y_bias);
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(dx * dx + dy * dy));
    return __float_as_uint(fminf(root, 255.0f) + kWhole);
  }

 private:
  /// From here on to twice as much, floats are the whole numbers: their low bits are the number's.
  static constexpr float kWhole = 8388608.0f;

  static __device__ __forceinline__ int half(uint32_t pair, int column) {
    return static_cast<int>(column < 2 ? pair & 0xffff : pair >> 16);
  }
  /// kWhole + the half.
  static __device__ __forceinline__ float whole(uint32_t pair, int column) {
    return __uint_as_float(__byte_perm(pair, 0x4b00, column < 2 ? 0x5410 : 0x5432));
  }
};

template <SobelOutput kOutput>
__device__ __forceinline__ uint32_t sobel_word(const SobelGradient& g) {
  uint32_t v[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kOutput == SobelOutput::magnitude)
      v[i] = g.magnitude(i);
    else
      v[i] = sobel_value(kOutput, g.dx(i), g.dy(i));
  }
  return __byte_perm(__byte_perm(v[0], v[1], 0x0040), __byte_perm(v[2], v[3], 0x0040), 0x5410);
}

__device__ __forceinline__ SobelPairs smoothed(const SobelPairs& above, const SobelPairs& at,
                                               const SobelPairs& below) {
  SobelPairs sum;
#pragma unroll
  for (int i = 0; i < SobelTuning::words; ++i)
    sum.even[i] = above.even[i] + 2 * at.even[i] + below.even[i],
    sum.odd[i] = above.odd[i] + 2 * at.odd[i] + below.odd[i];
  sum.rim = above.rim + 2 * at.rim + below.rim;
  return sum;
}

__device__ __forceinline__ SobelPairs derived(const SobelPairs& above, const SobelPairs& below) {
  constexpr uint32_t kBias = SobelGradient::x_bias * SobelGradient::kPair;
  SobelPairs sum;
#pragma unroll
  for (int i = 0; i < SobelTuning::words; ++i)
    sum.even[i] = below.even[i] + kBias - above.even[i], sum.odd[i] = below.odd[i] + kBias - above.odd[i];
  sum.rim = below.rim + kBias - above.rim;
  return sum;
}

/// Writes the thread's patch, whose first pixel is inside the image. `rows` begin with the one above it.
template <SobelOutput kOutput>
__device__ __forceinline__ void sobel_patch(const SobelPairs (&rows)[SobelTuning::rows + 2],
                                            const ImageView<uint8_t>& out, int x, int y, bool wide,
                                            bool aligned) {
#pragma unroll
  for (int r = 0; r < SobelTuning::rows; ++r) {
    if (y + r >= out.extent.height) return;
    const SobelPairs smooth = smoothed(rows[r], rows[r + 1], rows[r + 2]);
    const SobelPairs slope = derived(rows[r], rows[r + 2]);
    const uint2 words =
        make_uint2(sobel_word<kOutput>({smooth, slope, 0}), sobel_word<kOutput>({smooth, slope, 1}));
    if (wide)
      *reinterpret_cast<uint2*>(out.row(y + r) + x) = words;
    else
      sobel_store_rim(out, x, y + r, words, aligned);
  }
}

/// `wide`: rows of both images start at multiples of 8 bytes; `aligned`: the output's at multiples of 4.
__global__ void __launch_bounds__(SobelTuning::threads_x* SobelTuning::threads_y)
    sobel_kernel(TileSource in, ImageView<uint8_t> out, bool wide, bool aligned,
                 const SobelBlock* __restrict__ params) {
  const int x = static_cast<int>(blockIdx.x * SobelTuning::threads_x + threadIdx.x) * SobelTuning::columns,
            y = static_cast<int>(blockIdx.y * SobelTuning::threads_y + threadIdx.y) * SobelTuning::rows;
  const Extent extent = out.extent;
  if (x >= extent.width || y >= extent.height) return;
  const SobelBlock block = *params;
  const SobelColumns columns(x, extent.width, block.border, wide);
  SobelPairs rows[SobelTuning::rows + 2];
#pragma unroll
  for (int r = 0; r < SobelTuning::rows + 2; ++r)
    rows[r] = sobel_pixels(in, columns, y + r - 1, block.border);
  switch (block.output) {
    case SobelOutput::magnitude:
      return sobel_patch<SobelOutput::magnitude>(rows, out, x, y, columns.wide, aligned);
    case SobelOutput::x:
      return sobel_patch<SobelOutput::x>(rows, out, x, y, columns.wide, aligned);
    case SobelOutput::y:
      return sobel_patch<SobelOutput::y>(rows, out, x, y, columns.wide, aligned);
    case SobelOutput::direction:
      return sobel_patch<SobelOutput::direction>(rows, out, x, y, columns.wide, aligned);
  }
}

}  // namespace

void Sobel::launch(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const dim3 threads(SobelTuning::threads_x, SobelTuning::threads_y);
  const dim3 grid(blocks_for(in.width(), SobelTuning::threads_x * SobelTuning::columns),
                  blocks_for(in.height(), SobelTuning::threads_y * SobelTuning::rows));
  sobel_kernel<<<grid, threads, 0, stream>>>(
      TileSource(in), args.out.as<uint8_t>(), rows_aligned(in, 8) && rows_aligned(args.out, 8),
      rows_aligned(args.out, 4), static_cast<const SobelBlock*>(args.block));
  LENSD_LAUNCHED();
}

}  // namespace lensd
