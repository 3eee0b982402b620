#include "kernels/stabilize/stabilize.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "kernels/stabilize/stabilize_simd.hpp"

namespace lensd {

FilterSchema Stabilize::make_schema() {
  using P = StabilizeParams;
  auto schema = Schema<P>("stabilize", "takes out shake, by the tracks of a klt node before it");
  schema
      .choice("model", &P::model, {"translation", "similarity", "affine"},
              "what the camera does: shifts; turns and zooms as well; shears, too")
      .real("smoothing", &P::smoothing, 1, 300, "time constant of the path; more is calmer and slower",
            {.unit = "frames", .widget = Widget::log_slider})
      .real("crop_zoom", &P::crop_zoom, 1, 2, "enlargement that hides the rim")
      .boolean("keep_inside", &P::keep_inside, "correct less where the rim would show in spite of crop_zoom")
      .real("threshold", &P::threshold, 0.1, 20, "how far a track may be off the common motion",
            {.unit = "px"});
  return add_border(schema, &P::border).build();
}

Layout Stabilize::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const double pixels = static_cast<double>(format.extent.width) * format.extent.height;
  const double bytes = pixels * channels(format.format);
  return {.output = format,
          .passes = {{.name = "pairs"},
                     {.name = "votes", .items = kHypotheses, .grain = 8},
                     {.name = "motion"},
                     {.name = "warp",
                      .items = format.extent.height,
                      .grain = 8,
                      .bytes = 2 * bytes,
                      .operations = 12 * pixels + 9 * bytes}},
          .scratch_bytes = {sizeof(StabilizeWork)},
          .state_bytes = sizeof(StabilizeState),
          .stats_bytes = sizeof(StabilizeStats)};
}

namespace {

void gather_pairs(const TrackTable& table, Extent extent, StabilizeWork& work) {
  const PairGrid grid = PairGrid::make(extent, table.picture);
  const uint32_t places = std::min(table.capacity, static_cast<uint32_t>(kMaxTracks));
  work.count = 0;
  std::fill_n(work.in_cell, kCells, 0u);
  for (uint32_t i = 0; i < places; ++i) {
    if (table.tracks()[i].status != TrackStatus::tracked) continue;
    take_pair(grid, table.tracks()[i], work, work.count);
    ++work.in_cell[grid.cell(work, work.count++)];
  }
  for (uint32_t i = 0; i < work.count; ++i) work.weight[i] = weight_in(work.in_cell[grid.cell(work, i)]);
}

/// Votes of hypothesis h; `weigh` adds up who agrees with a test.
template <class Weigh>
uint32_t votes_for(const StabilizeBlock& block, const StabilizeWork& work, uint32_t h, Weigh weigh) {
  Motion motion;
  if (work.count < pairs_needed(block.model) || !hypothesis(block.model, work, h, motion)) return 0;
  return weigh(work, AgreeTest::make(motion, block.threshold2)).votes(h);
}

/// The motion of the best hypothesis, refined; `inliers` agree with it.
Motion fitted_motion(const StabilizeBlock& block, const StabilizeWork& work, uint32_t& inliers) {
  uint32_t best = 0;
  for (uint32_t h = 0; h < kHypotheses; ++h) best = std::max(best, vote_rank(work.votes[h], h));
  Motion motion;
  inliers = 0;
  if (best < vote_rank(1, kHypotheses - 1)) return motion;
  const uint32_t start = ranked_hypothesis(best);
  hypothesis(block.model, work, start, motion);
  PairSums sums{};
  for (int round = 0; round <= kFitRounds; ++round) {
    const AgreeTest test = AgreeTest::make(motion, block.threshold2 * round_part(round, start == 0));
    sums = {};
    for (uint32_t i = 0; i < work.count; ++i)
      if (test.agrees(work, i)) sums.add(work, i, round_weighs(round));
    if (round < kFitRounds && sums.of[PairSums::count] >= pairs_needed(block.model))
      motion = least_squares(block.model, sums);
  }
  inliers = static_cast<uint32_t>(sums.of[PairSums::count]);
  int64_t all = 0;
  for (uint32_t i = 0; i < work.count; ++i) all += work.weight[i];
  accepted(block.model, sums, all, motion);
  return motion;
}

void settle(const StabilizeBlock& block, const StabilizeWork& work, Extent extent, bool fresh,
            StabilizeState& state, StabilizeStats& stats) {
  const Motion motion = fitted_motion(block, work, stats.inliers);
  stats.pairs = work.count;
  advance_path(block, fresh, motion, state);
  decide_warp(block, extent, motion, state, stats);
}

}  // namespace

