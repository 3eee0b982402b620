// Exact means on CUDA: sums over footprints. Sums are integers, so any order gives the same result.
#pragma once

#include "kernels/common/launch.cuh"
#include "kernels/resize/resize.hpp"

namespace lensd {

template <class Sample>
struct AreaArgs {
  AreaAxis x, y;
  uint64_t total;  ///< sum of a footprint's weights
  bool aligned;    ///< RGBA pixels of the input can be loaded as one word
  ImageView<const Sample> in;
  ImageView<Sample> out;
};

template <class Sample>
AreaArgs<Sample> area_args(const ResizeGeometry& g, const PassArgs& args) {
  const AreaAxis x = AreaAxis::make(g.x), y = AreaAxis::make(g.y);
  return {x,
          y,
          static_cast<uint64_t>(x.n) * static_cast<uint64_t>(y.n),
          rows_aligned(args.in[0], 4 * sizeof(Sample)),
          args.in[0].as<const Sample>(),
          args.out.as<Sample>()};
}

/// Returns sum / total, rounded half up.
template <class Sample>
__device__ Sample area_value(uint64_t sum, uint64_t total) {
  if constexpr (sizeof(Sample) == 2) return deep_area_mean(sum, total);
  if (total < (uint64_t{1} << 24)) {  // sum ≤ 255 · total, so sum + total / 2 fits in 32 bits
    const uint32_t weights = static_cast<uint32_t>(total);
    return static_cast<Sample>((static_cast<uint32_t>(sum) + weights / 2) / weights);
  }
  return static_cast<Sample>(area_mean(sum, total));
}

template <int kChannels>
__device__ void load_pixel(const uint8_t* row, int x, bool aligned, uint32_t* v) {
  if (kChannels == 1) {
    v[0] = row[x];
    return;
  }
  const uint32_t pixel = load_word(row + 4 * x, aligned);
  for (int c = 0; c < kChannels; ++c) v[c] = (pixel >> (8 * c)) & 255;
}

template <int kChannels>
__device__ void load_pixel(const uint16_t* row, int x, bool aligned, uint32_t* v) {
  if (kChannels == 4 && aligned) {
    const uint2 pixel = *reinterpret_cast<const uint2*>(row + 4 * x);
    for (int c = 0; c < kChannels; ++c) v[c] = ((c < 2 ? pixel.x : pixel.y) >> (16 * (c & 1))) & 0xffff;
    return;
  }
  for (int c = 0; c < kChannels; ++c) v[c] = row[kChannels * x + c];
}

/// Some samples of the footprint of output (x, y): in rows begin_y, begin_y + step_y, … before end_y, columns
/// begin_x, begin_x + step_x, … before end_x.
struct AreaPart {
  int x, y;
  int begin_x, end_x, step_x, begin_y, end_y, step_y;

  template <class Sample>
  __device__ static AreaPart whole(const AreaArgs<Sample>& a, int x, int y) {
    return {x, y, a.x.first(x), a.x.last(x) + 1, 1, a.y.first(y), a.y.last(y) + 1, 1};
  }
};

/// Adds the weighted samples to `sum`. The weights of a row sum to at most 2^14, so a row's sum of 16-bit
/// samples is below 2^30.
template <class Sample, int kChannels>
__device__ void add_footprint(const AreaArgs<Sample>& a, const AreaPart& part,
                              unsigned long long (&sum)[kChannels]) {
  for (int sy = part.begin_y; sy < part.end_y; sy += part.step_y) {
    const Sample* line = a.in.row(sy);
    uint32_t across[kChannels] = {}, v[kChannels];
    for (int sx = part.begin_x; sx < part.end_x; sx += part.step_x) {
      const uint32_t weight = static_cast<uint32_t>(a.x.weight(part.x, sx));
      load_pixel<kChannels>(line, sx, a.aligned, v);
      for (int c = 0; c < kChannels; ++c) across[c] += weight * v[c];
    }
    const uint64_t down = static_cast<uint64_t>(a.y.weight(part.y, sy));
    for (int c = 0; c < kChannels; ++c) sum[c] += down * across[c];
  }
}

}  // namespace lensd
