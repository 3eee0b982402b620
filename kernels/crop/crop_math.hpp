#pragma once

#include <algorithm>

#include "core/image/view.hpp"

namespace lensd {

struct CropParams {
  int x = 0, y = 0, width = 0, height = 0;
};

/// The rectangle is fixed when the graph is planned and travels as a launch argument.
struct CropBlock {
  static CropBlock make(const CropParams&) { return {}; }
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

}  // namespace lensd
