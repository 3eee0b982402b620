#include "core/media/camera/v4l2_formats.hpp"

#include <linux/videodev2.h>

namespace lensd {
namespace {

/// Ranks, best first: uploaded unchanged, compressed (JPEG), converted by ConvertFallback, compressed with
/// inter frames.
constexpr int kDirect = 0, kCompressed = 1, kConverted = 2, kInterFrame = 3;

constexpr CameraFormatEntry raw(uint32_t fourcc, const char* name, AVPixelFormat pixels, int rank = kDirect) {
  return {fourcc, name, AV_CODEC_ID_RAWVIDEO, pixels, rank};
}
constexpr CameraFormatEntry raw_v_first(uint32_t fourcc, const char* name, AVPixelFormat pixels) {
  return {fourcc, name, AV_CODEC_ID_RAWVIDEO, pixels, kDirect, true};
}
constexpr CameraFormatEntry coded(uint32_t fourcc, const char* name, AVCodecID codec, int rank) {
  return {fourcc, name, codec, AV_PIX_FMT_NONE, rank};
}

constexpr CameraFormatEntry kCameraFormats[] = {
    raw(V4L2_PIX_FMT_YUYV, "yuyv422", AV_PIX_FMT_YUYV422),
    raw(V4L2_PIX_FMT_UYVY, "uyvy422", AV_PIX_FMT_UYVY422),
    raw(V4L2_PIX_FMT_YVYU, "yvyu422", AV_PIX_FMT_YVYU422),
    raw(V4L2_PIX_FMT_NV12, "nv12", AV_PIX_FMT_NV12),
    raw(V4L2_PIX_FMT_NV12M, "nv12", AV_PIX_FMT_NV12),
    raw(V4L2_PIX_FMT_NV21, "nv21", AV_PIX_FMT_NV21),
    raw(V4L2_PIX_FMT_NV21M, "nv21", AV_PIX_FMT_NV21),
    raw(V4L2_PIX_FMT_NV16, "nv16", AV_PIX_FMT_NV16),
    raw(V4L2_PIX_FMT_NV16M, "nv16", AV_PIX_FMT_NV16),
    raw(V4L2_PIX_FMT_NV24, "nv24", AV_PIX_FMT_NV24),
    raw(V4L2_PIX_FMT_NV42, "nv42", AV_PIX_FMT_NV42),
    raw(V4L2_PIX_FMT_YUV420, "yuv420p", AV_PIX_FMT_YUV420P),
    raw(V4L2_PIX_FMT_YUV420M, "yuv420p", AV_PIX_FMT_YUV420P),
    raw_v_first(V4L2_PIX_FMT_YVU420, "yuv420p", AV_PIX_FMT_YUV420P),
    raw_v_first(V4L2_PIX_FMT_YVU420M, "yuv420p", AV_PIX_FMT_YUV420P),
    raw_v_first(V4L2_PIX_FMT_YVU422M, "yuv422p", AV_PIX_FMT_YUV422P),
    raw_v_first(V4L2_PIX_FMT_YVU444M, "yuv444p", AV_PIX_FMT_YUV444P),
    raw(V4L2_PIX_FMT_YUV422P, "yuv422p", AV_PIX_FMT_YUV422P),
    raw(V4L2_PIX_FMT_YUV422M, "yuv422p", AV_PIX_FMT_YUV422P),
    raw(V4L2_PIX_FMT_YUV444M, "yuv444p", AV_PIX_FMT_YUV444P),
    raw(V4L2_PIX_FMT_GREY, "gray", AV_PIX_FMT_GRAY8),
    raw(V4L2_PIX_FMT_Y10, "gray10le", AV_PIX_FMT_GRAY10LE),
    raw(V4L2_PIX_FMT_Y12, "gray12le", AV_PIX_FMT_GRAY12LE),
    raw(V4L2_PIX_FMT_Y16, "gray16le", AV_PIX_FMT_GRAY16LE),
    raw(V4L2_PIX_FMT_RGB24, "rgb24", AV_PIX_FMT_RGB24),
    raw(V4L2_PIX_FMT_BGR24, "bgr24", AV_PIX_FMT_BGR24),
    raw(V4L2_PIX_FMT_XBGR32, "bgr0", AV_PIX_FMT_BGR0),
    raw(V4L2_PIX_FMT_BGR32, "bgr0", AV_PIX_FMT_BGR0),
    raw(V4L2_PIX_FMT_ABGR32, "bgra", AV_PIX_FMT_BGRA),
    raw(V4L2_PIX_FMT_XRGB32, "0rgb", AV_PIX_FMT_0RGB),
    raw(V4L2_PIX_FMT_RGB32, "0rgb", AV_PIX_FMT_0RGB),
    raw(V4L2_PIX_FMT_ARGB32, "argb", AV_PIX_FMT_ARGB),
    raw(V4L2_PIX_FMT_RGBX32, "rgb0", AV_PIX_FMT_RGB0),
    raw(V4L2_PIX_FMT_RGBA32, "rgba", AV_PIX_FMT_RGBA),
    raw(V4L2_PIX_FMT_BGRX32, "0bgr", AV_PIX_FMT_0BGR),
    raw(V4L2_PIX_FMT_BGRA32, "abgr", AV_PIX_FMT_ABGR),
    raw(V4L2_PIX_FMT_YUV411P, "yuv411p", AV_PIX_FMT_YUV411P, kConverted),
    raw(V4L2_PIX_FMT_YUV410, "yuv410p", AV_PIX_FMT_YUV410P, kConverted),
    raw(V4L2_PIX_FMT_Y16_BE, "gray16be", AV_PIX_FMT_GRAY16BE, kConverted),
    raw(V4L2_PIX_FMT_RGB332, "rgb8", AV_PIX_FMT_RGB8, kConverted),
    raw(V4L2_PIX_FMT_RGB444, "rgb444le", AV_PIX_FMT_RGB444LE, kConverted),
    raw(V4L2_PIX_FMT_XRGB444, "rgb444le", AV_PIX_FMT_RGB444LE, kConverted),
    raw(V4L2_PIX_FMT_RGB555, "rgb555le", AV_PIX_FMT_RGB555LE, kConverted),
    raw(V4L2_PIX_FMT_XRGB555, "rgb555le", AV_PIX_FMT_RGB555LE, kConverted),
    raw(V4L2_PIX_FMT_RGB555X, "rgb555be", AV_PIX_FMT_RGB555BE, kConverted),
    raw(V4L2_PIX_FMT_XRGB555X, "rgb555be", AV_PIX_FMT_RGB555BE, kConverted),
    raw(V4L2_PIX_FMT_RGB565, "rgb565le", AV_PIX_FMT_RGB565LE, kConverted),
    raw(V4L2_PIX_FMT_RGB565X, "rgb565be", AV_PIX_FMT_RGB565BE, kConverted),
    raw(V4L2_PIX_FMT_SBGGR8, "bayer_bggr8", AV_PIX_FMT_BAYER_BGGR8, kConverted),
    raw(V4L2_PIX_FMT_SGBRG8, "bayer_gbrg8", AV_PIX_FMT_BAYER_GBRG8, kConverted),
    raw(V4L2_PIX_FMT_SGRBG8, "bayer_grbg8", AV_PIX_FMT_BAYER_GRBG8, kConverted),
    raw(V4L2_PIX_FMT_SRGGB8, "bayer_rggb8", AV_PIX_FMT_BAYER_RGGB8, kConverted),
    raw(V4L2_PIX_FMT_SBGGR16, "bayer_bggr16le", AV_PIX_FMT_BAYER_BGGR16LE, kConverted),
    raw(V4L2_PIX_FMT_SGBRG16, "bayer_gbrg16le", AV_PIX_FMT_BAYER_GBRG16LE, kConverted),
    raw(V4L2_PIX_FMT_SGRBG16, "bayer_grbg16le", AV_PIX_FMT_BAYER_GRBG16LE, kConverted),
    raw(V4L2_PIX_FMT_SRGGB16, "bayer_rggb16le", AV_PIX_FMT_BAYER_RGGB16LE, kConverted),
    coded(V4L2_PIX_FMT_MJPEG, "mjpeg", AV_CODEC_ID_MJPEG, kCompressed),
    coded(V4L2_PIX_FMT_JPEG, "mjpeg", AV_CODEC_ID_MJPEG, kCompressed),
    coded(V4L2_PIX_FMT_H264, "h264", AV_CODEC_ID_H264, kInterFrame),
    coded(V4L2_PIX_FMT_HEVC, "hevc", AV_CODEC_ID_HEVC, kInterFrame),
    coded(V4L2_PIX_FMT_VP8, "vp8", AV_CODEC_ID_VP8, kInterFrame),
    coded(V4L2_PIX_FMT_VP9, "vp9", AV_CODEC_ID_VP9, kInterFrame),
};

}  // namespace

std::span<const CameraFormatEntry> camera_format_table() noexcept {
  return kCameraFormats;
}

const CameraFormatEntry* find_camera_format(uint32_t fourcc) noexcept {
  for (const CameraFormatEntry& entry : kCameraFormats)
    if (entry.fourcc == fourcc) return &entry;
  return nullptr;
}

/// The table lists formats with one memory plane first, so the loop prefers them.
const CameraFormatEntry* find_camera_format(AVPixelFormat pixels) noexcept {
  for (const CameraFormatEntry& entry : kCameraFormats)
    if (entry.raw() && entry.pixels == pixels && !entry.v_first) return &entry;
  return nullptr;
}

}  // namespace lensd
