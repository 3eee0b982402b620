// draw_tracks: burns points and fading trails of the tracks into the picture, for recordings.
//
//   TrackTable ─▶ history (state: by place, the last trail + 1 positions) ─▶ marks ─▶ each pixel's strongest
//   mark ─▶ blended once
//
// A track is a disc and a line of `trail` steps that thins and fades out; both have a dark rim, so that they
// show on any footage. The trail of a lost track fades away by itself. Colours run from blue (low) over green
// to red (high); on Gray8 they are greys.
//
// Every mark asks for a pixel with a key, and the pixel takes the largest: `mark_key()` says why the order in
// which marks are drawn does not matter. The CPU draws strip by strip into a worker's memory; CUDA with
// atomicMax into a plane of keys, which one more pass blends.
//
// Formats: Gray8, RGBA8. Aliasing: none. Border rule: none. Temporal reach: `trail` frames; a table's places
// are kMaxTracks at most, so that the state takes 2 × 64 KiB × (trail + 3). Exact: floats in prescribed
// order. A table from before a resize is scaled to this picture's size; one from before a crop, turn or
// stabilize no longer fits.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/draw_tracks/draw_tracks_math.hpp"

namespace lensd {

class DrawTracks final : public FilterBase<DrawTracks, DrawTracksParams, DrawTracksBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  enum Pass { kHistory, kDraw, kBlend };  ///< the CPU blends as it draws
  int trail_ = 0;                         ///< as planned
};

}  // namespace lensd
