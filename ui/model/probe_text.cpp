#include "ui/model/probe_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lensd::ui {

std::array<long, 3> ycbcr_of(const Rgba16& pixel, bool deep) {
  const double neutral = deep ? 32768 : 128;
  const double r = pixel.r, g = pixel.g, b = pixel.b, y = 0.299 * r + 0.587 * g + 0.114 * b;
  const auto clip = [&](double v) { return std::clamp(std::lround(v), 0l, deep ? 65535l : 255l); };
  return {clip(y), clip(neutral + (b - y) / 1.772), clip(neutral + (r - y) / 1.402)};
}

std::string hex_of(const Rgba16& pixel, bool gray, bool deep) {
  const int digits = deep ? 4 : 2;
  if (gray) return fmt::format("#{:0{}x}", pixel.r, digits);
  return fmt::format("#{0:0{3}x}{1:0{3}x}{2:0{3}x}", pixel.r, pixel.g, pixel.b, digits);
}

}  // namespace lensd::ui
