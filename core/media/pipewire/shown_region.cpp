#include "core/media/pipewire/shown_region.hpp"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <spa/buffer/meta.h>
#include <spa/param/buffers.h>
#include <spa/param/param.h>

#include <algorithm>
#include <cstring>

namespace lensd {
namespace {

struct MetaTransform {
  uint32_t transform;
};

/// A display matrix without translation: x' = a·x + c·y, y' = b·x + d·y.
struct Turn {
  int a, b, c, d;
};
/// What undoes each transform. The sender has flipped the picture left to right, from value 4 on, and then
/// turned it counter-clockwise by 0, 90, 180 or 270 degrees.
constexpr Turn kUndo[] = {{1, 0, 0, 1},  {0, 1, -1, 0}, {-1, 0, 0, -1}, {0, -1, 1, 0},
                          {-1, 0, 0, 1}, {0, 1, 1, 0},  {1, 0, 0, -1},  {0, -1, -1, 0}};

template <class T>
const T* find_meta(const spa_buffer& buffer, uint32_t type) {
  return static_cast<const T*>(spa_buffer_find_meta_data(&buffer, type, sizeof(T)));
}

const spa_pod* build_request_for(spa_pod_builder& builder, uint32_t type, size_t bytes) {
  return static_cast<const spa_pod*>(spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(type),
      SPA_PARAM_META_size, SPA_POD_Int(static_cast<int>(bytes))));
}

}  // namespace

ShownRegion shown_region(const spa_buffer& buffer, AVPixelFormat pixels, Extent size) {
  const ShownRegion whole = {0, 0, size};
  const auto* meta = find_meta<spa_meta_region>(buffer, SPA_META_VideoCrop);
  if (!meta) return whole;
  const spa_region given = meta->region;
  const int64_t left = std::max(given.position.x, 0), top = std::max(given.position.y, 0);
  const int64_t right = std::min<int64_t>(int64_t{given.position.x} + given.size.width, size.width);
  const int64_t bottom = std::min<int64_t>(int64_t{given.position.y} + given.size.height, size.height);
  if (left >= right || top >= bottom) return whole;
  const AVPixFmtDescriptor& descriptor = *av_pix_fmt_desc_get(pixels);
  return {static_cast<int>(left) >> descriptor.log2_chroma_w << descriptor.log2_chroma_w,
          static_cast<int>(top) >> descriptor.log2_chroma_h << descriptor.log2_chroma_h,
          {static_cast<int>(right - left), static_cast<int>(bottom - top)}};
}

void crop_planes(AVPixelFormat pixels, const ShownRegion& region, ReceivedPlanes& planes) {
  const int shift = av_pix_fmt_desc_get(pixels)->log2_chroma_h;
  for (int p = 0; p < av_pix_fmt_count_planes(pixels); ++p) {
    const auto plane = static_cast<size_t>(p);
    const int row = p == 1 || p == 2 ? region.y >> shift : region.y;
    planes.data[plane] += static_cast<std::ptrdiff_t>(row) * planes.pitch_bytes[plane] +
                          av_image_get_linesize(pixels, region.x, p);
  }
}

int set_received_orientation(const spa_buffer& buffer, AVFrame& frame) {
  const auto* meta = find_meta<MetaTransform>(buffer, kMetaTransform);
  const uint32_t transform = meta ? meta->transform : 0;
  if (transform == 0 || transform >= std::size(kUndo)) return 0;
  constexpr int32_t kOne = 1 << 16;
  const Turn& undo = kUndo[transform];
  const std::array<int32_t, 9> matrix = {
      undo.a * kOne, undo.b * kOne, 0, undo.c * kOne, undo.d * kOne, 0, 0, 0, 1 << 30};
  AVFrameSideData* const data =
      av_frame_new_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX, sizeof(int32_t) * matrix.size());
  if (!data) return AVERROR(ENOMEM);
  std::memcpy(data->data, matrix.data(), sizeof(int32_t) * matrix.size());
  return 0;
}

std::array<const spa_pod*, 2> build_region_requests(spa_pod_builder& builder) {
  return {build_request_for(builder, SPA_META_VideoCrop, sizeof(spa_meta_region)),
          build_request_for(builder, kMetaTransform, sizeof(MetaTransform))};
}

bool SettledSize::settled(Extent size, int64_t now_ns) noexcept {
  if (shown_ == Extent{}) shown_ = size;
  if (size == shown_) {
    since_ns_ = 0;
    return true;
  }
  if (since_ns_ == 0) since_ns_ = now_ns, next_ = {};
  if (size != next_) next_ = size, next_ns_ = now_ns;
  if (now_ns - next_ns_ < kStableNs && now_ns - since_ns_ < kMostNs) return false;
  shown_ = size, since_ns_ = 0;
  return true;
}

}  // namespace lensd
