// unsharp: outputs in + amount · (in - gaussian(in)) where |in - gaussian(in)| > threshold, else in.
//
// 8 bits: the fraction of the threshold has no effect, because differences are whole numbers. 16 bits: the
// threshold is 257 times as high, rounded to a whole number.
//
// Formats: all (channel by channel; alpha passes through). Border rule: `border`, for the blur. Temporal
// reach: none. Exact for the blur that the gaussian filter computes with the same sigma; amount is rounded to
// 1/256. One pass: on the CPU a band's blur is written to the output and sharpened there, in the cache; on
// the GPU pixels are sharpened as they are written.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/samples.hpp"
#include "kernels/gaussian/gaussian.hpp"

namespace lensd {

struct UnsharpParams {
  double sigma = 1.6;
  double amount = 1;
  double threshold = 0;
  Border border = Border::reflect101;

  GaussianParams blur() const { return {.sigma = sigma, .border = border}; }
};

struct UnsharpBlock {
  GaussianBlock blur;                 ///< must be first: gaussian's kernels take the block's address
  int32_t amount;                     ///< amount in 1/256
  int32_t threshold, deep_threshold;  ///< for samples of 8 and of 16 bits

  static UnsharpBlock make(const UnsharpParams& p) {
    return {.blur = GaussianBlock::make(p.blur()),
            .amount = static_cast<int32_t>(std::lround(256 * p.amount)),
            .threshold = static_cast<int32_t>(p.threshold),  // differences are whole numbers
            .deep_threshold = static_cast<int32_t>(std::lround(257 * p.threshold))};
  }
};

/// Returns in + amount · (in - blurred), rounded and clamped, if the difference exceeds the threshold, else
/// `in`. `amount` is in 1/256.
LENSD_HD constexpr uint8_t unsharp_value(int in, int blurred, int amount, int threshold) {
  const int d = in - blurred;
  if ((d < 0 ? -d : d) <= threshold) return static_cast<uint8_t>(in);
  return clamp_to_byte(in + ((amount * d + 128) >> 8));
}

/// Computes unsharp_value() for 16-bit samples.
LENSD_HD constexpr int deep_unsharp_value(int in, int blurred, int amount, int threshold) {
  const int d = in - blurred;
  if ((d < 0 ? -d : d) <= threshold) return in;
  return clamp_to(65535, in + ((amount * d + 128) >> 8));
}

class Unsharp final : public FilterBase<Unsharp, UnsharpParams, UnsharpBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void apply_deep(const PassArgs& args, Band band) const;
  void launch_deep(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;
};

/// Lets the kernels use more than the default shared memory. Call before the first launch on a device.
void prepare_unsharp_kernels();
void prepare_deep_unsharp_kernels();

}  // namespace lensd
