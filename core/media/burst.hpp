// Limits of the queues between the threads of a live source. A queue must hold the pictures of a burst from
// the network, so that none is lost, and the pictures whose sound is not heard yet.
#pragma once

#include <algorithm>
#include <cstddef>

#include "core/image/picture.hpp"

namespace lensd {

/// Maximum number of waiting pictures, a power of two: half a second at 30 frames per second.
inline constexpr size_t kBurstPictures = 16;

/// Maximum number of pictures that wait for their sound: 1.6 seconds at 30 frames per second.
inline constexpr size_t kSoundPictures = 48;

/// Returns how many pictures like `picture` may wait: at least `min_count`, and up to `max_count` if they
/// need at most `mebibytes` MiB. Returns `min_count` for pictures in GPU memory, because decoders have few
/// surfaces.
inline size_t queue_limit(const PictureRef& picture, size_t min_count, size_t max_count, size_t mebibytes) {
  if (picture.memory == MemoryKind::device) return min_count;
  size_t bytes = 1;
  for (int p = 0; p < picture.info.format.plane_count; ++p)
    bytes += picture.info.plane_row_bytes(p) * static_cast<size_t>(picture.info.plane_rows(p));
  return std::clamp((mebibytes << 20) / bytes, min_count, max_count);
}
/// Returns how many pictures like `picture` may wait in a burst.
inline size_t burst_limit(const PictureRef& picture, size_t min_count) {
  return queue_limit(picture, min_count, kBurstPictures, 128);
}

}  // namespace lensd
