#pragma once

#include "core/image/view.hpp"

namespace lensd {

enum class FlipMode : uint8_t { horizontal, vertical, both };

struct FlipParams {
  FlipMode mode = FlipMode::horizontal;
};

struct FlipBlock {
  bool x = false, y = false;  ///< columns and rows in reverse
  static FlipBlock make(const FlipParams& params) {
    return {params.mode != FlipMode::vertical, params.mode != FlipMode::horizontal};
  }
};

}  // namespace lensd
