// How readers of device frames stay in order with the executor, without the host waiting.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "core/image/frame.hpp"

namespace lensd {

/// Called from the reader's thread while it holds the frame; the executor orders its own side. The first two
/// queue on the reader's stream and return at once.
struct DeviceFrameSync {
  virtual ~DeviceFrameSync() = default;
  /// Work queued on `stream` after this sees the frame's pixels.
  virtual void wait_ready(CudaStream stream, const Frame& frame) = 0;
  /// The frame's memory is written again only after what is queued on `stream` by now has passed.
  virtual void reading_done(CudaStream stream, const Frame& frame) = 0;
  /// Copies a part of an image of the frame, from pixel (x, y) on and as large as `to`, into host memory of
  /// the same pixel format, and waits until it is there: for recorders, snapshots and the probe. Any thread.
  virtual void copy_to_host(const Frame& frame, int image, int x, int y, ImageRef to) = 0;
};

}  // namespace lensd
