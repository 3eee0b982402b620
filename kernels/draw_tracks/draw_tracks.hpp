// draw_tracks: draws points and fading trails of the tracks into the picture, for recordings.
//
//   TrackTable ─▶ history (state: last trail + 1 positions by slot) ─▶ marks ─▶ maximum by pixel ─▶ blend
//
// A track is drawn as a disc and a polyline of `trail` steps that gets thinner and fades out. Both have a
// dark rim, so that they are visible on any footage. The trail of a lost track fades out. Colours range from
// blue (low) over green to red (high); on grey pictures they are greys.
//
// A mark has a key for each pixel it covers, and each pixel takes the largest key. So the order in which
// marks are drawn does not matter, see mark_key(). The CPU draws strips of rows in a worker's memory; CUDA
// uses atomicMax on a plane of keys, which a further pass blends.
//
// Formats: all. Aliasing: none. Border rule: none. Temporal reach: `trail` frames; a table has at most
// kMaxTracks slots, so the state is 2 × 64 KiB × (trail + 3). Exact: floats in a fixed order. A table from
// before a resize is scaled to this picture's size; tables from before a crop, rotate or stabilize do not
// match the picture.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/draw_tracks/draw_tracks_math.hpp"

namespace lensd {

class DrawTracks final : public FilterBase<DrawTracks, DrawTracksParams, DrawTracksBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void reference(ReferenceRun& run) const override;

 private:
  void keep_history(const PassArgs& args, Band band) const;
  void launch_history(const PassArgs& args, CudaStream stream) const;
  /// Draws the marks' keys; on the CPU also blends them with the picture.
  void draw(const PassArgs& args, Band band) const;
  void launch_draw(const PassArgs& args, CudaStream stream) const;
  void launch_blend(const PassArgs& args, CudaStream stream) const;

  int trail_ = 0;  ///< trail length from configure()
};

}  // namespace lensd
