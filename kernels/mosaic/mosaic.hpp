// mosaic: sets every pixel to the rounded mean of its block; blocks at the right and bottom may be partial.
//
// Formats: all (channel by channel, alpha passes through). Border rule: none. Temporal reach: none. Exact:
// integer sums. Statistics: the frame's exact mean before the mosaic, as `mean` or `mean_r`, `mean_g`,
// `mean_b`, from 0 to 255 for all formats. The block size can change without a new plan, because the CUDA
// launch does not depend on it.
#pragma once

#include <cstdint>

#include "kernels/common/single_pass.hpp"

namespace lensd {

inline constexpr int kMosaicMaxBlock = 256;

struct MosaicParams {
  int block = 16;
};

struct MosaicBlock {
  int32_t block;
  static MosaicBlock make(const MosaicParams& params) { return {params.block}; }
};

/// The frame's exact channel sums; grey uses only the first.
struct MosaicStats {
  unsigned long long sums[3];
};

/// Returns the rounded mean of `count` samples; the sum of 256² 16-bit samples fits in 32 bits.
LENSD_HD constexpr uint32_t rounded_mean(uint32_t sum, uint32_t count) {
  return (sum + count / 2) / count;
}

/// Returns the bytes of worker memory that deep_mosaic_rows() needs.
size_t deep_mosaic_bytes(const ImageFormat& format);
/// Averages and fills one row of blocks of a 16-bit image: its rows [begin, end). Adds the channels' sums to
/// `sums`.
void deep_mosaic_rows(ConstImageRef in, ImageRef out, int begin, int end, int block, uint8_t* worker,
                      MosaicStats& sums);

class Mosaic final : public SinglePass<Mosaic, MosaicParams, MosaicBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;
  void read_stats(const void* stats, std::vector<Statistic>& out) const override;

 private:
  void launch_deep(const PassArgs& args, CudaStream stream) const;

  ImageFormat format_;
};

}  // namespace lensd
