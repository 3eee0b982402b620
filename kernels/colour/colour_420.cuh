// Converts 4:2:0 in patches of 4 × 4 pixels, with U and V in the halves of one register. Samples have at most
// 12 bits. Sums in sixteenths therefore fit in 16 bits, and no half carries into the other.
#pragma once

#include "kernels/colour/colour_job.cuh"

namespace lensd {

inline constexpr int kColour420Rows = 4;

/// Chroma columns for luma columns x to x + 3: `left`, `middle`, middle + 1 and `right`. `left` and `right`
/// are clamped to the picture. `x` is a multiple of 4, and the picture has columns x to x + 3.
struct ChromaColumns {
  int left, middle, right;

  __device__ ChromaColumns(int x, int width) {
    middle = x / 2, left = max(middle - 1, 0), right = min(middle + 2, (width + 1) / 2 - 1);
  }
};

/// Returns both components of chroma column `column`, U in the low half.
template <bool kTwoBytes, bool kPlanes>
__device__ __forceinline__ uint32_t load_chroma(const uint8_t* u, const uint8_t* v, int column) {
  if constexpr (kPlanes && kTwoBytes)
    return reinterpret_cast<const uint16_t*>(u)[column] |
           static_cast<uint32_t>(reinterpret_cast<const uint16_t*>(v)[column]) << 16;
  if constexpr (kPlanes) return u[column] | static_cast<uint32_t>(v[column]) << 16;
  if constexpr (kTwoBytes) return reinterpret_cast<const uint32_t*>(u)[column];
  return __byte_perm(reinterpret_cast<const uint16_t*>(u)[column], 0, 0x4140);
}

/// Interpolates chroma row `row` horizontally for four columns; results are in quarters.
template <bool kTwoBytes, bool kPlanes, bool kCositedX>
__device__ __forceinline__ void load_quarters(const ColourJob& job, const ChromaColumns& at, int row,
                                              uint32_t (&quarters)[4]) {
  const uint8_t* const u = job.row(1, row);
  const uint8_t* const v = kPlanes ? job.row(2, row) : nullptr;
  uint32_t c[4] = {kCositedX ? 0 : load_chroma<kTwoBytes, kPlanes>(u, v, at.left),
                   load_chroma<kTwoBytes, kPlanes>(u, v, at.middle),
                   load_chroma<kTwoBytes, kPlanes>(u, v, at.middle + 1),
                   load_chroma<kTwoBytes, kPlanes>(u, v, at.right)};
  if constexpr (kTwoBytes) {
    const uint32_t mask = static_cast<uint32_t>(job.matrix.sample_mask) * 0x00010001u;
#pragma unroll
    for (uint32_t& sample : c) sample = sample >> job.layouts[0].shift & mask;
  }
  if constexpr (kCositedX) {
    quarters[0] = 4 * c[1], quarters[1] = 2 * (c[1] + c[2]);
    quarters[2] = 4 * c[2], quarters[3] = 2 * (c[2] + c[3]);
  } else {
    quarters[0] = 3 * c[1] + c[0], quarters[1] = 3 * c[1] + c[2];
    quarters[2] = 3 * c[2] + c[1], quarters[3] = 3 * c[2] + c[3];
  }
}

/// Returns the luma samples of columns x to x + 3, as stored.
template <bool kTwoBytes>
__device__ __forceinline__ uint2 load_luma(const ColourJob& job, int x, int y) {
  const uint8_t* const row = job.row(0, y);
  if constexpr (kTwoBytes) return *reinterpret_cast<const uint2*>(row + 2 * x);
  return make_uint2(*reinterpret_cast<const uint32_t*>(row + x), 0);
}

template <bool kTwoBytes>
__device__ __forceinline__ int luma_at(const ColourJob& job, uint2 four, int i) {
  if constexpr (!kTwoBytes)
    return static_cast<int>(__byte_perm(four.x, 0, 0x4440u + static_cast<unsigned>(i)));
  const uint32_t word = i < 2 ? four.x : four.y;
  return static_cast<int>((i & 1 ? word >> 16 : word & 0xffff) >> job.layouts[0].shift &
                          static_cast<uint32_t>(job.matrix.sample_mask));
}

/// Returns `low` in byte 0 and `high` in byte 1, both clamped to 0 … 255, and the low half of `rest` in bytes
/// 2 and 3.
__device__ __forceinline__ uint32_t clamped_pair(int high, int low, uint32_t rest) {
  uint32_t word;
  asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(word) : "r"(high), "r"(low), "r"(rest));
  return word;
}

