#include "ui/model/probe_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/image/luma_coefficients.hpp"

namespace lensd::ui {

std::array<long, 3> ycbcr_of(const Rgba16& pixel, bool deep, YuvMatrix matrix) {
  const double neutral = deep ? 32768 : 128;
  const auto [kr, kb] = LumaCoefficients::of(matrix);
  const double r = pixel.r, g = pixel.g, b = pixel.b, y = kr * r + (1 - kr - kb) * g + kb * b;
  const auto clip = [&](double v) { return std::clamp(std::lround(v), 0l, deep ? 65535l : 255l); };
  return {clip(y), clip(neutral + (b - y) / (2 * (1 - kb))), clip(neutral + (r - y) / (2 * (1 - kr)))};
}

const char* ycbcr_title(YuvMatrix matrix) {
  constexpr const char* kTitles[] = {"YCbCr 601", "YCbCr 709", "YCbCr 2020"};
  return kTitles[static_cast<size_t>(matrix)];
}

std::string hex_of(const Rgba16& pixel, bool gray, bool deep) {
  const int digits = deep ? 4 : 2;
  if (gray) return fmt::format("#{:0{}x}", pixel.r, digits);
  return fmt::format("#{0:0{3}x}{1:0{3}x}{2:0{3}x}", pixel.r, pixel.g, pixel.b, digits);
}

}  // namespace lensd::ui