void Stabilize::run(const PassArgs& args, Band band) const {
  const StabilizeBlock& block = block_of(args);
  auto& work = *reinterpret_cast<StabilizeWork*>(args.scratch[0]);
  auto& stats = *static_cast<StabilizeStats*>(args.stats);
  const Extent extent = args.out.format.extent;
  if (args.pass == kPairs) {
    gather_pairs(*args.tracks, extent, work);
  } else if (args.pass == kVotes) {
    for (int h = band.begin; h < band.end; ++h)
      work.votes[h] = votes_for(block, work, static_cast<uint32_t>(h), weigh_agreeing);
  } else if (args.pass == kMotion) {
    const StatePair<StabilizeState> states = args.state_of<StabilizeState>();
    StabilizeState state = states.past();
    settle(block, work, extent, args.frame->reset != 0, state, stats);
    *states.after() = state;
  } else {
    warp_rows(args.in[0], args.out, stats.warp, block.border, band);
  }
}

void Stabilize::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& s = *static_cast<const StabilizeStats*>(stats);
  constexpr double degrees = 57.29577951308232;
  const auto angle = [](const Motion& m) { return degrees * std::atan2(m.yx - m.xy, m.xx + m.yy); };
  const auto zoom = [](const Motion& m) { return std::sqrt(std::max(0.0, determinant(m))); };
  out.push_back({"dx", s.motion.x0});
  out.push_back({"dy", s.motion.y0});
  out.push_back({"angle", angle(s.motion)});
  out.push_back({"zoom", zoom(s.motion)});
  out.push_back({"tracks", static_cast<double>(s.pairs)});
  out.push_back({"inliers", static_cast<double>(s.inliers)});
  out.push_back(
      {"inlier_share", s.pairs ? static_cast<double>(s.inliers) / static_cast<double>(s.pairs) : 0.0});
  out.push_back({"path_x", s.path_x});
  out.push_back({"path_y", s.path_y});
  out.push_back({"path_angle", degrees * std::atan2(s.path_sine, s.path_cosine)});
  out.push_back({"path_zoom", s.path_zoom});
  out.push_back({"correction_x", s.correction.x0});
  out.push_back({"correction_y", s.correction.y0});
  out.push_back({"correction_angle", angle(s.correction)});
  out.push_back({"correction_zoom", zoom(s.correction)});
}

void Stabilize::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const Extent extent = in.format.extent;
  const StabilizeBlock block = StabilizeBlock::make(params_);
  const auto work = std::make_unique<StabilizeWork>();
  gather_pairs(*run.tracks, extent, *work);
  const auto weigh = [](const StabilizeWork& pairs, const AgreeTest& test) {
    Agreement sum;
    for (uint32_t i = 0; i < pairs.count; ++i) sum.add(test, pairs, i);
    return sum;
  };
  for (uint32_t h = 0; h < kHypotheses; ++h) work->votes[h] = votes_for(block, *work, h, weigh);

  StabilizeState state{};
  const bool fresh = run.state.empty();
  run.state.resize(sizeof(state));
  std::memcpy(&state, run.state.data(), sizeof(state));
  StabilizeStats stats{};
  settle(block, *work, extent, fresh, state, stats);
  std::memcpy(run.state.data(), &state, sizeof(state));

  run.out = Image(in.format);
  for (int y = 0; y < extent.height; ++y)
    for (int x = 0; x < extent.width; ++x)
      warp_pixel(in.ref(), stats.warp, block.border, x, y, &run.out.at(x, y));
  run.stats.clear();
  read_stats(&stats, run.stats);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&stats);
  run.stats_bytes.assign(bytes, bytes + sizeof(stats));
}

}  // namespace lensd
