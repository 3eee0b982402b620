#include "kernels/scopes/deep_scope.hpp"

#include "kernels/common/vectorised.hpp"

namespace lensd {

void deep_bytes_row(const uint16_t* from, uint8_t* to, int samples) {
  vectorised([from, to, samples] {
    const uint16_t* __restrict in = from;
    uint8_t* __restrict out = to;
    for (int i = 0; i < samples; ++i) out[i] = to_byte(in[i]);
  });
}

void deep_luma_row(const uint16_t* from, int channels, uint8_t* to, int pixels, const LumaBlock& weights) {
  if (channels == 1) return deep_bytes_row(from, to, pixels);
  vectorised([from, to, pixels, &weights] {
    const LumaBlock w = weights;
    const uint16_t* __restrict in = from;
    uint8_t* __restrict out = to;
    for (int x = 0; x < pixels; ++x) out[x] = to_byte(luma16(w, in[4 * x], in[4 * x + 1], in[4 * x + 2]));
  });
}

void deep_chroma_row(const uint16_t* rgba, uint16_t* index, int pixels, const ScopeBlock& block) {
  vectorised([rgba, index, pixels, &block] {
    const ScopeBlock b = block;
    const uint16_t* __restrict in = rgba;
    uint16_t* __restrict out = index;
    for (int x = 0; x < pixels; ++x)
      out[x] = static_cast<uint16_t>(deep_chroma_index(b, in[4 * x], in[4 * x + 1], in[4 * x + 2]));
  });
}

}  // namespace lensd
