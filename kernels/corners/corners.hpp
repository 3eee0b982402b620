// Detection of corners for klt: Shi-Tomasi's smallest eigenvalue, strongest first, at a minimum distance from
// one another and from the tracks that live.
//
//   luma ─▶ eigenvalue map ─▶ local maxima above quality × maximum ─▶ strongest first
//        ─▶ min_distance to living tracks and to stronger corners ─▶ at most `wanted` corners
//
// The map is that of cv::cornerMinEigenVal (Sobel 3×3, border reflect101, sums over block × block), the
// choice that of cv::goodFeaturesToTrack: pixels on the rim are no corners, and a distance of exactly
// min_distance is enough. Of neighbours with the same eigenvalue one is a local maximum, the first of them; a
// track lies at its nearest pixel. Exact: integer sums, then a prescribed order of float operations;
// the same corners on both backends, for any number of threads, and from the oracle. All conditions are read
// from memory by the passes themselves: the same passes run for every frame.
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

/// Plain data, part of klt's parameter block.
struct CornerParams {
  int block = 3;           ///< side of the square over which the structure tensor is summed, 1 … 31
  float quality = 0.01f;   ///< least strength, as part of the map's maximum
  float min_distance = 8;  ///< pixels; 0: none
  int capacity = 1000;     ///< places for corners found
};

/// A corner at a pixel's centre. `strength` is the smallest eigenvalue as the bits of a float that is not
/// negative, so that integers compare as the floats do.
struct Corner {
  int32_t x, y;
  uint32_t strength;
};

/// What came of a detection.
struct CornerCount {
  uint32_t found;      ///< corners in CornerJob::found
  uint32_t strongest;  ///< the map's maximum, as Corner::strength
};

/// The luma of the frame at hand: in which half of klt's state it lies only the backend's memory knows.
struct CornerLuma {
  const uint8_t* halves[2] = {};  ///< first pixel of each half
  const FrameBlock* frame = nullptr;
  std::ptrdiff_t pitch_bytes = 0;  ///< a multiple of 64, rows are aligned to it
  Extent extent;

  LENSD_HD ImageView<const uint8_t> now() const {
    return {halves[~frame->state_index & 1], pitch_bytes, extent};
  }
};

/// All pointers are on the backend's side.
struct CornerJob {
  CornerLuma luma;
  const CornerParams* params;
  const TrackTable* living;  ///< tracks with is_alive() keep new corners away
  const uint32_t* wanted;    ///< how many new corners at most; 0: nothing to do, `count` becomes 0, 0
  Corner* found;             ///< `capacity` places, strongest first; ties: smaller y, then smaller x
  CornerCount* count;
  uint8_t* scratch;  ///< corner_scratch_bytes(); 256-byte aligned; unspecified at the first pass
};

/// `capacity` here and below is CornerParams::capacity.
size_t corner_scratch_bytes(Extent extent, int capacity);
/// CPU: private memory of each worker.
size_t corner_worker_bytes(Extent extent);
/// Passes of one detection, with their items and grain on the CPU side.
std::vector<PassSpec> corner_passes(Extent extent, int capacity, Backend backend);
/// CPU: one band of pass `pass`, counted from corner_passes' first. Any worker.
void run_corners(const CornerJob& job, int pass, Band band, uint8_t* worker);
#if LENSD_CUDA
/// CUDA: queues pass `pass`; `job` itself is on the host. `capacity` shapes launches.
void launch_corners(const CornerJob& job, int capacity, int pass, CudaStream stream);
#endif
/// The definition, scalar. `living` may be null.
std::vector<Corner> corners_reference(const Image& luma, const CornerParams& params, const TrackTable* living,
                                      uint32_t wanted, CornerCount& count);

}  // namespace lensd
