#include "core/media/input/decoder.hpp"

extern "C" {
#include <libavutil/hwcontext.h>
#include <libavutil/pixdesc.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/base/log.hpp"

namespace lensd {
namespace {

/// Value of AV_CUDA_USE_PRIMARY_CONTEXT, whose header would need cuda.h. The CUDA runtime uses the primary
/// context, too.
constexpr int kPrimaryContext = 1 << 0;
/// Number of surfaces in addition to the decoder's references. The pipeline holds fewer pictures at once: 4
/// in its queue, one before it, one after it, and those of unfinished frames (ExecutorOptions::in_flight).
constexpr int kHeldSurfaces = 12;
/// Limit of NVDEC. The driver refuses a decoder with more surfaces.
constexpr int kMaxSurfaces = 32;
/// Number of surfaces that FFmpeg adds to initial_pool_size when it creates the decoder.
constexpr int kBaseSurfaces = 3;
/// Maximum picture size in pixels for slice threads. One core decodes live streams up to 1080p in real time.
constexpr int64_t kSliceThreadPixels = 1920 * 1088;

bool nvdec_supports(const AVCodec& codec) {
  for (int i = 0;; ++i) {
    const AVCodecHWConfig* config = avcodec_get_hw_config(&codec, i);
    if (!config) return false;
    if (config->device_type == AV_HWDEVICE_TYPE_CUDA &&
        (config->methods & AV_CODEC_HW_CONFIG_METHOD_HW_DEVICE_CTX))
      return true;
  }
}

/// Returns the number of surfaces to request in addition to those that FFmpeg needs for the stream. AV1 and
/// H.264 with 16 references leave room for fewer than kHeldSurfaces. Call from get_format().
int additional_surfaces(AVCodecContext& context) {
  AVBufferRef* frames = nullptr;
  context.extra_hw_frames = 0;
  if (avcodec_get_hw_frames_parameters(&context, context.hw_device_ctx, AV_PIX_FMT_CUDA, &frames) < 0)
    return kHeldSurfaces;
  const int needed =
      reinterpret_cast<const AVHWFramesContext*>(frames->data)->initial_pool_size + kBaseSurfaces;
  av_buffer_unref(&frames);
  return std::clamp(kMaxSurfaces - needed, 0, kHeldSurfaces);
}

/// Returns the decoder for a WebM stream with transparency, whose second layer FFmpeg's own decoders ignore.
/// Returns null if the stream has none, or if this FFmpeg was built without libvpx.
const AVCodec* find_alpha_decoder(const AVStream& stream) {
  const AVDictionaryEntry* mode = av_dict_get(stream.metadata, "alpha_mode", nullptr, 0);
  if (!mode || std::string_view(mode->value) != "1") return nullptr;
  const AVCodecID id = stream.codecpar->codec_id;
  if (id == AV_CODEC_ID_VP8) return avcodec_find_decoder_by_name("libvpx");
  return id == AV_CODEC_ID_VP9 ? avcodec_find_decoder_by_name("libvpx-vp9") : nullptr;
}

/// Returns a decoder, or null if there is none. If `for_gpu` is true, prefers one with NVDEC support, which
/// the default decoder may lack (libdav1d).
const AVCodec* find_decoder(AVCodecID id, bool for_gpu) {
  if (for_gpu) {
    void* position = nullptr;
    while (const AVCodec* codec = av_codec_iterate(&position))
      if (codec->id == id && av_codec_is_decoder(codec) && nvdec_supports(*codec)) return codec;
  }
  return avcodec_find_decoder(id);
}

}  // namespace

AVPixelFormat sample_format(const AVFrame& frame) noexcept {
  if (frame.hw_frames_ctx)
    return reinterpret_cast<const AVHWFramesContext*>(frame.hw_frames_ctx->data)->sw_format;
  return static_cast<AVPixelFormat>(frame.format);
}

void apply_gpu_cropping(AVFrame& frame) noexcept {
  if (!frame.hw_frames_ctx || (frame.crop_left == 0 && frame.crop_top == 0)) return;
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(sample_format(frame));
  const auto width = static_cast<size_t>(frame.width), height = static_cast<size_t>(frame.height);
  if (!format || frame.crop_left >= width || frame.crop_top >= height) return;
  bool moved[AV_NUM_DATA_POINTERS] = {};
  for (int i = 0; i < format->nb_components; ++i) {
    const AVComponentDescriptor& component = format->comp[i];
    if (std::exchange(moved[component.plane], true)) continue;
    const bool chroma = i == 1 || i == 2;
    const size_t left = frame.crop_left >> (chroma ? format->log2_chroma_w : 0);
    const size_t top = frame.crop_top >> (chroma ? format->log2_chroma_h : 0);
    frame.data[component.plane] += static_cast<std::ptrdiff_t>(top) * frame.linesize[component.plane] +
                                   static_cast<std::ptrdiff_t>(left) * component.step;
  }
  frame.width -= static_cast<int>(frame.crop_left), frame.height -= static_cast<int>(frame.crop_top);
  frame.crop_left = frame.crop_top = 0;
}

Decoder::Decoder(const AVStream& stream, const SourceOptions& options, PictureAllocator& allocator,
                 const std::string& where, bool live) {
  const AVCodec* alpha = options.hwdec == HwDecode::cuda ? nullptr : find_alpha_decoder(stream);
  const bool gpu = options.hwdec != HwDecode::off && !alpha;
  const AVCodec* codec = alpha ? alpha : find_decoder(stream.codecpar->codec_id, gpu);
  if (alpha && options.hwdec != HwDecode::off) reason_ = "NVDEC ignores the stream's transparency";
  if (codec && gpu) {
    required_ = options.hwdec == HwDecode::cuda;
    try_gpu(*codec, options);
    if (!device_) {
      if (required_)
        throw Error(ExitCode::unavailable, where, "the GPU cannot decode this stream: " + reason_,
                    "use --hwdec=auto or --hwdec=no");
      log::info("decoding in software: {}", reason_);
      codec = avcodec_find_decoder(stream.codecpar->codec_id);
    }
  }
  if (!codec)
    throw Error(
        ExitCode::bad_source, where,
        fmt::format("this FFmpeg has no decoder for {}", avcodec_get_name(stream.codecpar->codec_id)));

  context_.reset(ff::allocated(avcodec_alloc_context3(codec)));
  if (const int error = avcodec_parameters_to_context(context_.get(), stream.codecpar); error < 0)
    throw Error(ExitCode::bad_source, where, "invalid stream parameters: " + ff::error_text(error));
  context_->pkt_timebase = stream.time_base;
  context_->thread_count = device_ ? 1 : options.decoder_threads;
  if (live) set_low_delay(options.live);
  context_->max_pixels = int64_t{kMaxSide} * kMaxSide;
  // Without this flag FFmpeg rounds the left crop of a stream down to the alignment of rows.
  context_->flags |= AV_CODEC_FLAG_UNALIGNED;
  allocator.attach(*context_);
  if (device_) {
    context_->hw_device_ctx = ff::allocated(av_buffer_ref(device_.get()));
    allocator.set_user(this);
    context_->get_format = choose_format;
  }
  if (const int error = avcodec_open2(context_.get(), codec, nullptr); error < 0)
    throw Error(ExitCode::bad_source, where,
                fmt::format("cannot start the {} decoder: {}", codec->name, ff::error_text(error)));
}

/// Selects slice threads for small pictures or low latency, because each frame thread delays the output by
/// one picture. Decoders of large pictures need frame threads to keep up.
void Decoder::set_low_delay(const LiveOptions& live) {
  const int64_t pixels = int64_t{context_->width} * context_->height;
  if (live.low_latency || pixels <= kSliceThreadPixels) context_->thread_type = FF_THREAD_SLICE;
  if (live.low_latency) context_->flags |= AV_CODEC_FLAG_LOW_DELAY;
}

void Decoder::keep_order(const AVPacket& packet) noexcept {
  const AVCodecID codec = context_->codec_id;
  const bool obeys =
      codec == AV_CODEC_ID_MPEG1VIDEO || codec == AV_CODEC_ID_MPEG2VIDEO || codec == AV_CODEC_ID_MPEG4;
  const bool timed = packet.pts != AV_NOPTS_VALUE && packet.dts != AV_NOPTS_VALUE;
  // With this flag these decoders deliver pictures in decoding order.
  if (obeys && timed && packet.pts > packet.dts) context_->flags &= ~AV_CODEC_FLAG_LOW_DELAY;
}

void Decoder::try_gpu(const AVCodec& codec, const SourceOptions& options) {
  if (!nvdec_supports(codec)) {
    reason_ = fmt::format("NVDEC does not support {}", avcodec_get_name(codec.id));
    return;
  }
  AVBufferRef* device = nullptr;
  const int error = av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_CUDA,
                                           std::to_string(options.device).c_str(), nullptr, kPrimaryContext);
  if (error < 0)
    reason_ = fmt::format("cannot open CUDA device {} ({})", options.device, ff::detailed_error(error));
  else
    device_.reset(device);
}

AVPixelFormat Decoder::choose_format(AVCodecContext* context, const AVPixelFormat* offered) noexcept {
  auto& self = *static_cast<Decoder*>(static_cast<PictureAllocator*>(context->opaque)->user());
  for (const AVPixelFormat* f = offered; *f != AV_PIX_FMT_NONE; ++f) {
    if (*f != AV_PIX_FMT_CUDA) continue;
    context->extra_hw_frames = additional_surfaces(*context);
    return *f;
  }
  // FFmpeg calls this function again without CUDA if the driver refused the profile, size or bit depth.
  self.refused_ = true;
  if (self.required_) return AV_PIX_FMT_NONE;
  for (const AVPixelFormat* f = offered; *f != AV_PIX_FMT_NONE; ++f) {
    const AVPixFmtDescriptor* description = av_pix_fmt_desc_get(*f);
    if (description && !(description->flags & AV_PIX_FMT_FLAG_HWACCEL)) return *f;
  }
  return AV_PIX_FMT_NONE;
}

}  // namespace lensd
