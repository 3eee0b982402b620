// The coefficients of R and B in luma.
#pragma once

#include "core/image/picture.hpp"

namespace lensd {

/// Y = r·R + (1 − r − b)·G + b·B; see MatrixCoefficients in H.273.
struct LumaCoefficients {
  double r, b;

  static constexpr LumaCoefficients of(YuvMatrix matrix) {
    constexpr LumaCoefficients kOf[] = {{0.299, 0.114}, {0.2126, 0.0722}, {0.2627, 0.0593}};
    return kOf[static_cast<int>(matrix)];
  }
};

}  // namespace lensd
