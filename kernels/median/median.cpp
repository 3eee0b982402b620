#include "kernels/median/median.hpp"

#include <algorithm>
#include <vector>

#include "core/device/memory.hpp"
#include "kernels/common/border/border.hpp"
#include "kernels/common/samples.hpp"

namespace lensd {

FilterSchema Median::make_schema() {
  Schema<MedianParams> schema("median", "removes noise, keeps edges: the middle value of the window");
  schema.integer("radius", &MedianParams::radius, 1, kMedianMaxRadius,
                 "half the side of the window, which is 2·radius + 1 wide",
                 {.unit = "px", .change = ParamChange::reconfigure});
  return add_border(schema, &MedianParams::border).build();
}

Layout Median::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const double bytes = static_cast<double>(format.row_bytes()) * format.extent.height;
  // `operations`: minima and maxima per sample, with shared columns as on CUDA. From radius 3 on, it is a
  // lower bound.
  radius_ = params_.radius;
  const double operations = radius_ == 1 ? 17 : 87;
  const double colours = is_gray(format.format) ? 1 : 0.75;
  const bool deep = sample_bytes(format.format) == 2, ranks = deep && radius_ > kMedianMergeRadius;
  return {
      .output = format,
      .passes = {{.name = "median",
                  .run = radius_ <= kMedianMergeRadius ? cpu_pass<&Median::run_columns>
                         : ranks                       ? cpu_pass<&Median::run_ranks>
                                                       : cpu_pass<&Median::run_tiles>,
                  .launch = radius_ <= kMedianNetworkRadius ? (deep ? cuda_pass<&Median::launch_deep_networks>
                                                                    : cuda_pass<&Median::launch_networks>)
                            : radius_ == kMedianMergeRadius ? cuda_pass<&Median::launch_merge>
                            : ranks                         ? cuda_pass<&Median::launch_ranks>
                                                            : cuda_pass<&Median::launch_tiles>,
                  .items = format.extent.height,
                  .grain = ranks ? kMedianRankRows : kMedianTileRows,
                  .bytes = 2 * bytes,
                  .operations = static_cast<double>(format.row_samples()) * format.extent.height * colours *
                                operations}},
      .scratch_bytes = {},
      .worker_bytes = align_up(
          std::max(columns_worker_bytes(format), deep ? ranks_worker_bytes() : tiles_worker_bytes()), 64)};
}

void Median::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const int r = params_.radius, half = (2 * r + 1) * (2 * r + 1) / 2;
  run.out = in;
  // Histograms of the window by high byte and by value. The window slides along the row.
  std::vector<int> highs(256), values(65536);
  const int shift = in.is_deep() ? 8 : 0;
  for (int c = 0; c < colour_channels(in.format.format); ++c)
    for (int y = 0; y < in.height(); ++y) {
      std::fill(highs.begin(), highs.end(), 0), std::fill(values.begin(), values.end(), 0);
      const auto count_column = [&](int x, int by) {
        const int xi = border_index(x, in.width(), params_.border);
        for (int dy = -r; dy <= r; ++dy) {
          const int yi = border_index(y + dy, in.height(), params_.border);
          const int value = xi < 0 || yi < 0 ? 0 : in.sample(xi, yi, c);
          highs[static_cast<size_t>(value >> shift)] += by, values[static_cast<size_t>(value)] += by;
        }
      };
      const auto median = [&] {
        size_t high = 0, below = 0;
        const auto rank = static_cast<size_t>(half);
        while (below + static_cast<size_t>(highs[high]) <= rank) below += static_cast<size_t>(highs[high++]);
        size_t value = high << shift;
        while (below + static_cast<size_t>(values[value]) <= rank)
          below += static_cast<size_t>(values[value++]);
        return static_cast<int>(value);
      };
      for (int x = -r; x < r; ++x) count_column(x, 1);
      for (int x = 0; x < in.width(); ++x) {
        count_column(x + r, 1);
        run.out.set_sample(x, y, c, median());
        count_column(x - r, -1);
      }
    }
}

}  // namespace lensd
