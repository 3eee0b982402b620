// FFmpeg's C types as owning handles, its time bases, error texts and log. Internal to core/media.
//
// Use a handle on one thread at a time.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/buffer.h>
#include <libavutil/dict.h>
#include <libavutil/frame.h>
#include <libavutil/mathematics.h>
#include <libavutil/version.h>
#include <libswscale/swscale.h>
}

#include <algorithm>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "core/device/device_memory_error.hpp"

namespace lensd::ff {

/// Deleter that calls an FFmpeg release function, which takes the pointer or its address.
template <auto kFunction>
struct Release {
  template <class T>
  void operator()(T* p) const noexcept {
    if constexpr (std::is_invocable_v<decltype(kFunction), T*>)
      kFunction(p);
    else
      kFunction(&p);
  }
};
struct IoFree {
  void operator()(AVIOContext* p) const noexcept {
    av_freep(&p->buffer);
    avio_context_free(&p);
  }
};

using FramePtr = std::unique_ptr<AVFrame, Release<av_frame_free>>;
using PacketPtr = std::unique_ptr<AVPacket, Release<av_packet_free>>;
using CodecPtr = std::unique_ptr<AVCodecContext, Release<avcodec_free_context>>;
using ParametersPtr = std::unique_ptr<AVCodecParameters, Release<avcodec_parameters_free>>;
using FilterPtr = std::unique_ptr<AVBSFContext, Release<av_bsf_free>>;
using InputPtr = std::unique_ptr<AVFormatContext, Release<avformat_close_input>>;
using BufferPtr = std::unique_ptr<AVBufferRef, Release<av_buffer_unref>>;
using BufferPoolPtr = std::unique_ptr<AVBufferPool, Release<av_buffer_pool_uninit>>;
using SwsPtr = std::unique_ptr<SwsContext, Release<sws_freeContext>>;
using IoPtr = std::unique_ptr<AVIOContext, IoFree>;

/// Returns a copy; null for null. Throws MemoryError if out of memory.
ParametersPtr copy_of(const AVCodecParameters* parameters);

/// Owns an AVDictionary. FFmpeg removes the options that it uses; unused() returns the name of a remaining
/// one, or null.
class Options {
 public:
  Options() = default;
  ~Options() { av_dict_free(&dict_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  void set(const char* key, const std::string& value) { av_dict_set(&dict_, key, value.c_str(), 0); }
  /// Adds `value` to an option that is a list, whose items are separated by colons.
  void append(const char* key, const std::string& value) {
    const bool first = !av_dict_get(dict_, key, nullptr, 0);
    av_dict_set(&dict_, key, (first ? value : ":" + value).c_str(), AV_DICT_APPEND);
  }
  void clear() noexcept { av_dict_free(&dict_); }
  AVDictionary** get() noexcept { return &dict_; }
  const char* unused() const noexcept {
    const AVDictionaryEntry* entry = av_dict_get(dict_, "", nullptr, AV_DICT_IGNORE_SUFFIX);
    return entry ? entry->key : nullptr;
  }

 private:
  AVDictionary* dict_ = nullptr;
};

/// Checks the result of a call that fails only if out of memory. Throws MemoryError if `result` < 0.
inline void check_memory(int result) {
  if (result < 0) throw MemoryError("ffmpeg", "out of memory", {});
}
/// Returns `p`. Throws MemoryError if it is null.
template <class T>
T* allocated(T* p) {
  check_memory(p ? 0 : -1);
  return p;
}

inline FramePtr make_frame() {
  return FramePtr(allocated(av_frame_alloc()));
}
inline PacketPtr make_packet() {
  return PacketPtr(allocated(av_packet_alloc()));
}

#if LIBAVFORMAT_VERSION_MAJOR >= 61
using WriteByte = const uint8_t;
#else
using WriteByte = uint8_t;  // the write callback has no const before FFmpeg 7
#endif
/// Creates an AVIOContext from callbacks; unused callbacks may be null. Throws MemoryError if out of
/// memory.
IoPtr make_io(int buffer_bytes, void* opaque, int (*read)(void*, uint8_t*, int),
              int (*write)(void*, WriteByte*, int), int64_t (*seek)(void*, int64_t, int));

inline constexpr AVRational kNanoseconds = {1, 1'000'000'000};
/// Clamps the result to ± a quarter of the range, so that differences do not overflow. plausible() rejects
/// the limits.
inline int64_t to_ns(int64_t ticks, AVRational time_base) noexcept {
  constexpr int64_t kLimit = INT64_MAX / 4;
  const int64_t ns = av_rescale_q(ticks, time_base, kNanoseconds);
  if (ns == INT64_MIN && ticks > 0) return kLimit;  // FFmpeg returns INT64_MIN for every overflow
  return std::clamp(ns, -kLimit, kLimit);
}
inline int64_t to_ticks(int64_t ns, AVRational time_base) noexcept {
  return av_rescale_q(ns, kNanoseconds, time_base);
}

inline bool is_key(const AVFrame& frame) noexcept {
#ifdef AV_FRAME_FLAG_KEY
  return frame.flags & AV_FRAME_FLAG_KEY;
#else
  return frame.key_frame;
#endif
}
/// Returns the frame's duration in the stream's time base; 0: unknown.
inline int64_t duration_of(const AVFrame& frame) noexcept {
#if LIBAVUTIL_VERSION_INT >= AV_VERSION_INT(57, 30, 100)  // FFmpeg 6.0
  return frame.duration;
#else
  return frame.pkt_duration;
#endif
}
inline bool is_key(const AVPacket& packet) noexcept {
  return (packet.flags & AV_PKT_FLAG_KEY) != 0;
}

/// Returns FFmpeg's text for an AVERROR number. The first letter is lower-case, except in abbreviations
/// such as "I/O".
std::string error_text(int error);

/// Registers FFmpeg's devices, initializes its network code and sends its warnings and errors to log::debug.
/// Later calls do nothing. Thread-safe.
void initialize();
/// Clears the last error message that FFmpeg logged on this thread.
void forget_log();
/// Returns true if, since the last call, a demuxer has logged on this thread that its file is truncated.
bool take_cut_logged();
/// Returns true if, since the last call, an HTTP server has refused a request on this thread because it was
/// busy or had too many requests (408, 429). Not all versions of FFmpeg have an error code for that.
bool take_busy_logged();
/// Returns the last error message that FFmpeg logged on this thread since forget_log(), or error_text(error)
/// if there is none.
std::string detailed_error(int error);
/// Returns the last error message that FFmpeg logged on this thread as a hint for Error, "FFmpeg says: …";
/// empty if there was none.
std::string log_hint();

}  // namespace lensd::ff
