#include "kernels/stabilize/stabilize.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "kernels/stabilize/stabilize_simd.hpp"

namespace lensd {

FilterSchema Stabilize::make_schema() {
  using P = StabilizeParams;
  auto schema = Schema<P>("stabilize", "removes shake, using the tracks of a klt node before it");
  schema
      .choice("model", &P::model, {"translation", "similarity", "affine"},
              "camera motion: shift; also rotation and zoom; also shear")
      .real("smoothing", &P::smoothing, 1, 300, "time constant of the path; larger is smoother and slower",
            {.unit = "frames", .widget = Widget::log_slider})
      .real("crop_zoom", &P::crop_zoom, 1, 2, "enlargement that hides the border")
      .boolean("keep_inside", &P::keep_inside,
               "limit the correction where the border would show despite crop_zoom")
      .real("threshold", &P::threshold, 0.1, 20, "maximum deviation of a track from the common motion",
            {.unit = "px"});
  return add_border(schema, &P::border).build();
}

Layout Stabilize::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const double pixels = static_cast<double>(format.extent.width) * format.extent.height;
  const double bytes = pixels * format.pixel_bytes();
  return {.output = format,
          .passes = {{.name = "pairs",
                      .run = cpu_pass<&Stabilize::gather>,
                      .launch = cuda_pass<&Stabilize::launch_gather>},
                     {.name = "votes",
                      .run = cpu_pass<&Stabilize::vote>,
                      .launch = cuda_pass<&Stabilize::launch_vote>,
                      .items = kHypotheses,
                      .grain = 8},
                     {.name = "motion",
                      .run = cpu_pass<&Stabilize::fit>,
                      .launch = cuda_pass<&Stabilize::launch_fit>},
                     {.name = "warp",
                      .run = cpu_pass<&Stabilize::warp>,
                      .launch = cuda_pass<&Stabilize::launch_warp>,
                      .items = format.extent.height,
                      .grain = 8,
                      .bytes = 2 * bytes,
                      .operations = 12 * pixels + 9 * bytes}},
          .scratch_bytes = {sizeof(StabilizeWork)},
          .state_bytes = sizeof(StabilizeState),
          .stats_bytes = sizeof(StabilizeStats)};
}

namespace {

StabilizeWork& work_of(const PassArgs& args) {
  return *reinterpret_cast<StabilizeWork*>(args.scratch[0]);
}

void gather_pairs(const TrackTable& table, Extent extent, StabilizeWork& work) {
  const PairGrid grid = PairGrid::make(extent, table.picture);
  const uint32_t slots = std::min(table.capacity, static_cast<uint32_t>(kMaxTracks));
  work.count = 0;
  std::fill_n(work.in_cell, kCells, 0u);
  for (uint32_t i = 0; i < slots; ++i) {
    if (table.tracks()[i].status != TrackStatus::tracked) continue;
    add_pair(grid, table.tracks()[i], work, work.count);
    ++work.in_cell[grid.cell(work, work.count++)];
  }
  for (uint32_t i = 0; i < work.count; ++i) work.weight[i] = pair_weight(work.in_cell[grid.cell(work, i)]);
}

/// Returns the votes of hypothesis h, or 0 if there are too few pairs or the hypothesis is invalid. `weigh`
/// returns the InlierWeights of all pairs for an InlierTest.
template <class Weigh>
uint32_t votes_for(const StabilizeBlock& block, const StabilizeWork& work, uint32_t h, Weigh weigh) {
  Motion motion;
  if (work.count < pairs_needed(block.model) || !hypothesis(block.model, work, h, motion)) return 0;
  return weigh(work, InlierTest::make(motion, block.threshold2)).votes(h);
}

/// Returns the refined motion of the best hypothesis in pixels, or the identity if it is rejected. `inliers`
/// receives the number of pairs that agree with the refined motion, even if it is rejected.
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
    const InlierTest test = InlierTest::make(motion, block.threshold2 * threshold_part(round, start == 0));
    sums = {};
    for (uint32_t i = 0; i < work.count; ++i)
      if (test.is_inlier(work, i)) sums.add(work, i, round_is_weighted(round));
    if (round < kFitRounds && sums.of[PairSums::count] >= pairs_needed(block.model))
      motion = least_squares(block.model, sums);
  }
  inliers = static_cast<uint32_t>(sums.of[PairSums::count]);
  int64_t all = 0;
  for (uint32_t i = 0; i < work.count; ++i) all += work.weight[i];
  accept_motion(block.model, sums, all, motion);
  return motion;
}

