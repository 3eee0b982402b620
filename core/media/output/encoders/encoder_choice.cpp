#include "core/media/output/encoders/encoder_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <thread>

#include "core/media/output/encoders/container_support.hpp"

namespace lensd {
namespace {

const AVCodec* by_name(const std::string& wanted, const std::string& where) {
  const AVCodec* codec = avcodec_find_encoder_by_name(wanted.c_str());
  if (!codec)
    if (const AVCodecDescriptor* d = avcodec_descriptor_get_by_name(wanted.c_str()))
      codec = avcodec_find_encoder(d->id);
  if (!codec || codec->type != AVMEDIA_TYPE_VIDEO)
    throw Error(ExitCode::usage, where, fmt::format("there is no video encoder '{}'", wanted),
                "list them with: ffmpeg -encoders");
  return codec;
}

/// Divides the allowed delay among x264's look-ahead, B-frames and frame threads. x264's delay in frames
/// is at most max(look-ahead, B-frames) + frame threads + 1 (x264_encoder_maximum_delayed_frames(), without
/// the look-ahead thread).
void bound_x264(AVCodecContext& c, double max_delay_s, ff::Options& settings) {
  const int frames = static_cast<int>(max_delay_s * av_q2d(c.framerate)) - 1;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const bool reorder = frames >= 6;
  const int ahead = reorder ? std::min(frames / 3, 10) : 0;
  c.max_b_frames = reorder ? 2 : 0;
  c.thread_count = std::min(cores * 3 / 2 + 1, 16);
  if (reorder)
    c.thread_count = std::clamp(frames - std::max(ahead, c.max_b_frames), 1, c.thread_count);
  else
    c.thread_type = FF_THREAD_SLICE;  // slice threads add no delay
  settings.set("rc-lookahead", std::to_string(ahead));
  settings.set("x264-params", "sync-lookahead=0");
}

void set_x264(AVCodecContext& c, const EncoderOptions& options, ff::Options& settings) {
  settings.set("preset", options.preset.empty() ? "veryfast" : options.preset);
  settings.set("forced-idr", "1");
  if (options.bitrate_kbit == 0) settings.set("crf", std::to_string(options.crf.value_or(18)));
  if (options.max_delay_s > 0 && std::string_view(c.codec->name) == "libx264")
    bound_x264(c, options.max_delay_s, settings);
  if (options.max_delay_s > 0 && std::string_view(c.codec->name) == "libx265")
    settings.set("tune", "zerolatency");  // no look-ahead, B-frames or frame threads
}

void set_vpx(AVCodecContext& c, const EncoderOptions& options, ff::Options& settings) {
  settings.set("deadline", options.preset.empty() ? "realtime" : options.preset);
  settings.set("cpu-used", "8");
  settings.set("row-mt", "1");
  settings.set("crf", std::to_string(options.crf.value_or(20)));
  if (options.max_delay_s > 0) settings.set("lag-in-frames", "0");
  // libvpx has no alternate reference frames with alpha.
  if (c.pix_fmt == AV_PIX_FMT_YUVA420P) settings.set("auto-alt-ref", "0");
  if (options.bitrate_kbit == 0)
    c.bit_rate = c.codec_id == AV_CODEC_ID_VP8 ? 8'000'000 : 0;  // VP8's crf needs a maximum rate
}

void set_nvenc(AVCodecContext& c, const EncoderOptions& options, ff::Options& settings) {
  settings.set("preset", options.preset.empty() ? "p4" : options.preset);
  settings.set("forced-idr", "1");
  if (options.bitrate_kbit == 0) {
    settings.set("rc", "vbr");
    settings.set("cq", std::to_string(options.crf.value_or(20)));
  }
  if (options.max_delay_s > 0) {
    c.max_b_frames = 0;
    settings.set("delay", "2");
  }
}

/// Selects key frames only, in slices with checksums, so that an error damages only one picture.
void set_ffv1(AVCodecContext& c, ff::Options& settings) {
  c.gop_size = 1;
  if (c.width < 64 || c.height < 64) return;  // FFmpeg fails if a picture is smaller than its slices
  c.level = 3;
  c.slices = c.width * c.height >= 640 * 480 ? 16 : 4;
  c.thread_count = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, 8);
  c.thread_type = FF_THREAD_SLICE;
  settings.set("slicecrc", "1");
}

/// For streams: time between key frames and maximum delay of the encoder, in seconds. Receivers can join only
/// at a key frame. The delay adds to the latency.
constexpr double kStreamKeySeconds = 2, kMaxDelay = 0.05;

bool is_automatic(const std::string& codec) {
  return codec.empty() || codec == "auto";
}

}  // namespace

