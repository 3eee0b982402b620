#include "kernels/align_channels/align_channels.hpp"

namespace lensd {

FilterSchema AlignChannels::make_schema() {
  const Schema<AlignParams>::Options pixels{.unit = "px", .change = ParamChange::reconfigure};
  const Schema<AlignParams>::Options plain{.change = ParamChange::reconfigure};
  return Schema<AlignParams>("align_channels", "removes the shift of red and blue against green")
      .integer("max_shift", &AlignParams::max_shift, 0, kAlignMaxShift, "maximum shift in x and in y", pixels)
      .integer("levels", &AlignParams::levels, 1, kAlignMaxLevels,
               "pyramid levels of the search; 1 tries every shift at full size", plain)
      .build();
}

Layout AlignChannels::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  geometry_ = AlignGeometry::make(params_, format);
  const AlignGeometry& g = geometry_;
  const auto pixels = [&](int l) {
    return static_cast<double>(g.level[l].extent.width) * g.level[l].extent.height;
  };
  const double sample = sample_bytes(format.format);
  Layout layout{.output = format,
                .passes = {},
                .scratch_bytes = {g.plane_offset(g.levels), AlignWork::bytes(g)},
                .stats_bytes = sizeof(AlignStats)};
  layout.passes.push_back({.name = "split",
                           .run = cpu_pass<&AlignChannels::split>,
                           .launch = cuda_pass<&AlignChannels::launch_split>,
                           .items = format.extent.height,
                           .grain = 16,
                           .bytes = 7 * sample * pixels(0)});
  for (int l = 1; l < g.levels; ++l)
    layout.passes.push_back({.name = "shrink",
                             .run = cpu_pass<&AlignChannels::shrink>,
                             .launch = cuda_pass<&AlignChannels::launch_shrink>,
                             .step = l,
                             .items = g.level[l].extent.height,
                             .grain = 16,
                             .bytes = 3 * sample * (pixels(l) + pixels(l - 1)),
                             .operations = 12 * pixels(l)});
  for (int l = g.levels - 1; l >= 0; --l)
    layout.passes.push_back({.name = "score",
                             .run = cpu_pass<&AlignChannels::score>,
                             .launch = cuda_pass<&AlignChannels::launch_score>,
                             .step = l,
                             .items = g.level[l].extent.height - 2 * g.level[l].margin_y,
                             .grain = 16,
                             .bytes = 3 * sample * pixels(l),
                             .operations = 10.0 * g.level[l].candidates() * pixels(l)});
  layout.passes.push_back({.name = "shift",
                           .run = cpu_pass<&AlignChannels::shift>,
                           .launch = cuda_pass<&AlignChannels::launch_shift>,
                           .items = format.extent.height,
                           .grain = 16,
                           .bytes = 8 * sample * pixels(0)});
  return layout;
}

uint8_t* AlignChannels::plane(const PassArgs& args, int level, int channel) const {
  return args.scratch[0] + geometry_.plane_offset(level) +
         static_cast<size_t>(channel) * geometry_.level[level].plane_bytes();
}

void AlignChannels::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& shift = static_cast<const AlignStats*>(stats)->shift;
  out.push_back({"red_x", static_cast<double>(shift[0].x)});
  out.push_back({"red_y", static_cast<double>(shift[0].y)});
  out.push_back({"blue_x", static_cast<double>(shift[1].x)});
  out.push_back({"blue_y", static_cast<double>(shift[1].y)});
}

}  // namespace lensd
