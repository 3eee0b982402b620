// klt: detects corners and follows them from frame to frame; the picture passes through.
//
//   luma ─▶ pyramid ─▶ follow (Lucas-Kanade) ─▶ settle (which tracks are lost)
//        ─▶ corners (if too few tracks are left) ─▶ table (new tracks take empty slots)
//
// The result is a TrackTable in the node's statistics. Tracks are followed by Bouguet's pyramidal method with
// the steps and stop rules of cv::calcOpticalFlowPyrLK (`levels` is its maxLevel), except that window pixels
// count only if their samples lie in both pictures. Corners are those of cv::goodFeaturesToTrack. The
// forward-backward check follows each track back through the whole pyramid. gain_bias matches mean and
// contrast of the two patches in every step. affine_check fits the first patch to the current picture and
// ends tracks whose patches no longer match.
//
// A lost track keeps its slot for that frame. After a cut, new tracks may take the slots of lost ones; the
// lost ones are still counted. The luma of a 16-bit image has 7 fraction bits for tracking, and up to 5 for
// corner detection, see corners.hpp. If the input is an upright source picture with contiguous 8-bit luma,
// klt reads luma directly from the decoded picture.
//
// Formats: all. Border rule: none, see above. Temporal reach: one frame (state: pyramid and table of the
// previous frame; with affine_check also first patches). Exact: integer sums, then floats in a fixed order.
//
// Files: klt.cpp: parameters, passes and statistics. klt_math, klt_window, klt_affine: shared arithmetic.
// klt_follow.hpp: the search for one track. klt_table.hpp: entries of the table. klt_pyramid, klt_follow,
// klt_table: the passes, *.cpp on the CPU and *.cu on CUDA. klt_drift.cu: affine_check on CUDA.
// klt_lanes.cuh: sums over a warp. klt_reference.cpp: the oracle.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/klt/klt_math.hpp"

namespace lensd {

class Klt final : public FilterBase<Klt, KltParams, KltBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;
  void reference(ReferenceRun& run) const override;

 private:
  /// Header of the first scratch block; the corners follow the header.
  struct Detection {
    uint32_t wanted, spare;
    CornerCount count;
    Corner* corners() { return reinterpret_cast<Corner*>(this + 1); }
  };
  static Detection& detection(const PassArgs& args) { return *reinterpret_cast<Detection*>(args.scratch[0]); }
  static TrackTable& table_of(const PassArgs& args) { return *static_cast<TrackTable*>(args.stats); }
  static KltState state_of(const PassArgs& args) { return args.state_of<uint8_t>(); }
  /// Returns the decoded picture's luma plane, or the input image.
  ConstImageRef luma_source(const PassArgs& args) const;
  CornerJob corner_job(const PassArgs& args) const;

  void take_luma(const PassArgs& args, Band rows) const;
  void launch_luma(const PassArgs& args, CudaStream stream) const;
  /// Computes level `args.step` of the pyramid; on CUDA also up to two levels after it.
  void shrink(const PassArgs& args, Band rows) const;
  void launch_shrink(const PassArgs& args, CudaStream stream) const;
  void follow(const PassArgs& args, Band slots) const;
  void launch_follow(const PassArgs& args, CudaStream stream) const;
  /// Ends crowded tracks, fills in the table's header and sets the number of corners to detect.
  void settle(const PassArgs& args, Band) const;
  void launch_settle(const PassArgs& args, CudaStream stream) const;
  /// Runs corner_passes_[args.step].
  void detect(const PassArgs& args, Band band) const;
  void launch_detect(const PassArgs& args, CudaStream stream) const;
  /// Stores the new corners as tracks, completes the header and keeps the table for the next frame.
  void finish(const PassArgs& args, Band) const;
  void launch_finish(const PassArgs& args, CudaStream stream) const;
  /// Ends drifted tracks (affine_check); part of the pass `follow`.
  void launch_drift(const PassArgs& args, CudaStream stream) const;
  /// Stores the first patches of new tracks (affine_check).
  void launch_patches(const PassArgs& args, CudaStream stream) const;

  size_t shrink_worker_bytes() const;
  static size_t table_scratch_bytes(Extent extent, int capacity);

  KltShape shape_;
  std::vector<CornerPass> corner_passes_;
  bool from_picture_ = false;
};

}  // namespace lensd
