#include "kernels/mosaic/mosaic.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/device/memory.hpp"
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/tally.hpp"
#include "kernels/mosaic/mosaic_means.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/mosaic/mosaic.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Adds a row: columns[i] += row[i]. A block has at most 256 rows, whose sum fits in 16 bits.
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

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(add_row);

namespace {

size_t columns_bytes(ImageFormat format) {
  return align_up(format.row_bytes() * sizeof(uint16_t), kHostAlignment);
}

/// Returns the divisor that converts a channel's sum to a mean from 0 to 255.
double mean_divisor(const ImageFormat& format) {
  const double pixels = static_cast<double>(format.extent.width) * format.extent.height;
  return pixels * (max_sample(format.format) / 255);
}

/// Averages and fills block row `index`; adds its channel sums to `sums`.
void mosaic_block_row(ConstImageRef in, ImageRef out, int index, int block, uint8_t* worker,
                      MosaicStats& sums) {
  const int begin = index * block, end = std::min(in.height(), begin + block);
  if (in.is_deep()) return deep_mosaic_rows(in, out, begin, end, block, worker, sums);
  auto* columns = reinterpret_cast<uint16_t*>(worker);
  uint8_t* means = worker + columns_bytes(in.format);
  const size_t bytes = in.row_bytes();
  std::memset(columns, 0, bytes * sizeof(uint16_t));
  const auto add = &HWY_DYNAMIC_DISPATCH(add_row);
  for (int y = begin; y < end; ++y) add(in.row(y), bytes, columns);
  if (in.channels() == 1) {
    average_blocks<1>(columns, in.width(), block, end - begin, means, sums);
    for (int y = begin; y < end; ++y) std::memcpy(out.row(y), means, bytes);
    return;
  }
  average_blocks<4>(columns, in.width(), block, end - begin, means, sums);
  for (int y = begin; y < end; ++y) with_alpha_of(in.row(y), means, out.row(y), bytes);
}

/// Returns the block rows that begin in a band of image rows. The block size may change after planning, so
/// the pass counts image rows.
Band block_rows(Band rows, int block) {
  return {(rows.begin + block - 1) / block, (rows.end + block - 1) / block};
}

}  // namespace

FilterSchema Mosaic::make_schema() {
  return Schema<MosaicParams>("mosaic", "pixelates: every block becomes its mean")
      .integer("block", &MosaicParams::block, 2, kMosaicMaxBlock, "width and height of a block",
               {.unit = "px", .widget = Widget::log_slider})
      .build();
}

Layout Mosaic::configure(const FilterInputs& inputs) {
  format_ = inputs.images[0];
  Layout layout = single_pass(format_, cost);
  layout.passes[0].grain = 16;
  layout.worker_bytes = sample_bytes(format_.format) == 2 ? deep_mosaic_bytes(format_)
                                                          : columns_bytes(format_) + format_.row_bytes();
  layout.stats_bytes = sizeof(MosaicStats);
  return layout;
}

void Mosaic::apply(const PassArgs& args, Band band) const {
  const int block = block_of(args).block;
  const Band rows = block_rows(band, block);
  MosaicStats sums{};
  for (int i = rows.begin; i < rows.end; ++i)
    mosaic_block_row(args.in[0], args.out, i, block, args.worker, sums);
  auto& total = *static_cast<MosaicStats*>(args.stats);
  for (int c = 0; c < 3; ++c)
    std::atomic_ref<unsigned long long>(total.sums[c]).fetch_add(sums.sums[c], std::memory_order_relaxed);
}

void Mosaic::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& total = *static_cast<const MosaicStats*>(stats);
  const double pixels = mean_divisor(format_);
  const int colours = colour_channels(format_.format);
  for (int c = 0; c < colours; ++c)
    out.push_back({channel_statistic("mean", c, colours), static_cast<double>(total.sums[c]) / pixels});
}

void Mosaic::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const int block = params_.block, colours = colour_channels(in.format.format);
  run.out = in;
  uint64_t totals[3] = {};
  for (int y0 = 0; y0 < in.height(); y0 += block)
    for (int x0 = 0; x0 < in.width(); x0 += block) {
      const int y1 = std::min(in.height(), y0 + block), x1 = std::min(in.width(), x0 + block);
      for (int c = 0; c < colours; ++c) {
        uint32_t sum = 0;
        for (int y = y0; y < y1; ++y)
          for (int x = x0; x < x1; ++x) sum += static_cast<uint32_t>(in.sample(x, y, c));
        totals[c] += sum;
        const auto count = static_cast<uint32_t>((x1 - x0) * (y1 - y0));
        for (int y = y0; y < y1; ++y)
          for (int x = x0; x < x1; ++x)
            run.out.set_sample(x, y, c, static_cast<int>(rounded_mean(sum, count)));
      }
    }
  const double pixels = mean_divisor(in.format);
  run.stats.clear();
  for (int c = 0; c < colours; ++c)
    run.stats.push_back({channel_statistic("mean", c, colours), static_cast<double>(totals[c]) / pixels});
}

}  // namespace lensd
#endif
