// 3×3 and 5×5 medians of two rows of registers, two samples per register.
#pragma once

#include "kernels/median/median_network.cuh"

namespace lensd {
namespace {

inline constexpr int kOutputs = 4;  ///< registers of a row of results

/// Computes 3×3 medians of two output rows; rows[0..3] hold columns −1 to 4.
__device__ void median_two_rows(const uint32_t (&rows)[4][kOutputs + 2], uint32_t (&out)[2][kOutputs]) {
  Column3<uint32_t> upper[kOutputs + 2], lower[kOutputs + 2];
#pragma unroll
  for (int i = 0; i < kOutputs + 2; ++i) {
    uint32_t low = rows[1][i], high = rows[2][i];
    exchange(low, high);
    upper[i] = insert_3(low, high, rows[0][i]);
    lower[i] = insert_3(low, high, rows[3][i]);
  }
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) {
    out[0][i] = median_of_columns(upper[i], upper[i + 1], upper[i + 2]);
    out[1][i] = median_of_columns(lower[i], lower[i + 1], lower[i + 2]);
  }
}

/// Computes 5×5 medians of two output rows; rows[0..5] hold columns −2 to 5.
__device__ void median_two_rows(const uint32_t (&rows)[6][kOutputs + 4], uint32_t (&out)[2][kOutputs]) {
  uint32_t inner[kOutputs + 4][4];
#pragma unroll
  for (int i = 0; i < kOutputs + 4; ++i) {
    for (int k = 0; k < 4; ++k) inner[i][k] = rows[k + 1][i];
    sort_4(inner[i][0], inner[i][1], inner[i][2], inner[i][3]);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    Column5<uint32_t> c[kOutputs + 4];
#pragma unroll
    for (int i = 0; i < kOutputs + 4; ++i)
      c[i] = insert_5(inner[i][0], inner[i][1], inner[i][2], inner[i][3], rows[5 * half][i]);
#pragma unroll
    for (int i = 0; i < kOutputs; i += 2) {  // neighbouring windows share four of their five columns
      const auto four = rows_of_4(c[i + 1], c[i + 2], c[i + 3], c[i + 4]);
      out[half][i] = median_of_rows(four, c[i]);
      out[half][i + 1] = median_of_rows(four, c[i + 5]);
    }
  }
}

}  // namespace
}  // namespace lensd
