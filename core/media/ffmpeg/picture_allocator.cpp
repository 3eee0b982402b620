#include "core/media/ffmpeg/picture_allocator.hpp"

extern "C" {
#include <libavutil/imgutils.h>
}

#include <algorithm>

#include "core/media/ffmpeg/pixel_formats.hpp"

namespace lensd {
namespace {

/// Padding in bytes after each plane, for SIMD code that reads past the end. FFmpeg's own pool adds
/// 16 + STRIDE_ALIGN - 1.
constexpr size_t kOverRead = 128;

struct PoolState {
  MemoryKind kind;
  std::shared_ptr<std::atomic<int>> blocks;
  std::atomic<int>* real_kind;
};

void free_block(void* opaque, uint8_t*) {
  delete static_cast<MemoryBlock*>(opaque);
}
void free_pool(void* opaque) {
  delete static_cast<PoolState*>(opaque);
}

AVBufferRef* make_block(void* opaque, size_t bytes) {
  auto* state = static_cast<PoolState*>(opaque);
  try {
    auto block = std::make_unique<MemoryBlock>(state->kind, bytes);
    AVBufferRef* buffer = av_buffer_create(block->data(), bytes, free_block, block.get(), 0);
    if (!buffer) return nullptr;
    // real_kind still exists, because only the allocator calls av_buffer_pool_get().
    state->real_kind->store(static_cast<int>(block->kind()), std::memory_order_relaxed);
    state->blocks->fetch_add(1, std::memory_order_relaxed);
    block.release();
    return buffer;
  } catch (...) {
    return nullptr;
  }
}

/// Computes line sizes. Returns 0 or an AVERROR. Increases the width until every plane's rows are aligned, as
/// libavcodec/get_buffer.c does. Aligning each plane separately would change the ratio of luma to chroma
/// pitches, on which some decoders rely.
int aligned_line_sizes(AVPixelFormat format, int width, const int* alignment, int line_sizes[4]) {
  for (;;) {
    if (const int error = av_image_fill_linesizes(line_sizes, format, width); error < 0) return error;
    bool aligned = true;
    for (int p = 0; p < 4; ++p) {
      const int wanted = std::max(static_cast<int>(kHostAlignment), alignment ? alignment[p] : 0);
      aligned = aligned && line_sizes[p] % wanted == 0;
    }
    if (aligned) return 0;
    width += width & ~(width - 1);
  }
}

}  // namespace

void PictureAllocator::attach(AVCodecContext& context) {
  context.opaque = this;
  context.get_buffer2 = get_buffer;
#if LIBAVCODEC_VERSION_MAJOR < 60
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  context.thread_safe_callbacks = 1;
#pragma GCC diagnostic pop
#endif
}

int PictureAllocator::get_buffer(AVCodecContext* context, AVFrame* frame, int flags) noexcept {
  auto& self = *static_cast<PictureAllocator*>(context->opaque);
  if (frame->width > kMaxSide || frame->height > kMaxSide) {
    self.too_large_.store({frame->width, frame->height}, std::memory_order_relaxed);
    return AVERROR_INVALIDDATA;
  }
  const auto format = static_cast<AVPixelFormat>(frame->format);
  if (context->codec_type != AVMEDIA_TYPE_VIDEO || context->hw_frames_ctx ||
      !(context->codec->capabilities & AV_CODEC_CAP_DR1) || !picture_format(format))
    return avcodec_default_get_buffer2(context, frame, flags);
  int width = frame->width, height = frame->height;
  int alignment[AV_NUM_DATA_POINTERS] = {};
  avcodec_align_dimensions2(context, &width, &height, alignment);
  return self.fill(*frame, width, height, alignment);
}

int PictureAllocator::fill(AVFrame& frame, int padded_width, int padded_height,
                           const int* alignment) noexcept {
  const auto format = static_cast<AVPixelFormat>(frame.format);
  int line_sizes[4] = {};
  if (const int error = aligned_line_sizes(format, padded_width, alignment, line_sizes); error < 0)
    return error;
  std::ptrdiff_t pitches[4];
  std::copy(line_sizes, line_sizes + 4, pitches);
  size_t sizes[4] = {};
  if (const int error = av_image_fill_plane_sizes(sizes, format, padded_height, pitches); error < 0)
    return error;

  size_t offsets[4] = {}, bytes = 0;
  for (int p = 0; p < 4; ++p) {
    offsets[p] = bytes;
    if (sizes[p]) bytes += align_up(sizes[p] + kOverRead, kHostAlignment);
  }
  AVBufferRef* buffer = take(bytes);
  if (!buffer) return AVERROR(ENOMEM);
  frame.buf[0] = buffer;
  for (int p = 0; p < 4; ++p) {
    frame.data[p] = sizes[p] ? buffer->data + offsets[p] : nullptr;
    frame.linesize[p] = line_sizes[p];
  }
  frame.extended_data = frame.data;
  frame.opaque = this;
  return 0;
}

AVBufferRef* PictureAllocator::take(size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (!pool_ || pool_bytes_ != bytes) {
    auto* state = new (std::nothrow) PoolState{kind_, blocks_, &real_kind_};
    if (!state) return nullptr;
    pool_.reset(av_buffer_pool_init2(bytes, state, make_block, free_pool));
    if (!pool_) {
      delete state;
      return nullptr;
    }
    pool_bytes_ = bytes;
  }
  return av_buffer_pool_get(pool_.get());
}

MemoryKind PictureAllocator::memory_of(const AVFrame& frame) const noexcept {
  return frame.opaque == this ? static_cast<MemoryKind>(real_kind_.load(std::memory_order_relaxed))
                              : MemoryKind::host;
}

}  // namespace lensd
