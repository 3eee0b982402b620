// Filters that map each channel by a table computed from statistics of the whole frame.
//
//   count: histogram or sums ──▶ decide: statistics and state ──▶ table ──▶ apply: out = table[in]
//
// Self defines
//   count_name, decide_name: the names of these passes;
//   static void decide(const B&, const TableInput&, State&, Stats&): updates State and Stats;
//   static void reference_decide(const B&, const Image&, State&, Stats&): does the same for the oracle, from
//       the image;
//   static uint8_t table_value(const B&, const Stats&, int c, int v): returns entry v of channel c's table;
//   static AffineMap affine(const B&, const Stats&, int c): returns the map that 16-bit images use instead of
//       channel c's table;
//   void launch_decide(const PassArgs&, CudaStream) const: queues decide() and the table on CUDA.
//
// Stats begins with `tally`, a type of tally.hpp. State is all zeros before the first frame.
#pragma once

#include <cstring>

#include "core/graph/filter.hpp"
#include "kernels/common/table/lut.hpp"
#include "kernels/common/tally.hpp"

namespace lensd {

inline uint64_t pixel_count(const ImageFormat& format) {
  return static_cast<uint64_t>(format.extent.width) * static_cast<uint64_t>(format.extent.height);
}

/// Properties of the image for decide(). `most`: white, 255 or 65535.
struct TableInput {
  int channels;
  uint64_t pixels;
  uint32_t most;

  explicit TableInput(const ImageFormat& format)
      : channels(colour_channels(format.format)),
        pixels(pixel_count(format)),
        most(static_cast<uint32_t>(max_sample(format.format))) {}
};

/// Maps a 16-bit sample v to scale · (v − base) + offset, rounded to nearest and clamped to 0 … 65535. Each
/// operation is in single precision, rounded as in IEEE 754. `base` is an integer from 0 to 65535, so the
/// difference is exact. Without it, scale · v and the offset would lose digits if `scale` is large.
struct AffineMap {
  float base, scale, offset;
  LENSD_HD uint32_t operator()(uint32_t v) const {
    const float mapped = scale * (static_cast<float>(v) - base) + offset;
    const float limited = mapped < 0.f ? 0.f : mapped > 65535.f ? 65535.f : mapped;
    return static_cast<uint32_t>(static_cast<int>(limited + 0.5f));
  }
};

/// The maps of R, G and B, which 16-bit images have in scratch memory instead of the tables. For grey, the
/// CPU uses all four maps, which are equal, and CUDA uses the first.
struct AffineMaps {
  AffineMap channel[4];
};

/// Applies the maps to the band of a 16-bit image; copies alpha.
void apply_maps(const ConstImageRef& in, const ImageRef& out, const AffineMaps& maps, Band band);
/// Queues the application of the maps to a whole 16-bit image on CUDA. `maps` is in device memory.
void launch_maps(const ConstImageRef& in, const ImageRef& out, const AffineMaps* maps, CudaStream stream);

template <class Self, class P, class B, class State, class Stats>
class TableFilter : public FilterBase<Self, P, B> {
 public:
  Layout configure(const FilterInputs& inputs) override {
    const ImageFormat format = inputs.images[0];
    const int height = format.extent.height;
    const double bytes = static_cast<double>(format.row_bytes()) * height;
    return {.output = format,
            .passes = {{.name = Self::count_name,
                        .run = cpu_pass<&TableFilter::count>,
                        .launch = cuda_pass<&TableFilter::launch_count>,
                        .items = height,
                        .grain = tally_grain(format.extent),
                        .bytes = bytes,
                        .operations = bytes},
                       {.name = Self::decide_name,
                        .run = cpu_pass<&TableFilter::run_decide>,
                        .launch = cuda_pass<&Self::launch_decide>,
                        .bytes = sizeof(Stats) + sizeof(LutTables),
                        .operations = 256 * 3 * 8},
                       {.name = "apply",
                        .run = cpu_pass<&TableFilter::apply>,
                        .launch = cuda_pass<&TableFilter::launch_apply>,
                        .items = height,
                        .grain = 8,
                        .bytes = 2 * bytes,
                        .operations = bytes}},
            .scratch_bytes = {sizeof(LutTables)},
            .state_bytes = sizeof(State),
            .stats_bytes = sizeof(Stats)};
  }

  void reference(ReferenceRun& run) const override {
    const Image& in = run.in[0];
    const Extent extent = in.format.extent;
    const int channels = colour_channels(in.format.format);
    const B block = B::make(this->params_);
    Stats stats{};
    State state{};
    run.state.resize(sizeof(state));
    std::memcpy(&state, run.state.data(), sizeof(state));
    Self::reference_decide(block, in, state, stats);
    std::memcpy(run.state.data(), &state, sizeof(state));
    run.out = in;
    for_each_sample(extent, channels, [&](int x, int y, int c) {
      const int v = in.sample(x, y, c);
      run.out.set_sample(x, y, c,
                         in.is_deep()
                             ? static_cast<int>(Self::affine(block, stats, c)(static_cast<uint32_t>(v)))
                             : Self::table_value(block, stats, c, v));
    });
    run.stats.clear();
    this->read_stats(&stats, run.stats);
  }

 protected:
  static Stats* stats_of(const PassArgs& args) { return static_cast<Stats*>(args.stats); }
  static LutTables* tables_of(const PassArgs& args) { return reinterpret_cast<LutTables*>(args.scratch[0]); }
  static AffineMaps* maps_of(const PassArgs& args) { return reinterpret_cast<AffineMaps*>(args.scratch[0]); }
  static const B* device_block(const PassArgs& args) { return static_cast<const B*>(args.block); }

 private:
  void count(const PassArgs& args, Band band) const { add_tally(args.in[0], band, stats_of(args)->tally); }
  void run_decide(const PassArgs& args, Band) const {
    const B& block = TableFilter::block_of(args);
    const int channels = colour_channels(args.in[0].format.format);
    const StatePair<State> states = args.state_of<State>();
    State state = states.past();
    Self::decide(block, TableInput(args.in[0].format), state, *stats_of(args));
    *states.after() = state;
    if (args.in[0].is_deep()) {
      for (int c = 0; c < 4; ++c)
        maps_of(args)->channel[c] = Self::affine(block, *stats_of(args), channels == 1 || c == 3 ? 0 : c);
      return;
    }
    for (int c = 0; c < channels; ++c)
      for (int v = 0; v < 256; ++v)
        tables_of(args)->channel[c][v] = Self::table_value(block, *stats_of(args), c, v);
  }
  void apply(const PassArgs& args, Band band) const {
    if (args.in[0].is_deep()) return apply_maps(args.in[0], args.out, *maps_of(args), band);
    apply_lut(args.in[0], args.out, *tables_of(args), band);
  }

  void launch_count(const PassArgs& args, CudaStream stream) const {
    launch_tally(args.in[0], &stats_of(args)->tally, stream);
  }
  void launch_apply(const PassArgs& args, CudaStream stream) const {
    if (args.in[0].is_deep()) return launch_maps(args.in[0], args.out, maps_of(args), stream);
    launch_lut(args.in[0], args.out, tables_of(args), stream);
  }
};

}  // namespace lensd
