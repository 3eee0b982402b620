// sobel: first derivatives with the 3×3 kernels of cv::Sobel, in integers.
//
// output = x, y: min(255, |derivative|), as cv::convertScaleAbs of cv::Sobel in 16 bits;
//          magnitude: √(dx² + dy²), rounded, at most 255;
//          direction: atan2(dy, dx) in 256ths of a turn, 0 to the right, 64 down; differs from exact
//          rounding only if the exact value is within 4e-4 of a half.
//
// 16 bits: values are at most 65535. The direction is in 65536ths of a turn; before rounding, it is within
// about 0.1 of the exact value.
//
// Formats: Gray8 and Gray16, in and out. Border rule: `border`. Temporal reach: none. Exact; magnitude and
// direction in single precision in a fixed order.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/single_pass.hpp"

namespace lensd {

enum class SobelOutput : uint8_t { magnitude, x, y, direction };

struct SobelParams {
  SobelOutput output = SobelOutput::magnitude;
  Border border = Border::reflect101;
};

using SobelBlock = ParamsBlock<SobelParams>;

/// Coefficients of atan(t) for 0 ≤ t ≤ 1 in 256ths of a turn: t · (a0 + a1·t² + …), Abramowitz & Stegun
/// 4.4.49, |error| ≤ 1e-5 rad = 4e-4 steps.
inline constexpr float kSobelAtan0 = 40.738206f, kSobelAtan1 = -13.457612f, kSobelAtan2 = 7.339605f,
                       kSobelAtan3 = -3.4686305f, kSobelAtan4 = 0.84889834f;

/// Returns √(dx² + dy²), rounded, at most 255. The sum of squares is below 2^24, and its root is at least
/// 4e-4 away from a half. So single precision rounds like the exact root.
LENSD_HD inline int sobel_magnitude(int dx, int dy) {
  const float root = sqrtf(static_cast<float>(dx * dx + dy * dy)) + 0.5f;
  return root < 255.0f ? static_cast<int>(root) : 255;
}

/// Returns the direction of the gradient in 256ths of a turn: 0 to the right, 64 down; 0 if there is no
/// gradient.
LENSD_HD inline int sobel_direction(int dx, int dy) {
  const int ax = dx < 0 ? -dx : dx, ay = dy < 0 ? -dy : dy;
  const int low = ax < ay ? ax : ay, high = ax < ay ? ay : ax;
  const float t = static_cast<float>(low) / static_cast<float>(high > 1 ? high : 1);
  const float s = t * t;
  float p = kSobelAtan4 * s + kSobelAtan3;
  p = p * s + kSobelAtan2;
  p = p * s + kSobelAtan1;
  p = p * s + kSobelAtan0;
  float a = p * t;
  if (ay > ax) a = 64.0f - a;
  if (dx < 0) a = 128.0f - a;
  if (dy < 0) a = 256.0f - a;
  return static_cast<int>(a + 0.5f) & 255;
}

/// Returns the output value for derivatives dx, dy (each within ±1020).
LENSD_HD inline uint8_t sobel_value(SobelOutput output, int dx, int dy) {
  const int ax = dx < 0 ? -dx : dx, ay = dy < 0 ? -dy : dy;
  switch (output) {
    case SobelOutput::x:
      return static_cast<uint8_t>(ax < 255 ? ax : 255);
    case SobelOutput::y:
      return static_cast<uint8_t>(ay < 255 ? ay : 255);
    case SobelOutput::magnitude:
      return static_cast<uint8_t>(sobel_magnitude(dx, dy));
    case SobelOutput::direction:
      return static_cast<uint8_t>(sobel_direction(dx, dy));
  }
  return 0;
}

/// Computes sobel_value() for derivatives of 16-bit samples, each within ±262140.
LENSD_HD inline uint16_t deep_sobel_value(SobelOutput output, int dx, int dy) {
  const int ax = dx < 0 ? -dx : dx, ay = dy < 0 ? -dy : dy;
  if (output == SobelOutput::x) return static_cast<uint16_t>(ax < 65535 ? ax : 65535);
  if (output == SobelOutput::y) return static_cast<uint16_t>(ay < 65535 ? ay : 65535);
  const float fx = static_cast<float>(ax), fy = static_cast<float>(ay);
  if (output == SobelOutput::magnitude) {
    const float root = sqrtf(fx * fx + fy * fy) + 0.5f;
    return static_cast<uint16_t>(static_cast<int>(root < 65535.0f ? root : 65535.0f));
  }
  const float low = fx < fy ? fx : fy, high = fx < fy ? fy : fx;
  const float t = low / (high > 1.0f ? high : 1.0f);
  const float s = t * t;
  float p = kSobelAtan4 * s + kSobelAtan3;
  p = p * s + kSobelAtan2;
  p = p * s + kSobelAtan1;
  p = p * s + kSobelAtan0;
  float a = 256.0f * (p * t);
  a = ay > ax ? 16384.0f - a : a;
  a = dx < 0 ? 32768.0f - a : a;
  a = dy < 0 ? 65536.0f - a : a;
  return static_cast<uint16_t>(static_cast<int>(a + 0.5f) & 65535);
}

class Sobel final : public SinglePass<Sobel, SobelParams> {
 public:
  static constexpr PassCost cost{.operations = 16};

  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void apply_deep(const PassArgs& args, Band band) const;
  void launch_deep(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;
};

}  // namespace lensd
