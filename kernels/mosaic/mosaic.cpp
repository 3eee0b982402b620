#include "kernels/mosaic/mosaic.hpp"

#include <algorithm>
#include <atomic>

#include "kernels/mosaic/mosaic_simd.hpp"

namespace lensd {
namespace {

/// Rows of blocks are counted by run() itself: the items are image rows in grains of one block, which at plan
/// time may have another size than at run time. A band takes the block rows that begin in it.
Band block_rows(Band rows, int block) {
  return {(rows.begin + block - 1) / block, (rows.end + block - 1) / block};
}

}  // namespace

FilterSchema Mosaic::make_schema() {
  return Schema<MosaicParams>("mosaic", "every block becomes its mean")
      .integer("block", &MosaicParams::block, 2, kMosaicMaxBlock, "width and height of a block",
               {.unit = "px", .widget = Widget::log_slider})
      .build();
}

Layout Mosaic::configure(const FilterInputs& inputs) {
  format_ = inputs.images[0];
  const double bytes = static_cast<double>(format_.row_bytes()) * format_.extent.height;
  return {.output = format_,
          .passes = {{.name = "mosaic",
                      .items = format_.extent.height,
                      .grain = 16,
                      .bytes = 2 * bytes,
                      .operations = bytes}},
          .scratch_bytes = {},
          .worker_bytes = mosaic_worker_bytes(format_),
          .stats_bytes = sizeof(MosaicStats)};
}

void Mosaic::run(const PassArgs& args, Band band) const {
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
  const double pixels = static_cast<double>(format_.extent.width) * format_.extent.height;
  if (format_.format == PixelFormat::gray8) {
    out.push_back({"mean", static_cast<double>(total.sums[0]) / pixels});
    return;
  }
  const char* names[] = {"mean_r", "mean_g", "mean_b"};
  for (int c = 0; c < 3; ++c) out.push_back({names[c], static_cast<double>(total.sums[c]) / pixels});
}

void Mosaic::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const int block = params_.block, colours = std::min(3, in.channels());
  run.out = in;
  uint64_t totals[3] = {};
  for (int y0 = 0; y0 < in.height(); y0 += block)
    for (int x0 = 0; x0 < in.width(); x0 += block) {
      const int y1 = std::min(in.height(), y0 + block), x1 = std::min(in.width(), x0 + block);
      for (int c = 0; c < colours; ++c) {
        uint32_t sum = 0;
        for (int y = y0; y < y1; ++y)
          for (int x = x0; x < x1; ++x) sum += in.at(x, y, c);
        totals[c] += sum;
        const auto count = static_cast<uint32_t>((x1 - x0) * (y1 - y0));
        for (int y = y0; y < y1; ++y)
          for (int x = x0; x < x1; ++x) run.out.at(x, y, c) = static_cast<uint8_t>(rounded_mean(sum, count));
      }
    }
  const double pixels = static_cast<double>(in.width()) * in.height();
  const char* names[] = {"mean_r", "mean_g", "mean_b"};
  run.stats.clear();
  for (int c = 0; c < colours; ++c)
    run.stats.push_back({colours == 1 ? "mean" : names[c], static_cast<double>(totals[c]) / pixels});
}

}  // namespace lensd
