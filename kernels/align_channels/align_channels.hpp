// align_channels: finds by how much red and blue are shifted against green (lateral colour error, plates of
// early colour photography) and shifts them back.
//
// Search: pyramids of 2×2 means; at the smallest level all shifts up to max_shift, at the others those near
// to twice the level before; the best normalised correlation with green over a window that no candidate
// leaves. So shifts are at most a quarter of the picture's side, and a picture without structure stays as it
// is. The shift of channel c is the (x, y) for which c(p + (x, y)) looks most like green(p); it is in the
// statistics, as red_x, red_y, blue_x and blue_y.
//
// Formats: RGBA8. Border rule: replicate. Temporal reach: none (each frame by itself). Exact: sums are
// integers, decisions are taken in doubles of prescribed order, on the device.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/align_channels/align_math.hpp"

namespace lensd {

class AlignChannels final : public FilterBase<AlignChannels, AlignParams, AlignBlock> {
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
  /// What a pass does: the passes are split, shrink to level 1, 2, …, score level n − 1, …, 0, shift.
  enum class Step : uint8_t { split, shrink, score, shift };
  struct Pass {
    Step step;
    int level;
  };
  Pass pass(int index) const;
  uint8_t* plane(const PassArgs& args, int level, int channel) const;

  AlignGeometry geometry_;  ///< as planned
};

}  // namespace lensd
