#pragma once

#include <cmath>
#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

inline constexpr double kDiffusionMaxKappa = 1000;
inline constexpr int kDiffusionMaxIterations = 100;
inline constexpr int kDiffusionFused = 4;  ///< maximum number of iterations per CUDA pass

struct DiffusionParams {
  int iterations = 10;
  double lambda = 0.2;
  double kappa = 15;
  Border border = Border::replicate;
};

struct DiffusionBlock {
  float lambda;
  float inverse_kappa;  ///< 1 / (256 · kappa); 0 (linear diffusion) at the maximum of kappa
  Border border;
  float deep_inverse_kappa;  ///< the same for 16 bits: 1 / (256 · 257 · kappa)

  static DiffusionBlock make(const DiffusionParams& p) {
    const bool linear = p.kappa >= kDiffusionMaxKappa;
    return {static_cast<float>(p.lambda), linear ? 0.0f : static_cast<float>(1 / (256 * p.kappa)), p.border,
            linear ? 0.0f : static_cast<float>(1 / (256.0 * 257 * p.kappa))};
  }
};

/// Returns the state for an 8-bit value: value · 256, in 16 bits.
LENSD_HD constexpr uint16_t diffusion_state(uint8_t value) {
  return static_cast<uint16_t>(value << 8);
}
LENSD_HD constexpr uint8_t diffusion_value(int state) {
  return static_cast<uint8_t>((state + 128) >> 8);
}

/// Returns the flow from `b` to `a` in one iteration: λ · d / (1 + (d/κ)²) with d = b - a, rounded to the
/// nearest integer, ties to even. diffusion_flow(a, b) = -diffusion_flow(b, a), so the sum over the picture
/// is constant.
LENSD_HD inline int diffusion_flow(int a, int b, float lambda, float inverse_kappa) {
  const float d = static_cast<float>(b - a), q = d * inverse_kappa;
  const float flow = lambda / (1.0f + q * q) * d;
#if defined(__CUDA_ARCH__)
  return __float2int_rn(flow);
#else
  return static_cast<int>(std::nearbyintf(flow));
#endif
}

/// Clamps a state to 0 … 255 · 256, since rounding can exceed this range by a few units.
LENSD_HD constexpr int diffusion_clamp(int state) {
  return state < 0 ? 0 : state > 65280 ? 65280 : state;
}

/// Maximum state for 16 bits. States and their sums of flows are integers of up to 24 bits, which floats hold
/// exactly.
inline constexpr float kDeepDiffusionMax = 65535.0f * 256;

/// Rounds a flow of at most 2^22 to the nearest integer, ties to even.
LENSD_HD constexpr float round_flow(float flow) {
  return (flow + 12582912.0f) - 12582912.0f;  // 1.5 · 2^23
}

}  // namespace lensd
