// crop: outputs a rectangle of the picture.
//
// The rectangle is moved and cut so that it lies in the picture and has at least one pixel. So a graph stays
// valid when its source changes to a smaller size. Width or height 0 extends the rectangle to the picture's
// edge.
//
// Formats: all. Border rule: none. Temporal reach: none. Exact.
#pragma once

#include <algorithm>

#include "kernels/common/single_pass.hpp"

namespace lensd {

struct CropParams {
  int x = 0, y = 0, width = 0, height = 0;
};

/// A rectangle inside a picture; width and height are at least 1.
struct CropRect {
  int x = 0, y = 0;
  Extent extent;
  static CropRect make(const CropParams& params, Extent picture) {
    const int x = std::min(params.x, picture.width - 1), y = std::min(params.y, picture.height - 1);
    const auto side = [](int wanted, int room) { return wanted == 0 ? room : std::min(wanted, room); };
    return {x, y, {side(params.width, picture.width - x), side(params.height, picture.height - y)}};
  }
};

class Crop final : public SinglePass<Crop, CropParams> {
 public:
  static constexpr PassCost cost{.operations = 0};

  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;

 private:
  CropRect rect_;  ///< rectangle from configure()
};

}  // namespace lensd
