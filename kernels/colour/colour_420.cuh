// 4:2:0 away from the picture's rim: four columns of two rows by words, with U and V in the halves of one
// register. A sample has at most 12 bits, so that sums in sixteenths fit 16 and no half carries into the
// other.
#pragma once

#include "kernels/colour/colour_job.cuh"

namespace lensd {

/// Samples of both chroma components, U in the low half, for columns x / 2 − 1 to x / 2 + 2 of chroma row
/// `row`. `x` is a multiple of 4.
template <bool kTwoBytes, bool kPlanes>
__device__ __forceinline__ void load_chroma(const ColourJob& job, int x, int row, uint32_t (&at)[4]) {
  const uint8_t* const u = job.planes[1] + row * job.pitches[1];
  if constexpr (!kPlanes && !kTwoBytes) {
    const auto* p = reinterpret_cast<const uint32_t*>(u + x);
    const uint32_t left = p[-1], here = p[0], right = p[1];
    at[0] = __byte_perm(left, 0, 0x4342), at[1] = __byte_perm(here, 0, 0x4140);
    at[2] = __byte_perm(here, 0, 0x4342), at[3] = __byte_perm(right, 0, 0x4140);
    return;
  }
  const uint8_t* const v = job.planes[2] + row * job.pitches[2];
  if constexpr (kPlanes && !kTwoBytes) {
    const int first = x / 2 - 1, word = first & ~3;
    const auto shift = static_cast<unsigned>(first & 3) * 8;
    const auto* pu = reinterpret_cast<const uint32_t*>(u + word);
    const auto* pv = reinterpret_cast<const uint32_t*>(v + word);
    const uint32_t us = __funnelshift_r(pu[0], pu[1], shift), vs = __funnelshift_r(pv[0], pv[1], shift);
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) at[i] = __byte_perm(us, vs, i | (4 + i) << 8) & 0x00ff00ffu;
    return;
  }
  if constexpr (kPlanes) {
    const auto* pu = reinterpret_cast<const uint32_t*>(u + x);
    const auto* pv = reinterpret_cast<const uint32_t*>(v + x);
    at[0] = __byte_perm(pu[-1], pv[-1], 0x7632);
    const uint32_t u0 = pu[0], v0 = pv[0];
    at[1] = __byte_perm(u0, v0, 0x5410), at[2] = __byte_perm(u0, v0, 0x7632);
    at[3] = __byte_perm(pu[1], pv[1], 0x5410);
  } else {
    const auto* p = reinterpret_cast<const uint32_t*>(u) + (x / 2 - 1);
#pragma unroll
    for (int i = 0; i < 4; ++i) at[i] = p[i];
  }
  const uint32_t mask = static_cast<uint32_t>(job.matrix.sample_mask) * 0x00010001u;
#pragma unroll
  for (uint32_t& sample : at) sample = sample >> job.layouts[0].shift & mask;
}

/// Luma samples of columns x to x + 3.
template <bool kTwoBytes>
__device__ __forceinline__ void load_luma(const ColourJob& job, int x, int y, uint32_t (&at)[4]) {
  const uint8_t* const row = job.planes[0] + y * job.pitches[0];
  if constexpr (kTwoBytes) {
    const uint2 v = *reinterpret_cast<const uint2*>(row + 2 * x);
    const uint32_t words[4] = {v.x & 0xffff, v.x >> 16, v.y & 0xffff, v.y >> 16};
    const auto mask = static_cast<uint32_t>(job.matrix.sample_mask);
#pragma unroll
    for (int i = 0; i < 4; ++i) at[i] = words[i] >> job.layouts[0].shift & mask;
  } else {
    const uint32_t v = *reinterpret_cast<const uint32_t*>(row + x);
#pragma unroll
    for (int i = 0; i < 4; ++i) at[i] = v >> (8 * i) & 255;
  }
}

/// Pixels x … x + 3 of rows y and y + 1, x a multiple of 4 with 4 columns on its left and 8 on its right, y
/// even: what colour_of_yuv() gives, with all constants in one.
template <bool kTwoBytes, bool kPlanes>
__device__ __forceinline__ void colour_420(const ColourJob& job, int x, int y) {
  const int rows = (job.extent.height + 1) / 2, at = y / 2;
  uint32_t quarters[3][4];  // chroma between columns, of the chroma rows above, at and below
#pragma unroll
  for (int j = 0; j < 3; ++j) {
    uint32_t c[4];
    load_chroma<kTwoBytes, kPlanes>(job, x, min(max(at - 1 + j, 0), rows - 1), c);
    if (job.cosited_x) {
      quarters[j][0] = 4 * c[1], quarters[j][1] = 2 * (c[1] + c[2]);
      quarters[j][2] = 4 * c[2], quarters[j][3] = 2 * (c[2] + c[3]);
    } else {
      quarters[j][0] = 3 * c[1] + c[0], quarters[j][1] = 3 * c[1] + c[2];
      quarters[j][2] = 3 * c[2] + c[1], quarters[j][3] = 3 * c[2] + c[3];
    }
  }
  const ColourMatrix& m = job.matrix;
  const int luma = 16 * m.luma, middle = 16 * m.middle, none = (1 << (m.shift - 1)) - luma * m.black;
  const int red = none - m.rv * middle, green = none + (m.gu + m.gv) * middle, blue = none - m.bu * middle;
  const auto clamped = [&](int sum) { return static_cast<uint32_t>(min(max(sum >> m.shift, 0), 255)); };
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    uint32_t lumas[4], pixels[4];
    load_luma<kTwoBytes>(job, x, y + j, lumas);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint32_t here = quarters[1][i], other = quarters[2 * j][i];
      const uint32_t both = !job.cosited_y ? 3 * here + other : j == 0 ? 4 * here : 2 * (here + other);
      const int u = static_cast<int>(both & 0xffff), v = static_cast<int>(both >> 16);
      const int base = luma * static_cast<int>(lumas[i]);
      pixels[i] = clamped(base + m.rv * v + red) | clamped(base - m.gu * u - m.gv * v + green) << 8 |
                  clamped(base + m.bu * u + blue) << 16 | 0xff000000u;
    }
    *reinterpret_cast<uint4*>(job.out.row(y + j) + 4 * x) =
        make_uint4(pixels[0], pixels[1], pixels[2], pixels[3]);
  }
}

}  // namespace lensd
