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

/// Columns x − 4 to x + 11 of row y by the border rule. Not inlined: few threads come here, and it is long.
__device__ __noinline__ uint4 sobel_rim(const TileSource& in, int x, int y, Border border) {
  uint32_t words[SobelTuning::words + 2][1];
  for (int i = 0; i < SobelTuning::words + 2; ++i) load_quad<1>(in, x + 4 * (i - 1), y, border, words[i]);
  return make_uint4(words[0][0], words[1][0], words[2][0], words[3][0]);
}

/// Columns x − 1 to x + 8 of row y. `inside`: words around them can be read as they are.
__device__ __forceinline__ SobelPairs sobel_pixels(const TileSource& in, int x, int y, Border border,
                                                   bool inside) {
  constexpr uint32_t kBytes = 0x00ff00ffu;
  uint4 four;  // words: left of the columns, theirs, right of them
  if (inside) {
    const auto* row = reinterpret_cast<const uint32_t*>(in.row(y) + x);
    const uint2 two = *reinterpret_cast<const uint2*>(row);
    four = make_uint4(row[-1], two.x, two.y, row[SobelTuning::words]);
  } else {
    four = sobel_rim(in, x, y, border);
  }
  return {{four.y & kBytes, four.z & kBytes},
          {four.y >> 8 & kBytes, four.z >> 8 & kBytes},
          __byte_perm(four.x, four.w, 0x0403) & kBytes};
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

/// The thread's patch, which begins inside the image.
template <SobelOutput kOutput>
__device__ __forceinline__ void sobel_patch(const TileSource& in, const ImageView<uint8_t>& out,
                                            bool out_aligned, Border border, int x, int y, bool inside) {
  SobelPairs above = sobel_pixels(in, x, y - 1, border, inside), at = sobel_pixels(in, x, y, border, inside);
#pragma unroll
  for (int r = 0; r < SobelTuning::rows; ++r) {
    if (y + r >= out.extent.height) return;
    const SobelPairs below = sobel_pixels(in, x, y + r + 1, border, inside);
    const SobelPairs smooth = smoothed(above, at, below), slope = derived(above, below);
    uint32_t words[SobelTuning::words];
#pragma unroll
    for (int i = 0; i < SobelTuning::words; ++i) words[i] = sobel_word<kOutput>({smooth, slope, i});
    const uint2 both = make_uint2(words[0], words[1]);
    if (inside)
      *reinterpret_cast<uint2*>(out.row(y + r) + x) = both;
    else
      sobel_store_rim(out, x, y + r, both, out_aligned);
    above = at, at = below;
  }
}

/// `wide`: rows of both images start at multiples of 8 bytes.
__global__ void __launch_bounds__(SobelTuning::threads_x* SobelTuning::threads_y)
    sobel_kernel(TileSource in, ImageView<uint8_t> out, bool wide, bool out_aligned,
                 const SobelBlock* __restrict__ params) {
  const int x = static_cast<int>(blockIdx.x * SobelTuning::threads_x + threadIdx.x) * SobelTuning::columns,
            y = static_cast<int>(blockIdx.y * SobelTuning::threads_y + threadIdx.y) * SobelTuning::rows;
  const Extent extent = out.extent;
  if (x >= extent.width || y >= extent.height) return;
  const SobelBlock block = *params;
  const bool inside = wide && x >= 4 && x + SobelTuning::columns + 4 <= extent.width && y >= 1 &&
                      y + SobelTuning::rows + 1 <= extent.height;
  switch (block.output) {
    case SobelOutput::magnitude:
      return sobel_patch<SobelOutput::magnitude>(in, out, out_aligned, block.border, x, y, inside);
    case SobelOutput::x:
      return sobel_patch<SobelOutput::x>(in, out, out_aligned, block.border, x, y, inside);
    case SobelOutput::y:
      return sobel_patch<SobelOutput::y>(in, out, out_aligned, block.border, x, y, inside);
    case SobelOutput::direction:
      return sobel_patch<SobelOutput::direction>(in, out, out_aligned, block.border, x, y, inside);
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
