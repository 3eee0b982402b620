// klt: finds corners and follows them from frame to frame; the picture passes through.
//
//   luma ─▶ pyramid ─▶ follow (Lucas-Kanade, each track from the frame before) ─▶ settle (who is lost)
//        ─▶ corners (where too few are left) ─▶ table (new tracks take free places)
//
// The result is a TrackTable in the node's statistics. Following is Bouguet's pyramidal method with the steps
// and stop rules of cv::calcOpticalFlowPyrLK (`levels` is its maxLevel), except that pixels of a window whose
// samples are not in both pictures do not count; corners are those of cv::goodFeaturesToTrack. The forward-
// backward check follows each track back through the whole pyramid. gain_bias levels mean and contrast of the
// two patches in every step. affine_check fits the first patch to the present picture and ends tracks that
// no longer look alike.
//
// A track that is lost keeps its place for that frame; after a cut new tracks may take the places of lost
// ones, which are counted all the same. Directly behind the upright source luma is the decoded picture's own.
//
// Formats: Gray8, RGBA8. Border rule: none, see above. Temporal reach: one frame (state: pyramid and table of
// the frame before; with affine_check first patches). Exact: integer sums, then prescribed floats.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/klt/klt_math.hpp"

namespace lensd {

struct KltTableJob;

class Klt final : public FilterBase<Klt, KltParams, KltBlock> {
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
  /// Indices of the passes; the pyramid's begin at 1.
  struct Passes {
    int follow = 0, settle = 0, corners = 0, table = 0, patches = 0;
  };
  /// What lies in the first block of scratch: corners behind a few words.
  struct Found {
    uint32_t wanted, spare;
    CornerCount count;
    Corner* corners() { return reinterpret_cast<Corner*>(this + 1); }
  };
  static Found& found(const PassArgs& args) {
    return *reinterpret_cast<Found*>(args.scratch[0]);
  }
  CornerJob corner_job(const PassArgs& args) const;
  KltTableJob table_job(const PassArgs& args) const;
  ConstImageRef luma_plane(const PictureRef& picture) const;
  void take_luma(const PassArgs& args, Band band) const;

  KltShape shape_;
  Passes passes_;
  bool from_picture_ = false;
};

}  // namespace lensd
