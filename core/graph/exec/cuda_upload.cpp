#include "core/graph/exec/cuda_upload.hpp"

namespace lensd {
namespace {

size_t upload_pitch(const PictureInfo& info, int plane) {
  return align_up(info.plane_row_bytes(plane), kDeviceAlignment);
}

}  // namespace

size_t upload_bytes(const PictureInfo& info) {
  size_t total = 0;
  for (int p = 0; p < info.format.plane_count; ++p)
    total += upload_pitch(info, p) * static_cast<size_t>(info.plane_rows(p));
  return total;
}

PictureRef uploaded_planes(const MemoryBlock& memory, const PictureInfo& info, bool bottom_up) {
  PictureRef planes;
  planes.info = info, planes.memory = MemoryKind::device;
  size_t offset = 0;
  for (int p = 0; p < info.format.plane_count; ++p) {
    const auto plane = static_cast<size_t>(p);
    const size_t pitch = upload_pitch(info, p), rows = static_cast<size_t>(info.plane_rows(p));
    uint8_t* const begin = memory.data() + offset;
    planes.planes[plane] = bottom_up ? begin + pitch * (rows - 1) : begin;
    planes.pitch_bytes[plane] =
        bottom_up ? -static_cast<std::ptrdiff_t>(pitch) : static_cast<std::ptrdiff_t>(pitch);
    offset += pitch * rows;
  }
  return planes;
}

void copy_planes(const PictureRef& source, const PictureRef& uploaded, const cuda::Stream& stream) {
  for (int p = 0; p < source.info.format.plane_count; ++p) {
    const auto plane = static_cast<size_t>(p);
    const size_t row_bytes = source.info.plane_row_bytes(p), pitch = upload_pitch(source.info, p);
    const int rows = source.info.plane_rows(p);
    // Copied from the lowest address to the lowest address, whichever way the rows run.
    const auto lowest = [&](const uint8_t* first, std::ptrdiff_t step) {
      return step < 0 ? first + step * (rows - 1) : first;
    };
    const std::ptrdiff_t from_pitch = source.pitch_bytes[plane];
    LENSD_CUDA_CHECK(
        cudaMemcpy2DAsync(const_cast<uint8_t*>(lowest(uploaded.planes[plane], uploaded.pitch_bytes[plane])),
                          pitch, lowest(source.planes[plane], from_pitch),
                          static_cast<size_t>(from_pitch < 0 ? -from_pitch : from_pitch), row_bytes,
                          static_cast<size_t>(rows), cudaMemcpyHostToDevice, stream.get()));
  }
}

}  // namespace lensd
