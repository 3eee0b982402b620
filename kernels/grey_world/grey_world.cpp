#include "kernels/grey_world/grey_world.hpp"

#include <cstring>

namespace lensd {

FilterSchema GreyWorld::make_schema() {
  using P = GreyWorldParams;
  return Schema<P>("grey_world", "white balance: makes the means of the colour channels equal")
      .real("strength", &P::strength, 0, 1, "0 leaves the picture as it is")
      .real("smooth", &P::smooth, 0, 0.99, "part of the last frame's gains that is kept, against flicker")
      .build();
}

Layout GreyWorld::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const int height = format.extent.height;
  const double bytes = static_cast<double>(format.row_bytes()) * height;
  return {.output = format,
          .passes = {{.name = "sums",
                      .items = height,
                      .grain = tally_grain(format.extent),
                      .bytes = bytes,
                      .operations = bytes},
                     {.name = "gains", .bytes = sizeof(LutTables), .operations = 256 * 3 * 4},
                     {.name = "apply", .items = height, .grain = 8, .bytes = 2 * bytes, .operations = bytes}},
          .scratch_bytes = {sizeof(LutTables)},
          .state_bytes = sizeof(GreyWorldState),
          .stats_bytes = sizeof(GreyWorldStats)};
}

void GreyWorld::run(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  auto& stats = *static_cast<GreyWorldStats*>(args.stats);
  auto& tables = *reinterpret_cast<LutTables*>(args.scratch[0]);
  if (args.pass == kSums) {
    add_sums(in, band, stats.sums);
  } else if (args.pass == kGains) {
    const GreyWorldBlock& block = block_of(args);
    const int channels = colour_channels(in.format.format);
    const uint64_t pixels = static_cast<uint64_t>(in.width()) * static_cast<uint64_t>(in.height());
    const StatePair<GreyWorldState> states = args.state_of<GreyWorldState>();
    GreyWorldState state = states.past();
    grey_world_decide(block, channels, pixels, state, stats);
    *states.after() = state;
    for (int c = 0; c < channels; ++c)
      for (int v = 0; v < 256; ++v)
        tables.channel[c][v] = grey_world_value(stats.gains, c, v, block.strength);
  } else {
    apply_lut(in, args.out, tables, band);
  }
}

void GreyWorld::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& s = *static_cast<const GreyWorldStats*>(stats);
  for (uint64_t c = 0; c < s.channels; ++c) {
    const std::string suffix = s.channels == 1 ? "" : std::string("_") + "rgb"[c];
    out.push_back({"gain" + suffix, s.gains.gain[c]});
    out.push_back({"added" + suffix, s.gains.offset[c]});
    out.push_back({"mean" + suffix, s.mean[c]});
  }
}

void GreyWorld::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const int channels = colour_channels(in.format.format);
  GreyWorldStats stats{};
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < channels; ++c) stats.sums.sum[c] += in.at(x, y, c);
  GreyWorldState state{};
  run.state.resize(sizeof(state));
  std::memcpy(&state, run.state.data(), sizeof(state));
  grey_world_decide(GreyWorldBlock::make(params_), channels,
                    static_cast<uint64_t>(in.width()) * static_cast<uint64_t>(in.height()), state, stats);
  std::memcpy(run.state.data(), &state, sizeof(state));
  run.out = in;
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < channels; ++c)
        run.out.at(x, y, c) = grey_world_value(stats.gains, c, in.at(x, y, c), params_.strength);
  run.stats.clear();
  read_stats(&stats, run.stats);
}

}  // namespace lensd
