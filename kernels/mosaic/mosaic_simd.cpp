#include "kernels/mosaic/mosaic_simd.hpp"

#include <algorithm>
#include <cstring>

#include "core/device/memory.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mosaic/mosaic_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// columns[i] += row[i]; a block has at most 256 rows, whose sum fits 16 bits.
void add_row(const uint8_t* row, size_t bytes, uint16_t* columns) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const size_t lanes = hn::Lanes(d16);
  size_t i = 0;
  for (; i + lanes <= bytes; i += lanes)
    hn::StoreU(hn::Add(hn::LoadU(d16, columns + i), hn::PromoteTo(d16, hn::LoadU(d8, row + i))), d16,
               columns + i);
  for (; i < bytes; ++i) columns[i] = static_cast<uint16_t>(columns[i] + row[i]);
}

/// out = means with the input's alpha.
void fill_row(const uint8_t* means, const uint8_t* in, size_t bytes, uint8_t* out) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const auto alpha = hn::BitCast(d8, hn::Set(d32, 0xff000000u));
  const size_t lanes = hn::Lanes(d8);
  size_t i = 0;
  for (; i + lanes <= bytes; i += lanes) {
    const auto kept = hn::And(alpha, hn::LoadU(d8, in + i));
    hn::StoreU(hn::Or(kept, hn::AndNot(alpha, hn::LoadU(d8, means + i))), d8, out + i);
  }
  for (; i < bytes; ++i) out[i] = i % 4 == 3 ? in[i] : means[i];
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(add_row);
HWY_EXPORT(fill_row);

namespace {

size_t columns_bytes(ImageFormat format) {
  return align_up(format.row_bytes() * sizeof(uint16_t), kHostAlignment);
}

/// Means of the blocks of a row out of its column sums, written for each pixel.
template <int kChannels>
void average_blocks(const uint16_t* columns, int width, int block, int rows, uint8_t* means,
                    MosaicStats& stats) {
  constexpr int kColours = kChannels == 4 ? 3 : 1;
  for (int x = 0; x < width; x += block) {
    const int end = std::min(width, x + block);
    uint32_t sums[kChannels] = {};
    for (int i = x; i < end; ++i)
      for (int c = 0; c < kColours; ++c) sums[c] += columns[i * kChannels + c];
    uint8_t pixel[kChannels] = {};
    for (int c = 0; c < kColours; ++c) {
      pixel[c] = static_cast<uint8_t>(rounded_mean(sums[c], static_cast<uint32_t>((end - x) * rows)));
      stats.sums[c] += sums[c];
    }
    for (int i = x; i < end; ++i) std::memcpy(means + i * kChannels, pixel, kChannels);
  }
}

}  // namespace

size_t mosaic_worker_bytes(ImageFormat format) {
  return columns_bytes(format) + format.row_bytes();
}

void mosaic_block_row(ConstImageRef in, ImageRef out, int index, int block, uint8_t* worker,
                      MosaicStats& sums) {
  auto* columns = reinterpret_cast<uint16_t*>(worker);
  uint8_t* means = worker + columns_bytes(in.format);
  const size_t bytes = in.row_bytes();
  const int begin = index * block, end = std::min(in.height(), begin + block);
  std::memset(columns, 0, bytes * sizeof(uint16_t));
  const auto add = &HWY_DYNAMIC_DISPATCH(add_row);
  for (int y = begin; y < end; ++y) add(in.row(y), bytes, columns);
  if (in.channels() == 1) {
    average_blocks<1>(columns, in.width(), block, end - begin, means, sums);
    for (int y = begin; y < end; ++y) std::memcpy(out.row(y), means, bytes);
    return;
  }
  average_blocks<4>(columns, in.width(), block, end - begin, means, sums);
  const auto fill = &HWY_DYNAMIC_DISPATCH(fill_row);
  for (int y = begin; y < end; ++y) fill(means, in.row(y), bytes, out.row(y));
}

}  // namespace lensd
#endif
