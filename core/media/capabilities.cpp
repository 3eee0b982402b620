#include "core/media/capabilities.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
}

#include <dlfcn.h>
#include <fmt/format.h>

#include "core/media/ffmpeg/ffmpeg.hpp"

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
  ff::initialize();
  AVHWDeviceType type = AV_HWDEVICE_TYPE_NONE;
  do type = av_hwdevice_iterate_types(type);
  while (type != AV_HWDEVICE_TYPE_NONE && type != AV_HWDEVICE_TYPE_CUDA);
  if (type == AV_HWDEVICE_TYPE_NONE) return "this FFmpeg was built without CUDA decoding";
  AVBufferRef* context = nullptr;
  const int error = av_hwdevice_ctx_create(&context, type, std::to_string(device).c_str(), nullptr, 0);
  av_buffer_unref(&context);
  if (error < 0) return "FFmpeg found no CUDA device (is the driver installed?)";
  // FFmpeg loads the decoder's library only when it opens a decoder.
  void* const decoder = dlopen("libnvcuvid.so.1", RTLD_LAZY);
  if (!decoder)
    return "libnvcuvid.so.1 is missing (install libnvcuvid1; a container needs the driver capability video)";
  dlclose(decoder);
  return "";
}

}  // namespace lensd
