#include "core/graph/exec/cuda_upload.hpp"

#include <cstdlib>

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
    // In bottom-up planes the first row has the highest address. Copies begin at the lowest address.
    const auto lowest = [&](const PictureRef& picture) {
      const std::ptrdiff_t step = picture.pitch_bytes[plane];
      return step < 0 ? picture.planes[plane] + step * (rows - 1) : picture.planes[plane];
    };
    LENSD_CUDA_CHECK(cudaMemcpy2DAsync(const_cast<uint8_t*>(lowest(uploaded)), pitch, lowest(source),
                                       static_cast<size_t>(std::abs(source.pitch_bytes[plane])), row_bytes,
                                       static_cast<size_t>(rows), cudaMemcpyHostToDevice, stream.get()));
  }
}

}  // namespace lensd
