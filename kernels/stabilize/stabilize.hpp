// stabilize: removes shake, using the tracks of a klt node before it.
//
//   tracks ─▶ pairs ─▶ votes: RANSAC ─▶ motion: least squares, smoothed path ─▶ warp
//
// The motion since the previous frame is the translation, similarity or affine map that most tracks agree
// with, within `threshold` pixels. It is the best of 256 hypotheses from a fixed sequence, refined by least
// squares; stabilize_fit.hpp explains how moving objects are separated from camera motion. A causal Kalman
// filter of position and speed with the time constant `smoothing` (in frames) smooths the path. It keeps
// about 1.06 / smoothing of the energy of shake that is white noise, and follows a steady pan without lag. A
// running mean of equal smoothness would lag behind a pan of v pixels per frame by about v · smoothing
// pixels. The picture is warped to the smoothed path, bilinearly with 8-bit weights, and enlarged by
// `crop_zoom` around its centre. `keep_inside` limits the correction where the border would still be visible.
// If too few tracks agree, the motion is assumed to be zero.
//
// Formats: all; alpha is warped as well, and the border `constant` is opaque black. Aliasing: none. Border
// rule: `border`. Temporal reach: all frames since the last seek (state). Exact: counts and sums in integers,
// doubles and floats in a fixed order. Source: M. Fischler, R. Bolles, Random sample consensus, 1981; R.
// Kalman, A new approach to linear filtering and prediction problems, 1960. Tracks are not warped: put
// draw_tracks before stabilize.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/stabilize/stabilize_fit.hpp"

namespace lensd {

class Stabilize final : public FilterBase<Stabilize, StabilizeParams, StabilizeBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;
  void reference(ReferenceRun& run) const override;

 private:
  void gather(const PassArgs& args, Band band) const;
  void launch_gather(const PassArgs& args, CudaStream stream) const;
  void vote(const PassArgs& args, Band band) const;
  void launch_vote(const PassArgs& args, CudaStream stream) const;
  void fit(const PassArgs& args, Band band) const;
  void launch_fit(const PassArgs& args, CudaStream stream) const;
  void warp(const PassArgs& args, Band band) const;
  void launch_warp(const PassArgs& args, CudaStream stream) const;
};

}  // namespace lensd
