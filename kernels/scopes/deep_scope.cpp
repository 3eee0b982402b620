#include "kernels/scopes/deep_scope.hpp"

#include <cstring>

#include "kernels/common/add_shared.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {

void deep_levels_row(const uint16_t* from, uint16_t* to, int samples) {
  vectorised([from, to, samples] {
    const uint16_t* __restrict in = from;
    uint16_t* __restrict out = to;
    for (int i = 0; i < samples; ++i) out[i] = static_cast<uint16_t>(deep_bin(in[i]));
  });
}

void deep_luma_levels_row(const uint16_t* from, int channels, uint16_t* to, int pixels,
                          const LumaBlock& weights) {
  if (channels == 1) return deep_levels_row(from, to, pixels);
  vectorised([from, to, pixels, &weights] {
    const LumaBlock w = weights;
    const uint16_t* __restrict in = from;
    uint16_t* __restrict out = to;
    for (int x = 0; x < pixels; ++x)
      out[x] = static_cast<uint16_t>(deep_bin(luma16(w, in[4 * x], in[4 * x + 1], in[4 * x + 2])));
  });
}

void DeepChromaTable::clear() {
  std::memset(used, 0, sizeof(used));
}

void DeepChromaTable::add(const uint32_t* places, int pixels) {
  for (int x = 0; x < pixels; ++x) {
    const uint32_t place = places[x], tile = place / kTileCounters;
    if (!used[tile]) {
      used[tile] = true;
      std::memset(count + tile * kTileCounters, 0, kTileCounters * sizeof(count[0]));
    }
    ++count[place];
  }
}

void DeepChromaTable::add_to(uint32_t* total) const {
  for (int tile = 0; tile < kTiles; ++tile) {
    if (!used[tile]) continue;
    const uint32_t* const from = count + tile * kTileCounters;
    uint32_t* const corner = total + tile / 32 * 32 * 1024 + tile % 32 * 32;
    for (int i = 0; i < kTileCounters; ++i) add_shared(corner[i / 32 * 1024 + i % 32], from[i]);
  }
}

}  // namespace lensd
