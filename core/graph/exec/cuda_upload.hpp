// A decoded picture's way to the GPU: where its planes lie there, and the copies that bring them.
//
//   PictureRef (host) ── copy_planes() on the copy stream ──▶ PictureRef (device): uploaded_planes()
//
// Included by core/graph/cuda_*.cpp only.
#pragma once

#include "core/device/cuda_handles.hpp"
#include "core/device/memory.hpp"
#include "core/image/picture_handle.hpp"

namespace lensd {

/// Device memory that the planes of such a picture take.
size_t upload_bytes(const PictureInfo& info);

/// Where the planes of such pictures lie in `memory` (upload_bytes() of it) once they are uploaded. A
/// bottom-up picture stays so.
PictureRef uploaded_planes(const MemoryBlock& memory, const PictureInfo& info, bool bottom_up);

/// Queues a copy for each plane, to where uploaded_planes() said.
void copy_planes(const PictureRef& source, const PictureRef& uploaded, const cuda::Stream& stream);

}  // namespace lensd