/// Computes colour_of_yuv() with the constants of each colour folded into one.
class ColourSums {
 public:
  __device__ explicit ColourSums(const ColourMatrix& m)
      : luma_(16 * m.luma), rv_(m.rv), gu_(-m.gu), gv_(-m.gv), bu_(m.bu), shift_(m.shift) {
    const int middle = 16 * m.middle, none = (1 << (m.shift - 1)) - luma_ * m.black;
    red_ = none - rv_ * middle, green_ = none - (gu_ + gv_) * middle, blue_ = none - bu_ * middle;
  }
  /// Returns an opaque pixel. `both`: chroma in sixteenths, U in the low half.
  __device__ __forceinline__ uint32_t pixel(int y, uint32_t both) const {
    const int u = static_cast<int>(both & 0xffff), v = static_cast<int>(both >> 16);
    const int red = luma_ * y + red_ + rv_ * v, blue = luma_ * y + blue_ + bu_ * u;
    const int green = luma_ * y + green_ + gu_ * u + gv_ * v;
    return clamped_pair(green >> shift_, red >> shift_, clamped_pair(255, blue >> shift_, 0));
  }

 private:
  int luma_, rv_, gu_, gv_, bu_, shift_;
  int red_, green_, blue_;
};

/// Converts columns x to x + 3 of rows y to y + 3, with the results of colour_of_yuv(). All 16 pixels are
/// inside the picture; x and y are multiples of 4.
template <bool kTwoBytes, bool kPlanes, bool kCositedX>
__device__ __forceinline__ void colour_420(const ColourJob& job, int x, int y) {
  constexpr int kPairs = kColour420Rows / 2;
  const int last = (job.extent.height + 1) / 2 - 1;
  const ChromaColumns at(x, job.extent.width);
  uint2 luma[kColour420Rows];
  uint32_t quarters[kPairs + 2][4];  // chroma rows y / 2 − 1 to y / 2 + kPairs
#pragma unroll
  for (int j = 0; j < kColour420Rows; ++j) luma[j] = load_luma<kTwoBytes>(job, x, y + j);
#pragma unroll
  for (int j = 0; j < kPairs + 2; ++j)
    load_quarters<kTwoBytes, kPlanes, kCositedX>(job, at, min(max(y / 2 - 1 + j, 0), last), quarters[j]);
  const ColourSums sums(job.matrix);
  uint8_t* out = job.out.row(y) + 4 * x;
#pragma unroll
  for (int j = 0; j < kColour420Rows; ++j) {
    const uint32_t(&here)[4] = quarters[j / 2 + 1], (&other)[4] = quarters[j / 2 + j % 2 * 2];
    uint32_t both[4], pixels[4];
    if (!job.cosited_y) {
#pragma unroll
      for (int i = 0; i < 4; ++i) both[i] = 3 * here[i] + other[i];
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) both[i] = j % 2 == 0 ? 4 * here[i] : 2 * (here[i] + other[i]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) pixels[i] = sums.pixel(luma_at<kTwoBytes>(job, luma[j], i), both[i]);
    *reinterpret_cast<uint4*>(out) = make_uint4(pixels[0], pixels[1], pixels[2], pixels[3]);
    out += job.out.pitch_bytes;
  }
}

}  // namespace lensd
