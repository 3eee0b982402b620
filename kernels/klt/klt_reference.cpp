#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "kernels/common/border/border.hpp"
#include "kernels/common/samples.hpp"
#include "kernels/grayscale/grayscale.hpp"
#include "kernels/klt/klt.hpp"
#include "kernels/klt/klt_follow.hpp"
#include "kernels/klt/klt_table.hpp"
#include "kernels/klt/klt_window.hpp"

namespace lensd {
namespace {

/// Returns the luma in grey levels, or for a 16-bit image as Gray16 in 1/128 grey level.
Image gray_of(const ReferenceRun& run, const LumaBlock& weights) {
  const Image& in = run.in[0];
  if (!run.picture) {
    Image luma = in.channels() == 4 ? luma_reference(in, weights) : in;
    if (luma.is_deep())
      for_each_sample(luma.format.extent, 1, [&](int x, int y, int) {
        luma.set_sample(x, y, 0, static_cast<int>(std::lround(luma.sample(x, y) / 257. * 128)));
      });
    return luma;
  }
  const ComponentLayout& luma = run.picture->info.format.components[0];
  Image gray({PixelFormat::gray8, in.format.extent});
  for (int y = 0; y < gray.height(); ++y)
    for (int x = 0; x < gray.width(); ++x)
      gray.at(x, y) =
          run.picture->planes[luma.plane][y * run.picture->pitch_bytes[luma.plane] + luma.offset + x];
  return gray;
}

template <class Pixel>
void build_pyramid(const KltShape& shape, uint8_t* half, const Image& gray) {
  const ImageView<Pixel> picture = shape.view<Pixel>(half, 0);
  for (int y = 0; y < gray.height(); ++y)
    for (int x = 0; x < gray.width(); ++x) picture.at(x, y) = static_cast<Pixel>(gray.sample(x, y));
  for (int level = 1; level <= shape.levels; ++level) {
    const ImageView<Pixel> fine = shape.view<Pixel>(half, level - 1), coarse = shape.view<Pixel>(half, level);
    constexpr int weights[5] = {1, 4, 6, 4, 1};
    for (int y = 0; y < coarse.extent.height; ++y)
      for (int x = 0; x < coarse.extent.width; ++x) {
        int sum = 128;
        for (int j = 0; j < 5; ++j)
          for (int i = 0; i < 5; ++i)
            sum += weights[i] * weights[j] *
                   fine.at(border_index(2 * x + i - 2, fine.extent.width, Border::reflect101),
                           border_index(2 * y + j - 2, fine.extent.height, Border::reflect101));
        coarse.at(x, y) = static_cast<Pixel>(sum >> 8);
      }
  }
}

/// Computes the pyramid and follows the tracks of the previous frame.
template <class Pixel>
void follow_reference(const KltShape& shape, const KltState& state, const KltBlock& block, const Image& gray,
                      TrackTable& table) {
  build_pyramid<Pixel>(shape, state.after(), gray);
  KltScalarWindow<Pixel> window(block.gain_bias);
  klt_follow_slots(window, shape, state, block, table, {0, shape.capacity});
}

/// Of two tracks that are too close, the younger one ends: the one with the larger id.
void end_crowded(std::span<Track> tracks, float crowded_squared) {
  std::vector<Track*> crowded;
  for (Track& track : tracks) {
    if (track.status != TrackStatus::tracked) continue;
    for (const Track& other : tracks) {
      if (other.status != TrackStatus::tracked) continue;
      const float dx = other.x - track.x, dy = other.y - track.y;
      if (other.id < track.id && dx * dx + dy * dy < crowded_squared) crowded.push_back(&track);
    }
  }
  for (Track* const track : crowded) track->status = TrackStatus::lost_crowded;
}

uint32_t median_age(std::span<const Track> tracks) {
  std::vector<uint32_t> ages;
  for (const Track& track : tracks)
    if (is_alive(track.status)) ages.push_back(track.age);
  std::ranges::sort(ages);
  return ages.empty() ? 0 : ages[(ages.size() - 1) / 2];
}

}  // namespace

void Klt::reference(ReferenceRun& run) const {
  const KltBlock block = KltBlock::make(params_);
  const Extent extent = run.in[0].format.extent;
  const Image gray = gray_of(run, block.luma);
  const KltShape shape = KltShape::make(extent, params_, gray.is_deep());
  FrameBlock frame = run.frame;
  if (run.state.empty()) frame.reset = 1;
  run.state.resize(2 * shape.bytes);
  run.stats_bytes.assign(shape.lasting_bytes, 0);
  const KltState state{{run.state.data(), run.state.data() + shape.bytes}, &frame};
  uint8_t* after = state.after();
  auto& table = *reinterpret_cast<TrackTable*>(run.stats_bytes.data());
  const std::span<Track> tracks(table.tracks(), static_cast<size_t>(shape.capacity));

  const auto follow = gray.is_deep() ? &follow_reference<uint16_t> : &follow_reference<uint8_t>;
  follow(shape, state, block, gray, table);
  end_crowded(tracks, block.crowded_squared);

  klt_start_header(table, *reinterpret_cast<const TrackTable*>(state.before()), shape, frame);
  for (const Track& track : tracks) {
    ++table.counts[static_cast<uint32_t>(track.status)];
    if (is_alive(track.status)) ++table.alive;
  }

  // New tracks take empty slots first; after a cut they also take slots of lost tracks.
  std::vector<uint32_t> slots;
  for (const TrackStatus free : {TrackStatus::empty, TrackStatus::lost_cut})
    for (uint32_t i = 0; i < tracks.size(); ++i)
      if (tracks[i].status == free) slots.push_back(i);
  if (frame.reset == 0 && table.alive >= block.redetect_below) slots.clear();
  table.detected = slots.empty() ? 0 : 1;
  CornerCount count{};
  const std::vector<Corner> corners =
      corners_reference(gray, block.corners, &table, static_cast<uint32_t>(slots.size()), count);
  for (size_t k = 0; k < corners.size(); ++k) {
    const uint32_t slot = slots[k];
    if (tracks[slot].status == TrackStatus::empty) --table.counts[0];
    ++table.counts[static_cast<uint32_t>(TrackStatus::fresh)];
    tracks[slot] = klt_new_track(corners[k], table.next_id++, count.strongest);
    ++table.alive;
    const auto keep = gray.is_deep() ? &klt_keep_patch<uint16_t> : &klt_keep_patch<uint8_t>;
    if (shape.patch_bytes > 0) keep(shape, after, state.halves, static_cast<int>(slot), corners[k], 0, 1);
  }

  table.median_age = median_age(tracks);
  std::memcpy(after, &table, run.stats_bytes.size());
  run.out = run.in[0];
  run.stats.clear();
  read_stats(run.stats_bytes.data(), run.stats);
}

}  // namespace lensd
