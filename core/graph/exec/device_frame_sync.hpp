// Synchronises readers of device frames with the executor.
#pragma once

#include "core/device/cuda_fwd.hpp"
#include "core/image/frame.hpp"

namespace lensd {

/// The caller must hold the frame during each call.
struct DeviceFrameSync {
  virtual ~DeviceFrameSync() = default;
  /// Makes work queued on `stream` after this call wait until the frame's pixels are written. Does not block.
  virtual void wait_ready(CudaStream stream, const Frame& frame) = 0;
  /// Keeps the frame from being overwritten until the work queued on `stream` before this call has finished.
  /// Does not block.
  virtual void reading_done(CudaStream stream, const Frame& frame) = 0;
  /// Copies a rectangle of image `image` to `to` in host memory. The rectangle begins at pixel (x, y) and has
  /// the size of `to`. The pixel formats must be equal. Waits until the copy is complete. Thread-safe.
  virtual void copy_to_host(const Frame& frame, int image, int x, int y, ImageRef to) = 0;
};

}  // namespace lensd