void fit_and_smooth(const StabilizeBlock& block, const StabilizeWork& work, Extent extent, bool reset,
                    StabilizeState& state, StabilizeStats& stats) {
  const Motion motion = fitted_motion(block, work, stats.inliers);
  stats.pairs = work.count;
  advance_path(block, reset, motion, state);
  decide_warp(block, extent, motion, state, stats);
}

}  // namespace

void Stabilize::gather(const PassArgs& args, Band) const {
  gather_pairs(*args.tracks, args.out.format.extent, work_of(args));
}

void Stabilize::vote(const PassArgs& args, Band band) const {
  StabilizeWork& work = work_of(args);
  for (int h = band.begin; h < band.end; ++h)
    work.votes[h] = votes_for(block_of(args), work, static_cast<uint32_t>(h), weigh_inliers);
}

void Stabilize::fit(const PassArgs& args, Band) const {
  const StatePair<StabilizeState> states = args.state_of<StabilizeState>();
  StabilizeState state = states.past();
  fit_and_smooth(block_of(args), work_of(args), args.out.format.extent, args.frame->reset != 0, state,
                 *static_cast<StabilizeStats*>(args.stats));
  *states.after() = state;
}

void Stabilize::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& s = *static_cast<const StabilizeStats*>(stats);
  constexpr double degrees = 57.29577951308232;
  const auto angle = [](const Motion& m) { return degrees * std::atan2(m.yx - m.xy, m.xx + m.yy); };
  const auto zoom = [](const Motion& m) { return std::sqrt(std::max(0.0, determinant(m))); };
  const double pairs = s.pairs, inliers = s.inliers;
  out.insert(out.end(), {{"dx", s.motion.x0},
                         {"dy", s.motion.y0},
                         {"angle", angle(s.motion)},
                         {"zoom", zoom(s.motion)},
                         {"tracks", pairs},
                         {"inliers", inliers},
                         {"inlier_share", s.pairs ? inliers / pairs : 0.0},
                         {"path_x", s.path_x},
                         {"path_y", s.path_y},
                         {"path_angle", degrees * std::atan2(s.path_sine, s.path_cosine)},
                         {"path_zoom", s.path_zoom},
                         {"correction_x", s.correction.x0},
                         {"correction_y", s.correction.y0},
                         {"correction_angle", angle(s.correction)},
                         {"correction_zoom", zoom(s.correction)}});
}

void Stabilize::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const Extent extent = in.format.extent;
  const StabilizeBlock block = StabilizeBlock::make(params_);
  const auto work = std::make_unique<StabilizeWork>();
  gather_pairs(*run.tracks, extent, *work);
  const auto weigh = [](const StabilizeWork& pairs, const InlierTest& test) {
    InlierWeights sum;
    for (uint32_t i = 0; i < pairs.count; ++i) sum.add(test, pairs, i);
    return sum;
  };
  for (uint32_t h = 0; h < kHypotheses; ++h) work->votes[h] = votes_for(block, *work, h, weigh);

  StabilizeState state{};
  const bool reset = run.state.empty();
  run.state.resize(sizeof(state));
  std::memcpy(&state, run.state.data(), sizeof(state));
  StabilizeStats stats{};
  fit_and_smooth(block, *work, extent, reset, state, stats);
  std::memcpy(run.state.data(), &state, sizeof(state));

  run.out = Image(in.format);
  for (int y = 0; y < extent.height; ++y)
    for (int x = 0; x < extent.width; ++x)
      warp_pixel(in.ref(), stats.warp, block.border, x, y,
                 run.out.ref().row(y) + x * in.format.pixel_bytes());
  run.stats.clear();
  read_stats(&stats, run.stats);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&stats);
  run.stats_bytes.assign(bytes, bytes + sizeof(stats));
}

}  // namespace lensd
