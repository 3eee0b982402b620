// The part of a shared buffer that the sender shows, and its orientation: PipeWire's metadata VideoCrop and
// VideoTransform.
//
// GNOME sends a shared window in a buffer of the monitor's size, with the window's rectangle as VideoCrop.
// Nodes of rotated cameras and outputs have a VideoTransform.
#pragma once

#include <spa/buffer/buffer.h>
#include <spa/pod/builder.h>

#include <array>
#include <cstdint>

#include "core/image/view.hpp"
#include "core/media/pipewire/received_formats.hpp"

namespace lensd {

/// SPA_META_VideoTransform, which the headers before PipeWire 0.3.62 do not define.
inline constexpr uint32_t kMetaTransform = 8;

/// A rectangle in a picture, in pixels.
struct ShownRegion {
  int x = 0, y = 0;
  Extent size;
  bool operator==(const ShownRegion&) const = default;
};

/// Returns the rectangle that the sender shows, within a picture of `size`. Rounds x and y down to whole
/// chroma samples and keeps the width and height, so that a window that moves keeps its size. Returns the
/// whole picture if the sender gives no rectangle or one outside the picture.
ShownRegion shown_region(const spa_buffer& buffer, AVPixelFormat pixels, Extent size);

/// Moves the beginning of each plane to the region's first pixel. `region`: a result of shown_region().
void crop_planes(AVPixelFormat pixels, const ShownRegion& region, ReceivedPlanes& planes);

/// Attaches the display matrix that undoes the sender's transform. Attaches nothing if there is no transform.
/// Returns 0 or an AVERROR.
int set_received_orientation(const spa_buffer& buffer, AVFrame& frame);

/// Builds the requests for both kinds of metadata in each buffer.
std::array<const spa_pod*, 2> build_region_requests(spa_pod_builder& builder);

/// Decides when a new size is shown. Each new size causes a new plan and a new file of a recording. While a
/// window is being resized, its pictures therefore wait until the size is stable.
class SettledSize {
 public:
  static constexpr int64_t kStableNs = 200'000'000;  ///< shows a size that has not changed for this time
  /// Shows any size after this time, so that the source does not count as stalled.
  static constexpr int64_t kMaxNs = 500'000'000;

  /// Returns true if a picture of this size is to be shown at the time `now_ns`. The first size is shown at
  /// once.
  bool settled(Extent size, int64_t now_ns) noexcept;

 private:
  Extent shown_, next_;
  int64_t next_ns_ = 0;   ///< when `next_` was first seen
  int64_t since_ns_ = 0;  ///< when the size has first differed from `shown_`; 0: it does not differ
};

}  // namespace lensd
