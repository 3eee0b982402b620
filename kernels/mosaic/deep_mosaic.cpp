#include <algorithm>
#include <cstring>

#include "core/device/memory.hpp"
#include "kernels/common/vectorised.hpp"
#include "kernels/mosaic/mosaic.hpp"

namespace lensd {
namespace {

size_t columns_bytes(const ImageFormat& format) {
  return align_up(format.row_samples() * sizeof(uint32_t), kHostAlignment);
}

/// Computes the means of a row of blocks, which are `rows` pixels high, from their column sums. means[i]
/// receives the mean of the block that contains sample i of a row. Adds the sums to `stats`.
template <int kChannels>
void average_blocks(const uint32_t* columns, int width, int block, int rows, uint16_t* means,
                    MosaicStats& stats) {
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  for (int x = 0; x < width; x += block) {
    const int end = std::min(width, x + block);
    uint32_t sums[kChannels] = {};
    for (int i = x; i < end; ++i)
      for (int c = 0; c < kColours; ++c) sums[c] += columns[i * kChannels + c];
    uint16_t pixel[kChannels] = {};
    for (int c = 0; c < kColours; ++c) {
      pixel[c] = static_cast<uint16_t>(rounded_mean(sums[c], static_cast<uint32_t>((end - x) * rows)));
      stats.sums[c] += sums[c];
    }
    for (int i = x; i < end; ++i) std::memcpy(means + i * kChannels, pixel, sizeof pixel);
  }
}

}  // namespace

size_t deep_mosaic_bytes(const ImageFormat& format) {
  return columns_bytes(format) + format.row_bytes();
}

void deep_mosaic_rows(ConstImageRef in, ImageRef out, int begin, int end, int block, uint8_t* worker,
                      MosaicStats& sums) {
  auto* const columns = reinterpret_cast<uint32_t*>(worker);
  auto* const means = reinterpret_cast<uint16_t*>(worker + columns_bytes(in.format));
  const int n = static_cast<int>(in.format.row_samples());
  std::memset(columns, 0, static_cast<size_t>(n) * sizeof(uint32_t));
  vectorised([=, &in] {
    const int count = n;  // a copy, so that stores cannot change it
    for (int y = begin; y < end; ++y) {
      const uint16_t* const row = in.samples<uint16_t>(y);
      uint32_t* const to = columns;
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) to[i] += row[i];
    }
  });
  if (in.channels() == 1) {
    average_blocks<1>(columns, in.width(), block, end - begin, means, sums);
    for (int y = begin; y < end; ++y) std::memcpy(out.row(y), means, in.row_bytes());
    return;
  }
  average_blocks<4>(columns, in.width(), block, end - begin, means, sums);
  vectorised([=, &in, &out] {
    constexpr uint64_t kAlpha = uint64_t{65535} << 48;
    const int width = in.width();
    for (int y = begin; y < end; ++y) {
      const uint8_t *const from = in.row(y), *const mean = reinterpret_cast<const uint8_t*>(means);
      uint8_t* const to = out.row(y);
#pragma GCC ivdep
      for (int x = 0; x < width; ++x) {
        uint64_t own, pixel;
        std::memcpy(&own, from + 8 * x, 8), std::memcpy(&pixel, mean + 8 * x, 8);
        pixel = (own & kAlpha) | (pixel & ~kAlpha);
        std::memcpy(to + 8 * x, &pixel, 8);
      }
    }
  });
}

}  // namespace lensd
