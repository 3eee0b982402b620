#include "kernels/auto_contrast/auto_contrast.hpp"

#include <cstring>

namespace lensd {
namespace {

/// The frame's decision: new state, statistics.
void decide(const AutoContrastBlock& block, int channels, AutoContrastState& state,
            AutoContrastStats& stats) {
  for (int c = 0; c < channels; ++c) {
    const int from = block.per_channel ? c : 0, to = block.per_channel ? c + 1 : channels;
    uint64_t count[256] = {}, samples = 0;
    for (int v = 0; v < 256; ++v)
      for (int k = from; k < to; ++k) count[v] += stats.histogram.count[k][v];
    for (const uint64_t n : count) samples += n;
    const uint64_t low_limit = clip_limit(samples, block.clip_low_ppm),
                   high_limit = clip_limit(samples, block.clip_high_ppm);
    int low = 0, high = 255;
    uint64_t up_to = 0;
    for (int v = 0; v < 256; ++v) {
      up_to += count[v];
      if (is_low_end(up_to, count[v], low_limit)) low = v;
      if (is_high_end(samples, up_to, count[v], high_limit)) high = v;
    }
    move_ends(block, low, high, state.seen == 0, c, state.ends);
  }
  state.seen = 1;
  stats.ends = state.ends;
  stats.channels = static_cast<uint64_t>(channels);
}

}  // namespace

FilterSchema AutoContrast::make_schema() {
  using P = AutoContrastParams;
  return Schema<P>("auto_contrast", "stretches the histogram to the full range")
      .real("clip_low", &P::clip_low, 0, 49, "darkest samples that may become black", {.unit = "%"})
      .real("clip_high", &P::clip_high, 0, 49, "brightest samples that may become white", {.unit = "%"})
      .boolean("per_channel", &P::per_channel,
               "stretch each channel by itself, which takes a colour cast away")
      .real("smooth", &P::smooth, 0, 0.99, "part of the last frame's ends that is kept, against flicker")
      .build();
}

Layout AutoContrast::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const int height = format.extent.height;
  const double bytes = static_cast<double>(format.row_bytes()) * height;
  return {.output = format,
          .passes = {{.name = "histogram",
                      .items = height,
                      .grain = tally_grain(format.extent),
                      .bytes = bytes,
                      .operations = bytes},
                     {.name = "ends", .bytes = sizeof(Histogram), .operations = 256 * 3 * 8},
                     {.name = "apply", .items = height, .grain = 8, .bytes = 2 * bytes, .operations = bytes}},
          .scratch_bytes = {sizeof(LutTables)},
          .state_bytes = sizeof(AutoContrastState),
          .stats_bytes = sizeof(AutoContrastStats)};
}

void AutoContrast::run(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  auto& stats = *static_cast<AutoContrastStats*>(args.stats);
  auto& tables = *reinterpret_cast<LutTables*>(args.scratch[0]);
  if (args.pass == kHistogram) {
    add_histogram(in, band, stats.histogram);
  } else if (args.pass == kEnds) {
    const int channels = colour_channels(in.format.format);
    const StatePair<AutoContrastState> states = args.state_of<AutoContrastState>();
    AutoContrastState state = states.past();
    decide(block_of(args), channels, state, stats);
    *states.after() = state;
    for (int c = 0; c < channels; ++c)
      for (int v = 0; v < 256; ++v) tables.channel[c][v] = contrast_value(stats.ends, c, v);
  } else {
    apply_lut(in, args.out, tables, band);
  }
}

void AutoContrast::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& s = *static_cast<const AutoContrastStats*>(stats);
  for (uint64_t c = 0; c < s.channels; ++c) {
    const std::string suffix = s.channels == 1 ? "" : std::string("_") + "rgb"[c];
    out.push_back({"low" + suffix, s.ends.low[c]});
    out.push_back({"high" + suffix, s.ends.high[c]});
  }
}

void AutoContrast::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const int channels = colour_channels(in.format.format);
  AutoContrastStats stats{};
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < channels; ++c) ++stats.histogram.count[c][in.at(x, y, c)];
  AutoContrastState state{};
  run.state.resize(sizeof(state));
  std::memcpy(&state, run.state.data(), sizeof(state));
  decide(AutoContrastBlock::make(params_), channels, state, stats);
  std::memcpy(run.state.data(), &state, sizeof(state));
  run.out = in;
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < channels; ++c) run.out.at(x, y, c) = contrast_value(stats.ends, c, in.at(x, y, c));
  run.stats.clear();
  read_stats(&stats, run.stats);
}

}  // namespace lensd
