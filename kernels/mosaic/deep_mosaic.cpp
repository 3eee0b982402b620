#include <cstring>

#include "core/device/memory.hpp"
#include "kernels/common/vectorised.hpp"
#include "kernels/mosaic/mosaic_means.hpp"

namespace lensd {
namespace {

size_t columns_bytes(const ImageFormat& format) {
  return align_up(format.row_samples() * sizeof(uint32_t), kHostAlignment);
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
