// A video decoder for one stream, in software or on the GPU (NVDEC).
#pragma once

#include <string>

#include "core/media/ffmpeg/picture_allocator.hpp"
#include "core/media/input/input.hpp"
#include "core/media/source.hpp"

namespace lensd {

class Decoder {
 public:
  /// `allocator` must outlive this object. `where` is for messages. `live`: prefer low delay to throughput.
  /// Throws Error(bad_source) if there is no decoder or it does not start, Error(unavailable) if `hwdec` is
  /// `cuda` and the GPU cannot decode this stream.
  Decoder(const AVStream& stream, const SourceOptions& options, PictureAllocator& allocator,
          const std::string& where, bool live);

  AVCodecContext& context() const noexcept { return *context_; }
  /// Call for each packet of a live source before it is decoded. Keeps the order of pictures in streams with
  /// B pictures, see set_low_delay().
  void keep_order(const AVPacket& packet) noexcept;
  /// Returns true if the GPU decodes. Pictures are then in GPU memory.
  bool on_gpu() const noexcept { return device_ && !refused_; }
  /// Returns true if `hwdec` is `cuda` but the driver refused the stream. Known only after the first packets.
  bool required_gpu_refused() const noexcept { return refused_ && required_; }
  /// Returns true if `hwdec` is `auto` but the driver refused the stream. Known only after the first packets.
  bool gpu_refused() const noexcept { return refused_ && !required_; }
  /// Returns why the GPU was not used when the decoder was opened; empty if it was used or not requested.
  const std::string& software_reason() const noexcept { return reason_; }

 private:
  void try_gpu(const AVCodec& codec, const SourceOptions& options);
  void set_low_delay(const LiveOptions& live);
  static AVPixelFormat choose_format(AVCodecContext* context, const AVPixelFormat* offered) noexcept;

  ff::BufferPtr device_;
  bool required_ = false, refused_ = false;
  std::string reason_;
  ff::CodecPtr context_;
};

/// Returns the pixel format of a frame's samples; for a frame on the GPU, that of the surface's content.
AVPixelFormat sample_format(const AVFrame& frame) noexcept;

/// Applies the left and top cropping of a frame on the GPU. FFmpeg applies only the right and bottom cropping
/// to hardware frames. It applies the whole cropping to other frames, which this function does not change.
void apply_gpu_cropping(AVFrame& frame) noexcept;

}  // namespace lensd
