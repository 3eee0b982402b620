#pragma once

#include <cstdint>
#include <string>

#include "core/base/param.hpp"
#include "core/image/view.hpp"

namespace lensd {

enum class ConvolvePreset : uint8_t {
  custom,
  identity,
  box,
  sharpen,
  emboss,
  edge,
  laplacian,
  sobel_x,
  sobel_y,
  gaussian
};

inline constexpr int kConvolveMaxSide = 15;
inline constexpr int kConvolvePairs = (kConvolveMaxSide + 1) / 2;

struct ConvolveParams {
  Matrix kernel{3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}};
  ConvolvePreset preset = ConvolvePreset::custom;
  std::string compose;
  bool normalize = false;
  double bias = 0;
  Border border = Border::reflect101;
};

/// Returns the kernel of these parameters before quantisation. If the composition is malformed or too large,
/// or if its weights are too large, returns the identity and writes the reason to `problem`.
Matrix convolve_kernel(const ConvolveParams& params, std::string* problem = nullptr);

/// Weights in 1/2^shift, in the layouts of both backends. If a weight exceeds 16 bits, the CPU splits all
/// weights: weight = high · 2^15 + low, and sums are (Σ high · pixel) · 2^15 + Σ low · pixel, modulo 2^32.
/// CUDA always splits weights into bytes.
struct ConvolveBlock {
  int rows, cols;
  Border border;
  int shift, up;  ///< value = ((sum + bias) >> shift) << up
  int32_t bias;   ///< bias in 1/2^shift, plus half a level for rounding
  int wide;       ///< 1 if any `high` is not zero
  int bytes;      ///< bytes of the largest weight including its sign, 1 to 4
  int32_t weights[kConvolveMaxSide * kConvolveMaxSide];

  /// Two vertically adjacent weights (rows j - 1 and j), not both zero, for the CPU.
  struct Tap {
    int16_t row, col;    ///< position of the weight in row j
    uint32_t low, high;  ///< parts of both weights: row j - 1 in bits 0 to 15, row j in bits 16 to 31
  };
  int taps_count;
  Tap taps[kConvolvePairs * kConvolveMaxSide];

  /// 16 bits: the weights that are not zero, row by row, and the bias, all in units of deep_unit.
  struct DeepTap {
    int16_t row, col;
    float weight;
  };
  int deep_count;
  float deep_bias, deep_unit;
  bool deep_exact;  ///< weights are integers of at most 8 bits, so their products are exact
  DeepTap deep[kConvolveMaxSide * kConvolveMaxSide];

  static ConvolveBlock make(const ConvolveParams& params);
};

/// Converts Σ weight · pixel to an output value.
LENSD_HD inline uint8_t convolve_value(int32_t sum, int32_t bias, int shift, int up) {
  const int32_t v = (sum + bias) >> shift;
  const int32_t clamped = v < 0 ? 0 : v > 255 ? 255 : v;
  const int32_t scaled = clamped << up;
  return static_cast<uint8_t>(scaled > 255 ? 255 : scaled);
}

/// Returns Σ weight · at(col, row) + bias for 16-bit samples. The order of the operations is that of the
/// code.
template <class At>
LENSD_HD inline float deep_convolve_sum(const ConvolveBlock& b, const At& at) {
  float sum = b.deep_bias;
  for (int i = 0; i < b.deep_count; ++i) sum = sum + b.deep[i].weight * at(b.deep[i].col, b.deep[i].row);
  return sum * b.deep_unit;
}

}  // namespace lensd
