// Access to RGBA16 pixels: one 8-byte access per pixel where rows are aligned to 8 bytes, else one access per
// sample.
#pragma once

#include "kernels/common/launch.cuh"

namespace lensd {

struct DeepPixel {
  uint16_t v[4];
};

__device__ inline DeepPixel load_deep(const uint16_t* p, bool aligned) {
  if (!aligned) return {{p[0], p[1], p[2], p[3]}};
  const ushort4 v = *reinterpret_cast<const ushort4*>(p);
  return {{v.x, v.y, v.z, v.w}};
}

__device__ inline void store_deep(uint16_t* p, const DeepPixel& v, bool aligned) {
  if (aligned) {
    *reinterpret_cast<ushort4*>(p) = make_ushort4(v.v[0], v.v[1], v.v[2], v.v[3]);
    return;
  }
  for (int i = 0; i < 4; ++i) p[i] = v.v[i];
}

}  // namespace lensd
