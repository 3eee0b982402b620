// Owning handles for FFmpeg's C types, and its error numbers as text. Internal to core/media.
//
// A handle belongs to one thread at a time.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/buffer.h>
#include <libavutil/dict.h>
#include <libavutil/frame.h>
#include <libavutil/version.h>
#include <libswscale/swscale.h>
}

#include <memory>
#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace lensd::ff {

struct FrameFree {
  void operator()(AVFrame* p) const noexcept { av_frame_free(&p); }
};
struct PacketFree {
  void operator()(AVPacket* p) const noexcept { av_packet_free(&p); }
};
struct CodecFree {
  void operator()(AVCodecContext* p) const noexcept { avcodec_free_context(&p); }
};
struct InputClose {
  void operator()(AVFormatContext* p) const noexcept { avformat_close_input(&p); }
};
struct BufferUnref {
  void operator()(AVBufferRef* p) const noexcept { av_buffer_unref(&p); }
};
struct BufferPoolUninit {
  void operator()(AVBufferPool* p) const noexcept { av_buffer_pool_uninit(&p); }
};
struct SwsFree {
  void operator()(SwsContext* p) const noexcept { sws_freeContext(p); }
};

using FramePtr = std::unique_ptr<AVFrame, FrameFree>;
using PacketPtr = std::unique_ptr<AVPacket, PacketFree>;
using CodecPtr = std::unique_ptr<AVCodecContext, CodecFree>;
using InputPtr = std::unique_ptr<AVFormatContext, InputClose>;
using BufferPtr = std::unique_ptr<AVBufferRef, BufferUnref>;
using BufferPoolPtr = std::unique_ptr<AVBufferPool, BufferPoolUninit>;
using SwsPtr = std::unique_ptr<SwsContext, SwsFree>;

/// An AVDictionary; options that nobody took are left inside.
class Options {
 public:
  Options() = default;
  ~Options() { av_dict_free(&dict_); }
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  void set(const char* key, const std::string& value) { av_dict_set(&dict_, key, value.c_str(), 0); }
  AVDictionary** get() noexcept { return &dict_; }

 private:
  AVDictionary* dict_ = nullptr;
};

/// FFmpeg's sentence for an AVERROR number, in lower case at the start.
std::string error_text(int error);

/// `p`, or Error(runtime_failure) when FFmpeg had no memory for it.
template <class T>
T* allocated(T* p) {
  if (!p) throw Error(ExitCode::runtime_failure, "ffmpeg", "out of memory");
  return p;
}

inline FramePtr make_frame() {
  return FramePtr(allocated(av_frame_alloc()));
}
inline PacketPtr make_packet() {
  return PacketPtr(allocated(av_packet_alloc()));
}

/// Sends FFmpeg's warnings and errors to log::debug; the first call installs it for the process.
void capture_log();
/// FFmpeg's last error message on this thread since forget_log(); empty when there was none.
std::string last_log();
void forget_log();

}  // namespace lensd::ff
