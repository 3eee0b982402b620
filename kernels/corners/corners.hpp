// Corner detector, a library for trackers. It selects corners by Shi-Tomasi's smallest eigenvalue, strongest
// first, at a minimum distance from one another and from live tracks.
//
//   luma ─▶ eigenvalue map ─▶ local maxima above quality × maximum ─▶ strongest first
//        ─▶ min_distance to live tracks and to stronger corners ─▶ at most `wanted` corners
//
// A tracker appends corner_passes() to its own passes and calls them with a CornerJob.
//
// The map is that of cv::cornerMinEigenVal (Sobel 3×3, border reflect101, sums over block × block). The
// selection is that of cv::goodFeaturesToTrack: the picture's outermost pixels are not corners, and a
// distance of exactly min_distance is allowed. Luma of 16-bit images is rounded to corner_fraction_bits()
// fraction bits. For a block size of 3 that is 3 bits, which keeps the values of 10-bit video distinct. Of
// adjacent pixels with equal eigenvalues only the first is a local maximum. A track's position is rounded to
// the nearest pixel. Exact: integer sums, then floats in a fixed order; both backends and the oracle return
// the same corners for any number of threads. Passes read all conditions from memory, so the same passes run
// for every frame.
//
// Files: corners_math: arithmetic shared by backends and oracle. corners.cpp: CPU passes; corners_simd: their
// rows. corners.cu, corners_rank.cu: CUDA passes; corners_map.cuh: eigenvalues of a tile; corners_launch.cuh:
// shared parts; corners_device.hpp: their memory. corners_reference.cpp: the oracle.
#pragma once

#include <cstdint>
#include <vector>

#include "core/device/backend.hpp"
#include "core/device/cuda_fwd.hpp"
#include "core/device/workers.hpp"
#include "core/graph/filter.hpp"
#include "core/image/image.hpp"
#include "core/image/tracks.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Parameters of the detector: plain data, part of the tracker's parameter block.
struct CornerParams {
  int block = 3;           ///< side of the square over which the structure tensor is summed, 1 … 31
  float quality = 0.01f;   ///< minimum strength as a fraction of the map's maximum
  float min_distance = 8;  ///< minimum distance between corners in pixels; 0: no minimum
  int capacity = 1000;     ///< maximum number of corners found
};

/// Corner at a pixel's centre. `strength` holds the bits of the smallest eigenvalue, a float ≥ 0, so that
/// integer comparison orders it. With n fraction bits, it is 4^n times that of grey levels.
struct Corner {
  int32_t x, y;
  uint32_t strength;
};

/// Number of corners and maximum strength that a detection has found.
struct CornerCount {
  uint32_t found;      ///< corners stored in CornerJob::found
  uint32_t strongest;  ///< maximum of the map, as Corner::strength
};

/// Luma of the current frame, in one half of the tracker's state. `frame`, in the backend's memory, selects
/// the half.
struct CornerLuma {
  const uint8_t* halves[2] = {};  ///< pointers to the first pixel of each half
  const FrameBlock* frame = nullptr;
  std::ptrdiff_t pitch_bytes = 0;  ///< a multiple of 64; rows are aligned to 64 bytes
  Extent extent;
  bool deep = false;  ///< pixels are uint16_t with 7 fraction bits, 0 to 32640, instead of uint8_t

  template <class Pixel>
  LENSD_HD ImageView<const Pixel> view() const {
    return {reinterpret_cast<const Pixel*>(halves[~frame->state_index & 1]), pitch_bytes, extent};
  }
};

/// Arguments of a detection. All pointers are to the backend's memory.
struct CornerJob {
  CornerLuma luma;
  const CornerParams* params;
  const TrackTable* tracks;  ///< live tracks suppress corners near them; may be null
  /// Maximum number of new corners; 0 skips the detection and clears `count`.
  const uint32_t* wanted;
  Corner* found;  ///< `capacity` places, strongest first; ties: smaller y, then smaller x
  CornerCount* count;
  /// Memory of corner_scratch_bytes() bytes, 256-byte aligned; unspecified content at the first pass.
  uint8_t* scratch;
};

size_t corner_scratch_bytes(Extent extent);
/// Returns the bytes of private memory for each worker on the CPU.
size_t corner_worker_bytes(Extent extent);

/// Pass of a detection. `spec` has no functions; `run` and `launch` take a job instead of a filter.
struct CornerPass {
  PassSpec spec;
  void (*run)(const CornerJob& job, Band band, uint8_t* worker) = nullptr;  ///< CPU
  void (*launch)(const CornerJob& job, CudaStream stream) = nullptr;        ///< CUDA; `job` is on the host
};
/// Returns the passes of a detection in their order. `capacity` is CornerParams::capacity, `deep` is
/// CornerLuma::deep.
std::vector<CornerPass> corner_passes(Extent extent, int capacity, bool deep, Backend backend);
#if LENSD_CUDA
std::vector<CornerPass> corner_cuda_passes(Extent extent, int capacity, bool deep);
#endif

/// Returns the corners of the scalar oracle and sets `count`. `luma`: Gray8, or Gray16 with 7 fraction bits
/// as CornerLuma::deep. `tracks` may be null.
std::vector<Corner> corners_reference(const Image& luma, const CornerParams& params, const TrackTable* tracks,
                                      uint32_t wanted, CornerCount& count);

}  // namespace lensd
