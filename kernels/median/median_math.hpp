#pragma once

#include <cstdint>

#include "core/image/view.hpp"

namespace lensd {

inline constexpr int kMedianMaxRadius = 25;
inline constexpr int kMedianNetworkRadius = 2;  ///< the largest that networks do
inline constexpr int kMedianMergeRadius = 3;    ///< merged columns; tiles do all larger ones

struct MedianParams {
  int radius = 1;
  Border border = Border::replicate;
};

struct MedianBlock {
  int32_t radius;
  Border border;
  static MedianBlock make(const MedianParams& params) { return {params.radius, params.border}; }
};

}  // namespace lensd
