#include "kernels/draw_tracks/draw_tracks.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/draw_tracks/draw_tracks_simd.hpp"

namespace lensd {

FilterSchema DrawTracks::make_schema() {
  using P = DrawTracksParams;
  return Schema<P>("draw_tracks", "draws the tracks of a klt node before it: points and fading trails")
      .choice("style", &P::style, {"points", "trails", "both"}, "what is drawn of each track")
      .integer("trail", &P::trail, 0, 120, "length of trails",
               {.unit = "frames", .change = ParamChange::reconfigure})
      .real("size", &P::size, 0.5, 32, "radius of a point; trails scale with it", {.unit = "px"})
      .choice("colour", &P::colour, {"age", "residual", "motion", "fixed"},
              "quantity shown by colour, from blue (low) over green to red (high)")
      .real("opacity", &P::opacity, 0, 1, "opacity of points and trails")
      .build();
}

Layout DrawTracks::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const auto height = static_cast<size_t>(format.extent.height);
  const double bytes = static_cast<double>(format.row_bytes() * height);
  trail_ = params_.trail;
  Layout layout{
      .output = format, .passes = {}, .scratch_bytes = {}, .state_bytes = DrawHistory::bytes(trail_)};
  if (inputs.backend == Backend::cpu) {
    layout.passes = {
        {.name = "history", .run = cpu_pass<&DrawTracks::keep_history>, .items = kMaxTracks, .grain = 256},
        {.name = "draw",
         .run = cpu_pass<&DrawTracks::draw>,
         .items = format.extent.height,
         .grain = kDrawStrip,
         .bytes = 2 * bytes}};
    layout.scratch_bytes = {kMaxTracks * sizeof(DrawSpan)};
    layout.worker_bytes = kDrawStrip * draw_key_pitch(format.extent.width) * sizeof(uint32_t);
  } else {
    layout.passes = {{.name = "history", .launch = cuda_pass<&DrawTracks::launch_history>},
                     {.name = "draw", .launch = cuda_pass<&DrawTracks::launch_draw>},
                     {.name = "blend", .launch = cuda_pass<&DrawTracks::launch_blend>, .bytes = 2 * bytes}};
    layout.scratch_bytes = {height * draw_key_pitch(format.extent.width) * sizeof(uint32_t)};
  }
  return layout;
}

namespace {

int slots_of(const TrackTable& table) {
  return static_cast<int>(std::min(table.capacity, static_cast<uint32_t>(kMaxTracks)));
}

/// Writes the history of the table's slots [begin, end) to `after`, the new half of the state. `before` is
/// the previous half, or null after a reset.
void update_history(const DrawTracksBlock& block, const DrawGrid& grid, const TrackTable& table,
                    const DrawHistory* before, DrawHistory& after, int trail, int begin, int end) {
  for (int slot = begin; slot < end; ++slot) {
    const Track& now = table.tracks()[slot];
    const bool known = before && static_cast<uint32_t>(slot) < before->capacity;
    const DrawSlot last = known ? before->slots()[slot] : DrawSlot{0, 0};
    const bool keeps = continues_trail(last, now);
    const uint32_t* points = keeps ? before->points(slot, trail) : nullptr;
    after.slots()[slot] = next_slot(block.colour, keeps, last, now);
    for (int k = 0; k <= trail; ++k) after.points(slot, trail)[k] = next_point(grid, now, keeps, points, k);
  }
}

}  // namespace

void DrawTracks::keep_history(const PassArgs& args, Band band) const {
  const TrackTable& table = *args.tracks;
  const DrawTracksBlock& block = block_of(args);
  const DrawGrid grid = DrawGrid::make(args.out.format.extent, table.picture);
  const StatePair<DrawHistory> state = args.state_of<DrawHistory>();
  DrawHistory& after = *state.after();
  if (band.begin == 0) after.capacity = static_cast<uint32_t>(slots_of(table));
  const int end = std::min(band.end, slots_of(table));
  update_history(block, grid, table, args.frame->reset ? nullptr : state.before(), after, trail_, band.begin,
                 end);
  auto* rows = reinterpret_cast<DrawSpan*>(args.scratch[0]);
  for (int slot = band.begin; slot < end; ++slot)
    rows[slot] = rows_of_slot(block, grid, after.points(slot, trail_), trail_, args.out.height());
}

void DrawTracks::draw(const PassArgs& args, Band band) const {
  const TrackTable& table = *args.tracks;
  draw_rows({args.in[0], args.out, &block_of(args), args.state_of<DrawHistory>().after(),
             reinterpret_cast<const DrawSpan*>(args.scratch[0]),
             DrawGrid::make(args.out.format.extent, table.picture), slots_of(table), trail_},
            band, reinterpret_cast<uint32_t*>(args.worker));
}

void DrawTracks::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const Extent extent = in.format.extent;
  const TrackTable& table = *run.tracks;
  const DrawTracksBlock block = DrawTracksBlock::make(params_);
  const DrawGrid grid = DrawGrid::make(extent, table.picture);
  const int trail = params_.trail;
  const bool reset = run.state.empty();
  const std::vector<uint8_t> last = std::exchange(run.state, std::vector<uint8_t>(DrawHistory::bytes(trail)));
  auto& history = *reinterpret_cast<DrawHistory*>(run.state.data());
  history.capacity = static_cast<uint32_t>(slots_of(table));
  update_history(block, grid, table, reset ? nullptr : reinterpret_cast<const DrawHistory*>(last.data()),
                 history, trail, 0, slots_of(table));

  std::vector<uint32_t> keys(static_cast<size_t>(extent.width) * static_cast<size_t>(extent.height));
  for (int slot = 0; slot < slots_of(table); ++slot)
    for (int k = 0; k <= trail; ++k) {
      DrawMark mark;
      if (!mark_of(block, grid, history.slots()[slot], history.points(slot, trail), k, trail, mark)) continue;
      const DrawSpan rows = rows_of(mark, extent.height);
      const DrawSpan columns = span_around(mark.x, mark.x + mark.dx, mark.reach, extent.width);
      for (int y = rows.first; y <= rows.last; ++y)
        for (int x = columns.first; x <= columns.last; ++x) {
          uint32_t& key =
              keys[static_cast<size_t>(y) * static_cast<size_t>(extent.width) + static_cast<size_t>(x)];
          key = std::max(key, mark_key(mark, static_cast<float>(x), static_cast<float>(y)));
        }
    }
  run.out = in;
  for (int y = 0; y < extent.height; ++y)
    for (int x = 0; x < extent.width; ++x) {
      const uint32_t key =
          keys[static_cast<size_t>(y) * static_cast<size_t>(extent.width) + static_cast<size_t>(x)];
      const uint32_t colour = block.ramp[key & 255];
      for (int c = 0; c < std::min(3, in.channels()); ++c)
        run.out.set_sample(x, y, c,
                           static_cast<int>((in.is_deep() ? deep_blend_key : blend_key)(
                               static_cast<uint32_t>(in.sample(x, y, c)), key,
                               colour >> (in.channels() == 1 ? 24 : 8 * c) & 255, block.rim, block.opacity)));
    }
}

}  // namespace lensd
