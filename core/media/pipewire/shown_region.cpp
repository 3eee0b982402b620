#include "core/media/pipewire/shown_region.hpp"

extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include <spa/buffer/meta.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/pipewire/frame_formats.hpp"

namespace lensd {
namespace {

struct MetaTransform {
  uint32_t transform;
};

/// The inverse of each transform. Values 0 to 3: the sender rotated the picture counter-clockwise by 0, 90,
/// 180 or 270 degrees. Values 4 to 7: it flipped the picture horizontally first.
constexpr Orientation kUndo[] = {{},
                                 {true, true, false},
                                 {false, true, true},
                                 {true, false, true},
                                 {false, true, false},
                                 {true, false, false},
                                 {false, false, true},
                                 {true, true, true}};

template <class T>
const T* find_meta(const spa_buffer& buffer, uint32_t type) {
  return static_cast<const T*>(spa_buffer_find_meta_data(&buffer, type, sizeof(T)));
}

}  // namespace

ShownRegion shown_region(const spa_buffer& buffer, AVPixelFormat pixels, Extent size) {
  const ShownRegion whole = {0, 0, size};
  const auto* meta = find_meta<spa_meta_region>(buffer, SPA_META_VideoCrop);
  if (!meta) return whole;
  const int64_t x = read_once(meta->region.position.x), y = read_once(meta->region.position.y);
  const int64_t left = std::max<int64_t>(x, 0), top = std::max<int64_t>(y, 0);
  const int64_t right = std::min<int64_t>(x + read_once(meta->region.size.width), size.width);
  const int64_t bottom = std::min<int64_t>(y + read_once(meta->region.size.height), size.height);
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
  const uint32_t transform = meta ? read_once(meta->transform) : 0;
  if (transform == 0 || transform >= std::size(kUndo)) return 0;
  const std::array<int32_t, 9> matrix = display_matrix_of(kUndo[transform], {frame.width, frame.height});
  AVFrameSideData* const data =
      av_frame_new_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX, sizeof(int32_t) * matrix.size());
  if (!data) return AVERROR(ENOMEM);
  std::memcpy(data->data, matrix.data(), sizeof(int32_t) * matrix.size());
  return 0;
}

std::array<const spa_pod*, 2> build_region_requests(spa_pod_builder& builder) {
  return {build_meta_request(builder, SPA_META_VideoCrop, sizeof(spa_meta_region)),
          build_meta_request(builder, kMetaTransform, sizeof(MetaTransform))};
}

bool SettledSize::settled(Extent size, int64_t now_ns) noexcept {
  if (shown_ == Extent{}) shown_ = size;
  if (size == shown_) {
    since_ns_ = 0;
    return true;
  }
  if (since_ns_ == 0) since_ns_ = now_ns, next_ = {};
  if (size != next_) next_ = size, next_ns_ = now_ns;
  if (now_ns - next_ns_ < kStableNs && now_ns - since_ns_ < kMaxNs) return false;
  shown_ = size, since_ns_ = 0;
  return true;
}

}  // namespace lensd
