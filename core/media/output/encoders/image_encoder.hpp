// PNG and JPEG files from working images, and files that appear whole or not at all. Internal to core/media.
#pragma once

#include <span>
#include <string>

#include "core/image/view.hpp"
#include "core/media/ffmpeg/ffmpeg_check.hpp"
#include "core/media/ffmpeg/scaler.hpp"

namespace lensd {

enum class ImageFileType { png, jpeg };

/// The type by the path's ending in any case; false when it is neither.
bool image_file_type(const std::string& path, ImageFileType& type);

/// PNG without loss (RGBA or gray), JPEG 4:4:4 at the quality that shows no loss. Keeps its encoder between
/// images of one size.
class ImageEncoder {
 public:
  explicit ImageEncoder(ImageFileType type) : type_(type) {}
  /// The file's bytes, valid until the next call. Throws Error(runtime_failure).
  std::span<const uint8_t> encode(ConstImageRef image);

 private:
  void open(const ImageFormat& format);

  ImageFileType type_;
  ImageFormat format_;
  ff::CodecPtr context_;
  Scaler scaler_;
  ff::FramePtr frame_;
  ff::PacketPtr packet_ = ff::make_packet();
};

}  // namespace lensd