void check_encoder_name(const std::string& codec, const std::string& where) {
  if (!is_automatic(codec) && codec != "hardware") by_name(codec, where);
}

EncoderOptions stream_encoder(const std::string& muxer, EncoderOptions options) {
  // VideoDevice declares sRGB, for which V4L2 defines BT.601 in limited range.
  if (muxer == "v4l2")
    return {.codec = "rawvideo",
            .preset = {},
            .crf = {},
            .dither = options.dither,
            .matrix = YuvMatrix::bt601,
            .hdr = {}};
  options.key_interval_s = kStreamKeySeconds;
  options.max_delay_s = kMaxDelay;
  return options;
}

std::vector<const AVCodec*> encoders_for(const AVOutputFormat& container, const EncoderOptions& options,
                                         const std::string& where) {
  const auto fits = [&](const AVCodec& codec) { return supports_video(container, codec.id); };
  const bool automatic = is_automatic(options.codec);
  if (!automatic && options.codec != "hardware") {
    const AVCodec* codec = by_name(options.codec, where);
    if (!fits(*codec))
      throw Error(
          ExitCode::usage, where,
          fmt::format("{} does not support {}",
                      is_file_type(container) ? "this file type" : "this kind of stream", codec->name),
          unsupported_hint(container, codec->id));
    return {codec};
  }
  std::vector<const AVCodec*> found;
  const bool webm = std::string_view(container.name) == "webm";
  std::vector<const char*> names = {webm ? "libvpx-vp9" : "libx264", webm ? "libvpx" : "mpeg4"};
  if (!automatic) names.insert(names.begin(), {"h264_nvenc", "hevc_nvenc"});
  for (const char* name : names)
    if (const AVCodec* codec = avcodec_find_encoder_by_name(name); codec && fits(*codec))
      found.push_back(codec);
  if (found.empty())
    throw Error(ExitCode::runtime_failure, where, "this FFmpeg has no encoder for this file type");
  return found;
}

void set_rate(AVCodecContext& c, const EncoderOptions& options, ff::Options& settings) {
  const std::string_view codec = c.codec->name;
  const int per_interval = static_cast<int>(std::lround(av_q2d(c.framerate) * options.key_interval_s));
  c.gop_size = std::clamp(per_interval, 1, 250);
  if (options.bitrate_kbit > 0) {
    c.bit_rate = int64_t{options.bitrate_kbit} * 1000;
    c.rc_max_rate = c.bit_rate;
    c.rc_buffer_size = static_cast<int>(std::min<int64_t>(c.bit_rate, INT32_MAX));  // one second
  }
  if (codec == "libx264" || codec == "libx265") return set_x264(c, options, settings);
  if (codec == "libvpx-vp9" || codec == "libvpx") return set_vpx(c, options, settings);
  if (codec.ends_with("_nvenc")) return set_nvenc(c, options, settings);
  if (c.codec_id == AV_CODEC_ID_FFV1) return set_ffv1(c, settings);
  if (!options.preset.empty()) settings.set("preset", options.preset);
  if (options.max_delay_s > 0) c.max_b_frames = 0;
  if (options.crf) {
    settings.set("crf", std::to_string(*options.crf));
  } else if (!lossless_only(c.codec_id) && options.bitrate_kbit == 0) {
    c.flags |= AV_CODEC_FLAG_QSCALE;
    c.global_quality = 2 * FF_QP2LAMBDA;
  }
}

bool lossless_only(AVCodecID id) {
  const AVCodecDescriptor* d = avcodec_descriptor_get(id);
  return d && (d->props & AV_CODEC_PROP_LOSSLESS) && !(d->props & AV_CODEC_PROP_LOSSY);
}

bool needs_fixed_rate(AVCodecID id) {
  return id == AV_CODEC_ID_MPEG1VIDEO || id == AV_CODEC_ID_MPEG2VIDEO || id == AV_CODEC_ID_MPEG4;
}

std::vector<AVPixelFormat> supported_formats(const AVCodec& codec) {
  const AVPixelFormat* list = nullptr;
#if LIBAVCODEC_VERSION_INT >= AV_VERSION_INT(61, 13, 100)  // FFmpeg 7.1 deprecates the array
  const void* found = nullptr;
  avcodec_get_supported_config(nullptr, &codec, AV_CODEC_CONFIG_PIX_FORMAT, 0, &found, nullptr);
  list = static_cast<const AVPixelFormat*>(found);
#else
  list = codec.pix_fmts;
#endif
  std::vector<AVPixelFormat> out;
  for (; list && *list != AV_PIX_FMT_NONE; ++list) out.push_back(*list);
  return out;
}

}  // namespace lensd
