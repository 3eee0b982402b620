// diffusion of 16-bit images on the CPU. States are integers that floats hold exactly.
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/vectorised.hpp"
#include "kernels/diffusion/diffusion_iteration.hpp"

namespace lensd {
namespace {

/// The `Depth` of diffusion_iteration.hpp for 16-bit images.
struct DeepDiffusion {
  using Sample = uint16_t;
  using State = float;
  using Flow = float;
  const DiffusionBlock& block;

  static void load(const uint16_t* in, float* states, size_t n) {
    vectorised([=] {
      const int count = static_cast<int>(n);
      const uint16_t* const from = in;
      float* const to = states;
      for (int i = 0; i < count; ++i) to[i] = static_cast<float>(from[i] << 8);
    });
  }
  void flows(const float* a, const float* b, float* out, size_t n) const {
    vectorised([=, lambda = block.lambda, inverse = block.deep_inverse_kappa] {
      const int count = static_cast<int>(n);
      const float one_step = lambda, scale = inverse;
      const float *const from = a, *const to = b;
      float* const flows = out;
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const float d = to[i] - from[i], q = d * scale;
        flows[i] = round_flow(one_step / (1.0f + q * q) * d);
      }
    });
  }
  static void add(const float* at, const float* left, const float* right, const float* up, const float* down,
                  float* out, size_t n) {
    vectorised([=] {
      const int count = static_cast<int>(n);
      const float *const own = at, *const west = left, *const east = right, *const north = up,
                         *const south = down;
      float* const states = out;
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const float state = own[i] + ((east[i] - west[i]) + (south[i] - north[i]));
        const float above = state < 0.0f ? 0.0f : state;
        states[i] = above > kDeepDiffusionMax ? kDeepDiffusionMax : above;
      }
    });
  }
  static void store(const float* states, const uint16_t* in, uint16_t* out, size_t n, int channels) {
    vectorised([=] {
      const int count = static_cast<int>(n);
      const float* const from = states;
      uint16_t* const to = out;
      for (int i = 0; i < count; ++i) to[i] = static_cast<uint16_t>((static_cast<int>(from[i]) + 128) >> 8);
    });
    if (channels == 4) keep_alpha(in, out, static_cast<int>(n) / 4);
  }
};

}  // namespace

size_t Diffusion::deep_worker_bytes(const ImageFormat& format) {
  return DiffusionWorker<DeepDiffusion>::bytes(format);
}

void Diffusion::iterate_deep(const PassArgs& args, Band band) const {
  const DiffusionBlock& block = block_of(args);
  const ImageFormat& format = args.in[0].format;
  diffusion_iteration(DeepDiffusion{block}, args, band, block.border,
                      state_pitch(format.row_samples(), format.format), args.step + 1 == iterations_);
}

}  // namespace lensd
