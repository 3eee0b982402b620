// What the CUDA side of colour knows of a picture.
#pragma once

#include "kernels/colour/colour.hpp"
#include "kernels/common/launch.cuh"

namespace lensd {

/// Whether four columns of 4:2:0 can be loaded as words: with U and V in turn (NV12, P010), in planes of
/// their own (yuv420p, 8 to 12 bits), or not.
enum class ColourPacking : uint8_t { none, pairs, planes };

/// What a kernel needs of the PictureRef, which is a host structure.
struct ColourJob {
  const uint8_t* planes[4];  ///< of each component
  int32_t pitches[4];        ///< bytes
  ComponentLayout layouts[4];
  Extent extent, upright;
  ColourMatrix matrix;
  Orientation turn;
  ImageView<uint8_t> out;
  bool rgb, has_alpha, cosited_x, cosited_y;
  bool straight;  ///< the picture is upright as stored
  bool wide;      ///< … and rows of the output start at multiples of 16 bytes (4 for grey)
  bool aligned;   ///< output pixels are whole words
  ColourPacking packing;

  __device__ const uint8_t* row(int component, int y) const {
    int64_t offset;  // in one instruction, which nvcc makes three of where it knows that y is not negative
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(offset) : "r"(y), "r"(pitches[component]));
    return planes[component] + offset;
  }
};

}  // namespace lensd
