#include "kernels/align_channels/align_channels.hpp"

#include <atomic>
#include <cstring>

#include "kernels/align_channels/align_simd.hpp"
#include "kernels/resize/resize_simd.hpp"

namespace lensd {
namespace {

void add(uint64_t& to, uint64_t value) {
  std::atomic_ref<uint64_t>(to).fetch_add(value, std::memory_order_relaxed);
}

const uint8_t* row_of(const uint8_t* plane, const AlignLevel& level, int y) {
  return plane + static_cast<std::ptrdiff_t>(y) * level.pitch;
}

/// Rounded means of 2×2.
void shrink_rows(const uint8_t* from, const AlignLevel& large, uint8_t* to, const AlignLevel& small,
                 Band band) {
  for (int y = band.begin; y < band.end; ++y) {
    uint8_t* out = to + static_cast<std::ptrdiff_t>(y) * small.pitch;
    resize_half_row(row_of(from, large, 2 * y), row_of(from, large, 2 * y + 1), 1,
                    static_cast<size_t>(small.extent.width), out);
  }
}

/// Sums of one candidate over the window's rows [band), which count from the window's top.
AlignSums sum_rows(const uint8_t* green, const uint8_t* channel, const AlignLevel& level, AlignShift shift,
                   Band band) {
  AlignSums sums{};
  const int n = level.extent.width - 2 * level.margin_x;
  for (int y = band.begin + level.margin_y; y < band.end + level.margin_y; ++y)
    align_add_row(row_of(green, level, y) + level.margin_x,
                  row_of(channel, level, y + shift.y) + level.margin_x + shift.x, n, sums);
  return sums;
}

}  // namespace

FilterSchema AlignChannels::make_schema() {
  const Schema<AlignParams>::Options pixels{.unit = "px", .change = ParamChange::reconfigure};
  const Schema<AlignParams>::Options plain{.change = ParamChange::reconfigure};
  return Schema<AlignParams>("align_channels", "finds the shift of red and blue against green and removes it")
      .integer("max_shift", &AlignParams::max_shift, 0, kAlignMaxShift, "largest shift in x and in y", pixels)
      .integer("levels", &AlignParams::levels, 1, kAlignMaxLevels,
               "sizes at which is searched, each half of the one before; 1 tries every shift at full size",
               plain)
      .build();
}

Layout AlignChannels::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  geometry_ = AlignGeometry::make(params_, format.extent);
  const AlignGeometry& g = geometry_;
  const auto pixels = [&](int l) {
    return static_cast<double>(g.level[l].extent.width) * g.level[l].extent.height;
  };
  Layout layout{.output = format,
                .passes = {},
                .scratch_bytes = {g.plane_offset(g.levels), AlignWork::bytes(g)},
                .stats_bytes = sizeof(AlignStats)};
  layout.passes.push_back(
      {.name = "split", .items = format.extent.height, .grain = 16, .bytes = 7 * pixels(0)});
  for (int l = 1; l < g.levels; ++l)
    layout.passes.push_back({.name = "shrink",
                             .items = g.level[l].extent.height,
                             .grain = 16,
                             .bytes = 3 * (pixels(l) + pixels(l - 1)),
                             .operations = 12 * pixels(l)});
  for (int l = g.levels - 1; l >= 0; --l)
    layout.passes.push_back({.name = "score",
                             .items = g.level[l].extent.height - 2 * g.level[l].margin_y,
                             .grain = 16,
                             .bytes = 3 * pixels(l),
                             .operations = 10.0 * g.level[l].candidates() * pixels(l)});
  layout.passes.push_back(
      {.name = "shift", .items = format.extent.height, .grain = 16, .bytes = 8 * pixels(0)});
  return layout;
}

AlignChannels::Pass AlignChannels::pass(int index) const {
  const int n = geometry_.levels;
  if (index == 0) return {Step::split, 0};
  if (index < n) return {Step::shrink, index};
  return index < 2 * n ? Pass{Step::score, 2 * n - 1 - index} : Pass{Step::shift, 0};
}

uint8_t* AlignChannels::plane(const PassArgs& args, int level, int channel) const {
  return args.scratch[0] + geometry_.plane_offset(level) +
         static_cast<size_t>(channel) * geometry_.level[level].plane_bytes();
}

void AlignChannels::run(const PassArgs& args, Band band) const {
  const AlignGeometry& g = geometry_;
  const ConstImageRef in = args.in[0];
  auto& work = *reinterpret_cast<AlignWork*>(args.scratch[1]);
  const auto [step, l] = pass(args.pass);
  const AlignLevel& level = g.level[l];

  if (step == Step::split) {
    if (band.begin == 0) std::memset(args.scratch[1], 0, AlignWork::bytes(g));
    for (int y = band.begin; y < band.end; ++y) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(y) * level.pitch;
      align_split_row(in.row(y), in.width(), plane(args, 0, 0) + at, plane(args, 0, 1) + at,
                      plane(args, 0, 2) + at);
    }
    return;
  }
  if (step == Step::shrink) {
    for (int c = 0; c < 3; ++c)
      shrink_rows(plane(args, l - 1, c), g.level[l - 1], plane(args, l, c), level, band);
    return;
  }

  // Every band decides the level before for itself, alike; one of them keeps the decision for later levels.
  const int decided = step == Step::shift ? 0 : l + 1;
  AlignShift shift[2] = {};
  for (int c = 0; c < 2; ++c)
    if (decided < g.levels) shift[c] = align_decide(g, work, decided, c);

  if (step == Step::shift) {
    if (band.begin == 0) *static_cast<AlignStats*>(args.stats) = {{shift[0], shift[1]}};
    const auto moved = [&](int y, int c) { return in.row(std::clamp(y + shift[c].y, 0, in.height() - 1)); };
    for (int y = band.begin; y < band.end; ++y)
      align_merge_row(moved(y, 0), shift[0].x, in.row(y), moved(y, 1), shift[1].x, in.width(),
                      args.out.row(y));
    return;
  }

  const uint8_t* green = plane(args, l, 1);
  const AlignSums own = sum_rows(green, green, level, {}, band);
  add(work.green[l].value, own.value), add(work.green[l].square, own.square);
  for (int c = 0; c < 2; ++c) {
    if (band.begin == 0 && decided < g.levels) work.shift[decided][c] = shift[c];
    const AlignShift prediction = decided < g.levels ? level.prediction(shift[c]) : AlignShift{};
    AlignSums* sums = work.sums(l, c, g);
    for (int i = 0; i < level.candidates(); ++i) {
      const AlignShift candidate = level.candidate(prediction, i);
      if (!level.allowed(candidate)) continue;
      const AlignSums part = sum_rows(green, plane(args, l, 2 * c), level, candidate, band);
      add(sums[i].value, part.value), add(sums[i].square, part.square), add(sums[i].product, part.product);
    }
  }
}

void AlignChannels::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& shift = static_cast<const AlignStats*>(stats)->shift;
  out.push_back({"red_x", static_cast<double>(shift[0].x)});
  out.push_back({"red_y", static_cast<double>(shift[0].y)});
  out.push_back({"blue_x", static_cast<double>(shift[1].x)});
  out.push_back({"blue_y", static_cast<double>(shift[1].y)});
}

}  // namespace lensd
