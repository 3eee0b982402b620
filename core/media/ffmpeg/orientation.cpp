extern "C" {
#include <libavcodec/packet.h>
}

#include <atomic>
#include <cstdlib>

#include "core/base/log.hpp"
#include "core/media/ffmpeg/picture_info.hpp"

namespace lensd {
namespace {

const int32_t* stream_matrix(const AVStream* stream) {
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(60, 30, 100)  // FFmpeg 6.1 moved it
  const AVPacketSideData* data = av_packet_side_data_get(
      stream->codecpar->coded_side_data, stream->codecpar->nb_coded_side_data, AV_PKT_DATA_DISPLAYMATRIX);
  return data && data->size >= 9 * sizeof(int32_t) ? reinterpret_cast<const int32_t*>(data->data) : nullptr;
#else
  size_t size = 0;
  const uint8_t* data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  return data && size >= 9 * sizeof(int32_t) ? reinterpret_cast<const int32_t*>(data) : nullptr;
#endif
}

}  // namespace

std::optional<Orientation> orientation_of(const int32_t* m) {
  // libavutil/display.h: x' = a·x + c·y, y' = b·x + d·y with a = m[0], b = m[1], c = m[3], d = m[4].
  const int64_t a = m[0], b = m[1], c = m[3], d = m[4];
  const auto small = [](int64_t value, int64_t beside) {
    return std::llabs(value) * 64 <= std::llabs(beside);
  };
  if (a && d && small(b, a) && small(c, d)) return Orientation{false, a < 0, d < 0};
  if (b && c && small(a, b) && small(d, c)) return Orientation{true, c < 0, b < 0};
  return std::nullopt;
}

Orientation orientation_of(const AVFrame& frame, const AVStream* stream) {
  const int32_t* matrix = nullptr;
  if (const AVFrameSideData* data = av_frame_get_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX))
    if (static_cast<size_t>(data->size) >= 9 * sizeof(int32_t))
      matrix = reinterpret_cast<const int32_t*>(data->data);
  if (!matrix && stream) matrix = stream_matrix(stream);
  if (!matrix) return {};
  if (const auto orientation = orientation_of(matrix)) return *orientation;
  static std::atomic<bool> told{false};
  if (!told.exchange(true)) log::info("the video's rotation is not a quarter turn or flip and is ignored");
  return {};
}

}  // namespace lensd
