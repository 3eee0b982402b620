// Arguments of colour's kernels.
#pragma once

#include "kernels/colour/colour.hpp"
#include "kernels/common/launch.cuh"

namespace lensd {

/// 4:2:0 layouts whose samples can be loaded as words, four columns at a time. `pairs`: U and V interleaved
/// (NV12, P010). `planes`: U and V in separate planes (yuv420p, 8 to 12 bits). `none`: any other layout, a
/// rotated or flipped picture, or rows that are not sufficiently aligned.
enum class ColourPacking : uint8_t { none, pairs, planes };

/// A picture, its conversion and the output, in plain types for the device.
struct ColourJob {
  const uint8_t* planes[4];  ///< plane of each component
  int32_t pitches[4];        ///< pitch of each component in bytes
  ComponentLayout layouts[4];
  Extent extent, upright;
  ColourMatrix matrix;
  ColourMatrix codes;         ///< used with `light`
  const DisplayLight* light;  ///< device memory; null: the results of `matrix` are the colours
  Orientation turn;
  ImageView<uint8_t> out;
  bool rgb, has_alpha, cosited_x, cosited_y;
  bool straight;  ///< the picture is stored upright
  bool wide;      ///< `straight`, and output rows are aligned to 16 bytes (4 for grey)
  bool aligned;   ///< output rows are aligned to 4 bytes
  ColourPacking packing;

  __device__ const uint8_t* row(int component, int y) const {
    // In assembly, because nvcc emits three instructions instead of this one if it knows that y ≥ 0.
    int64_t offset;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(offset) : "r"(y), "r"(pitches[component]));
    return planes[component] + offset;
  }
};

/// Converts the picture with ColourJob::light.
void launch_light(const PictureFormat& format, const ColourJob& job, CudaStream stream);

}  // namespace lensd
