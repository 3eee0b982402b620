// stabilize: takes the shake out of a clip. Reads the tracks of a klt node before it.
//
//   tracks ─▶ pairs ─▶ votes: RANSAC ─▶ motion: least squares, smoothed path ─▶ warp
//
// The motion since the frame before is a translation, similarity or affine map that most tracks agree with
// (within `threshold` pixels), by 256 hypotheses from a fixed sequence; stabilize_fit.hpp says how a thing
// that moves by itself is told from the camera. Its path is smoothed causally by a Kalman filter of position
// and speed with the time constant `smoothing`, in frames: of white shake about 1.06 / smoothing of the
// energy is left, and a steady pan is followed without lag once it lasts. Why not a running mean: at equal
// calm it would trail a pan of v pixels a frame by about v · smoothing for ever. The picture is warped back
// to the smoothed path, bilinearly with weights of 8 bits, and enlarged by `crop_zoom` around its centre;
// `keep_inside` holds the correction back where the rim would show even so. Without enough tracks that agree,
// the picture is taken to rest.
//
// Formats: Gray8, RGBA8; alpha is warped as well, and the border `constant` is opaque black. Aliasing: none.
// Border rule: a choice. Temporal reach: all frames since the last seek (state). Exact: counts and sums in
// integers, doubles and floats in prescribed order. Source: M. Fischler, R. Bolles, Random sample consensus,
// 1981; R. Kalman, A new approach to linear filtering and prediction problems, 1960.
// Tracks stay where they were found: put draw_tracks before stabilize.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/stabilize/stabilize_fit.hpp"

namespace lensd {

class Stabilize final : public FilterBase<Stabilize, StabilizeParams, StabilizeBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;
  void reference(ReferenceRun& run) const override;

 private:
  enum Pass { kPairs, kVotes, kMotion, kWarp };
};

}  // namespace lensd
