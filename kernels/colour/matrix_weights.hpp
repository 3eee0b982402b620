// The weights of chroma in R, G and B of the matrices of BT.601, BT.709 and BT.2020.
#pragma once

#include "core/image/picture.hpp"

namespace lensd {

/// R = Y + rv·V, G = Y − gu·U − gv·V, B = Y + bu·U, with Y from 0 to 1 and U and V from −0.5 to 0.5.
struct MatrixWeights {
  double rv, gu, gv, bu;

  static constexpr MatrixWeights of(YuvMatrix matrix) {
    constexpr double kr_of[] = {0.299, 0.2126, 0.2627}, kb_of[] = {0.114, 0.0722, 0.0593};
    const double kr = kr_of[static_cast<int>(matrix)], kb = kb_of[static_cast<int>(matrix)], kg = 1 - kr - kb;
    return {2 * (1 - kr), 2 * kb * (1 - kb) / kg, 2 * kr * (1 - kr) / kg, 2 * (1 - kb)};
  }
};

}  // namespace lensd
