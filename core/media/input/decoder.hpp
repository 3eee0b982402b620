// A video decoder for one stream, in software or on the GPU (NVDEC).
#pragma once

#include <string>

#include "core/media/input/input.hpp"
#include "core/media/input/picture_allocator.hpp"
#include "core/media/source.hpp"

namespace lensd {

class Decoder {
 public:
  /// Throws Error(bad_source) when there is no decoder, Error(unavailable) when `hwdec` is `cuda` and the GPU
  /// cannot decode this stream. `allocator` must outlive this object.
  /// `live`: pictures come out as soon as they can, instead of as many at once as possible.
  Decoder(const AVStream& stream, const SourceOptions& options, PictureAllocator& allocator,
          const std::string& where, bool live = false);

  AVCodecContext& context() const noexcept { return *context_; }
  /// True while pictures stay on the GPU.
  bool on_gpu() const noexcept { return device_ && !refused_; }
  /// GPU decoding was asked for by name and the driver refused the stream, which shows only while decoding.
  bool wish_refused() const noexcept { return refused_ && must_; }
  /// Why the GPU does not decode, empty when it does or was not asked to.
  const std::string& software_reason() const noexcept { return reason_; }

 private:
  void try_gpu(const AVCodec& codec, const SourceOptions& options);
  void stop_soon(const LiveOptions& live);
  static AVPixelFormat choose_format(AVCodecContext* context, const AVPixelFormat* offered) noexcept;

  ff::BufferPtr device_;
  bool must_ = false, refused_ = false;
  std::string reason_;
  ff::CodecPtr context_;
};

/// Layout of a frame's samples: of the surface's software format for frames on the GPU.
AVPixelFormat sample_format(const AVFrame& frame) noexcept;

}  // namespace lensd
