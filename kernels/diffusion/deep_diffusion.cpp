// diffusion of 16-bit images on the CPU: states are integers, which floats hold exactly.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/common/border/border.hpp"
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/vectorised.hpp"
#include "kernels/diffusion/diffusion.hpp"

namespace lensd {
namespace {

/// Private memory of a worker: two rows of states with a pixel of border, three rows of flows, and a result
/// row.
struct DeepDiffusionWorker {
  float *at, *below, *done, *across, *up, *down;

  static size_t values(const ImageFormat& f) { return (f.row_samples() + 8 + 63) / 64 * 64; }
  DeepDiffusionWorker(uint8_t* memory, const ImageFormat& f) {
    const size_t n = values(f);
    auto* const first = reinterpret_cast<float*>(memory);
    at = first, below = first + n, done = first + 2 * n;
    across = first + 3 * n, up = first + 4 * n, down = first + 5 * n;
  }
};

/// Input of an iteration: the picture, or states in scratch memory.
struct DeepDiffusionSource {
  ConstImageRef image;
  const uint8_t* states;  ///< states in scratch memory; null: use the picture
  size_t pitch;
  Border border;

  /// Loads row y by the border rule, with a pixel of border on both sides.
  void load(int y, float* to) const {
    const int width = image.width(), ch = image.channels(), inside = border_index(y, image.height(), border);
    const int n = width * ch;
    float* const first = to + ch;
    if (inside < 0) {
      std::fill_n(to, n + 2 * ch, 0.0f);
      return;
    }
    if (states) {
      std::memcpy(first, states + pitch * static_cast<size_t>(inside),
                  static_cast<size_t>(n) * sizeof(float));
    } else {
      const uint16_t* const row = image.samples<uint16_t>(inside);
      vectorised([first, row, n] {
        const int count = n;
        for (int i = 0; i < count; ++i) first[i] = static_cast<float>(row[i] << 8);
      });
    }
    const int left = border_index(-1, width, border), right = border_index(width, width, border);
    for (int c = 0; c < ch; ++c) {
      to[c] = left < 0 ? 0.0f : first[left * ch + c];
      first[n + c] = right < 0 ? 0.0f : first[right * ch + c];
    }
  }
};

/// Computes out[i] = diffusion_flow(a[i], b[i]) for i < n.
void deep_flows(const float* a, const float* b, float* out, int n, const DiffusionBlock& block) {
  vectorised([=, lambda = block.lambda, inverse = block.deep_inverse_kappa] {
    const int count = n;
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

/// Computes the new states of row w.at. left[i] is the flow from value i to its left neighbour, and right[i]
/// that from the right neighbour to value i; likewise `up` and `down`.
void deep_add(const DeepDiffusionWorker& w, int ch, float* states, int n) {
  vectorised([=] {
    const int count = n;
    const float *const at = w.at + ch, *const left = w.across, *const right = w.across + ch;
    const float *const up = w.up, *const down = w.down;
    float* const out = states;
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      const float state = at[i] + ((right[i] - left[i]) + (down[i] - up[i]));
      const float above = state < 0.0f ? 0.0f : state;
      out[i] = above > kDeepDiffusionMost ? kDeepDiffusionMost : above;
    }
  });
}

void deep_values(const float* states, uint16_t* out, int n) {
  vectorised([=] {
    const int count = n;
    const float* const from = states;
    uint16_t* const to = out;
    for (int i = 0; i < count; ++i) to[i] = static_cast<uint16_t>((static_cast<int>(from[i]) + 128) >> 8);
  });
}

}  // namespace

size_t Diffusion::deep_worker_bytes(const ImageFormat& format) {
  return 6 * DeepDiffusionWorker::values(format) * sizeof(float);
}

void Diffusion::iterate_deep(const PassArgs& args, Band band) const {
  const DiffusionBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  const int ch = in.channels(), n = in.width() * ch;
  const size_t pitch = state_pitch(in.format.row_samples(), in.format.format);
  const DeepDiffusionSource source{
      in, args.step == 0 ? nullptr : args.scratch[static_cast<size_t>((args.step - 1) & 1)], pitch,
      block.border};
  const bool last = args.step + 1 == iterations_;

  DeepDiffusionWorker w(args.worker, in.format);
  source.load(band.begin - 1, w.at);
  source.load(band.begin, w.below);
  deep_flows(w.at + ch, w.below + ch, w.up, n, block);
  std::swap(w.at, w.below);
  for (int y = band.begin; y < band.end; ++y) {
    source.load(y + 1, w.below);
    deep_flows(w.at + ch, w.below + ch, w.down, n, block);
    deep_flows(w.at, w.at + ch, w.across, n + ch, block);
    float* const states = last ? w.done
                               : reinterpret_cast<float*>(args.scratch[static_cast<size_t>(args.step & 1)] +
                                                          pitch * static_cast<size_t>(y));
    deep_add(w, ch, states, n);
    if (last) {
      deep_values(states, args.out.samples<uint16_t>(y), n);
      if (ch == 4) keep_alpha(in.samples<uint16_t>(y), args.out.samples<uint16_t>(y), in.width());
    }
    std::swap(w.at, w.below), std::swap(w.up, w.down);
  }
}

}  // namespace lensd
