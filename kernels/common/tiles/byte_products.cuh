// Products of small matrices of bytes on the tensor cores: exact sums in 32 bits.
//
// acc (16 × 8) += a (16 × 16 · n) · b (16 · n × 8). A half block is 16 values of the summed index. With g =
// lane / 4 and t = lane % 4, a lane holds bytes 4t … 4t + 3 of each half block, from rows g and g + 8 of a
// and from column g of b. It also holds the sums (g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1). The
// bytes of a half block may be in any order that is the same for a and b.
#pragma once

#include <cstdint>

namespace lensd {

using ByteSums = int[4];
using ByteRows = uint32_t[2];  ///< half block of the left factor: rows g and g + 8

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define LENSD_MULTIPLY_32(types)                                   \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." types               \
      ".s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
      : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3])     \
      : "r"(a0[0]), "r"(a0[1]), "r"(a1[0]), "r"(a1[1]), "r"(b0), "r"(b1))
#define LENSD_MULTIPLY_16(types)                                                                         \
  asm("mma.sync.aligned.m16n8k16.row.col.s32." types ".s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
      : "+r"(acc[0]), "+r"(acc[1]), "+r"(acc[2]), "+r"(acc[3])                                           \
      : "r"(a0[0]), "r"(a0[1]), "r"(b0))
#else  // Turing supports only products of 8 × 8 × 16
#define LENSD_MULTIPLY_8(types, i, a, b)                                                 \
  asm("mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {%0,%1}, {%2}, {%3}, {%0,%1};" \
      : "+r"(acc[i]), "+r"(acc[i + 1])                                                   \
      : "r"(a), "r"(b))
#define LENSD_MULTIPLY_16(types)         \
  LENSD_MULTIPLY_8(types, 0, a0[0], b0); \
  LENSD_MULTIPLY_8(types, 2, a0[1], b0)
#define LENSD_MULTIPLY_32(types)         \
  LENSD_MULTIPLY_16(types);              \
  LENSD_MULTIPLY_8(types, 0, a1[0], b1); \
  LENSD_MULTIPLY_8(types, 2, a1[1], b1)
#endif

/// Adds the products of two half blocks. `kSigned`: the right factor's bytes are signed; the left factor's
/// are always unsigned.
template <bool kSigned = false>
__device__ inline void multiply_32(ByteSums& acc, const ByteRows& a0, const ByteRows& a1, uint32_t b0,
                                   uint32_t b1) {
  if constexpr (kSigned) {
    LENSD_MULTIPLY_32("u8.s8");
  } else {
    LENSD_MULTIPLY_32("u8.u8");
  }
}

/// Adds the products of one half block.
template <bool kSigned = false>
__device__ inline void multiply_16(ByteSums& acc, const ByteRows& a0, uint32_t b0) {
  if constexpr (kSigned) {
    LENSD_MULTIPLY_16("u8.s8");
  } else {
    LENSD_MULTIPLY_16("u8.u8");
  }
}

#undef LENSD_MULTIPLY_8
#undef LENSD_MULTIPLY_16
#undef LENSD_MULTIPLY_32

/// Adds the products of all kHalves half blocks of `a` and `b`.
template <int kHalves>
__device__ inline void multiply(ByteSums& acc, const ByteRows (&a)[kHalves], const uint32_t* b) {
#pragma unroll
  for (int i = 0; i + 1 < kHalves; i += 2) multiply_32(acc, a[i], a[i + 1], b[i], b[i + 1]);
  if constexpr (kHalves % 2 == 1) multiply_16(acc, a[kHalves - 1], b[kHalves - 1]);
}

}  // namespace lensd
