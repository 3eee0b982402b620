// Uploads decoded pictures to the GPU.
//
//   PictureRef (host) ── copy_planes() on the copy stream ──▶ PictureRef (device): uploaded_planes()
//
// Included by cuda_*.cpp only.
#pragma once

#include "core/device/cuda_handles.hpp"
#include "core/device/memory.hpp"
#include "core/image/picture_handle.hpp"

namespace lensd {

/// Returns the bytes of device memory for all planes of a picture, with rows padded to kDeviceAlignment.
size_t upload_bytes(const PictureInfo& info);

/// Returns the planes of an uploaded picture in `memory`, which has upload_bytes() bytes. If `bottom_up`, the
/// rows are stored from bottom to top and the pitches are negative.
PictureRef uploaded_planes(const MemoryBlock& memory, const PictureInfo& info, bool bottom_up);

/// Queues copies of all planes of `source` to `uploaded`, a result of uploaded_planes().
void copy_planes(const PictureRef& source, const PictureRef& uploaded, const cuda::Stream& stream);

}  // namespace lensd
