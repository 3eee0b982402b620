// The weights of chroma in R, G and B of the matrices of BT.601, BT.709 and BT.2020.
#pragma once

#include "core/image/luma_coefficients.hpp"

namespace lensd {

/// R = Y + rv·V, G = Y − gu·U − gv·V, B = Y + bu·U, with Y from 0 to 1 and U and V from −0.5 to 0.5.
struct MatrixWeights {
  double rv, gu, gv, bu;

  static constexpr MatrixWeights of(YuvMatrix matrix) {
    const auto [kr, kb] = LumaCoefficients::of(matrix);
    const double kg = 1 - kr - kb;
    return {2 * (1 - kr), 2 * kb * (1 - kb) / kg, 2 * kr * (1 - kr) / kg, 2 * (1 - kb)};
  }
};

}  // namespace lensd
