#include "core/media/capabilities.hpp"

#include <fmt/format.h>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/hwcontext.h>
}

namespace lensd {
namespace {

std::string version(const char* library, unsigned v) {
  return fmt::format("{} {}.{}.{}", library, AV_VERSION_MAJOR(v), AV_VERSION_MINOR(v), AV_VERSION_MICRO(v));
}

}  // namespace

std::string ffmpeg_versions() {
  return version("libavcodec", avcodec_version()) + ", " + version("libavformat", avformat_version()) + ", " +
         version("libavutil", avutil_version());
}

std::string hardware_decoding_obstacle(int device) {
  bool known = false;
  for (AVHWDeviceType type = av_hwdevice_iterate_types(AV_HWDEVICE_TYPE_NONE); type != AV_HWDEVICE_TYPE_NONE;
       type = av_hwdevice_iterate_types(type))
    known = known || type == AV_HWDEVICE_TYPE_CUDA;
  if (!known) return "this FFmpeg was built without CUDA decoding";
  const int level = av_log_get_level();
  av_log_set_level(AV_LOG_QUIET);
  AVBufferRef* context = nullptr;
  const int status =
      av_hwdevice_ctx_create(&context, AV_HWDEVICE_TYPE_CUDA, std::to_string(device).c_str(), nullptr, 0);
  av_log_set_level(level);
  if (status < 0) return "no CUDA device for FFmpeg (the driver is missing)";
  av_buffer_unref(&context);
  return {};
}

}  // namespace lensd
