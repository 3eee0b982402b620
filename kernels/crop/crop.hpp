// crop: a rectangle of the picture.
//
// The rectangle is moved and cut so that at least one pixel of the picture remains: x and y at most at the
// last column and row, width and height at most up to the edge; 0 means up to the edge. So a graph goes on
// when its source changes to a smaller size.
//
// Formats: Gray8, RGBA8. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include "core/graph/filter.hpp"
#include "kernels/crop/crop_math.hpp"

namespace lensd {

class Crop final : public FilterBase<Crop, CropParams, CropBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void run(const PassArgs& args, Band band) const override;
#if LENSD_CUDA
  void launch(const PassArgs& args, CudaStream stream) const override;
#endif
  void reference(ReferenceRun& run) const override;

 private:
  CropRect rect_;  ///< as planned; a new rectangle waits for the next plan
};

}  // namespace lensd
