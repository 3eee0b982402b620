#include "kernels/median/median.hpp"

#include <algorithm>
#include <array>

#include "core/device/memory.hpp"
#include "kernels/common/border.hpp"

namespace lensd {

FilterSchema Median::make_schema() {
  Schema<MedianParams> schema("median", "middle value of the window: removes specks, keeps edges");
  schema.integer("radius", &MedianParams::radius, 1, kMedianMaxRadius, "reach of the window",
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
  const double colours = format.format == PixelFormat::rgba8 ? 0.75 : 1;
  return {.output = format,
          .passes = {{.name = "median",
                      .run = radius_ <= kMedianMergeRadius ? cpu_pass<&Median::run_columns>
                                                           : cpu_pass<&Median::run_tiles>,
                      .launch = radius_ <= kMedianNetworkRadius ? cuda_pass<&Median::launch_networks>
                                : radius_ == kMedianMergeRadius ? cuda_pass<&Median::launch_merge>
                                                                : cuda_pass<&Median::launch_tiles>,
                      .items = format.extent.height,
                      .grain = kMedianTileRows,
                      .bytes = 2 * bytes,
                      .operations = bytes * colours * operations}},
          .scratch_bytes = {},
          .worker_bytes = align_up(std::max(columns_worker_bytes(format), tiles_worker_bytes()), 64)};
}

void Median::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const int r = params_.radius, half = (2 * r + 1) * (2 * r + 1) / 2;
  run.out = in;
  for (int c = 0; c < std::min(3, in.channels()); ++c)
    for (int y = 0; y < in.height(); ++y) {
      std::array<int, 256> histogram{};  // histogram of the window, which slides along the row
      const auto count_column = [&](int x, int by) {
        const int xi = border_index(x, in.width(), params_.border);
        for (int dy = -r; dy <= r; ++dy) {
          const int yi = border_index(y + dy, in.height(), params_.border);
          histogram[xi < 0 || yi < 0 ? 0 : in.at(xi, yi, c)] += by;
        }
      };
      for (int x = -r; x < r; ++x) count_column(x, 1);
      for (int x = 0; x < in.width(); ++x) {
        count_column(x + r, 1);
        int value = 0;
        for (int at_or_below = histogram[0]; at_or_below <= half;
             at_or_below += histogram[static_cast<size_t>(value)])
          ++value;
        run.out.at(x, y, c) = static_cast<uint8_t>(value);
        count_column(x - r, -1);
      }
    }
}

}  // namespace lensd
