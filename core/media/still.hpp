// Single pictures as PNG or JPEG in memory, without FFmpeg's headers.
#pragma once

#include <memory>
#include <span>

#include "core/image/view.hpp"

namespace lensd {

class ImageEncoder;

/// Keeps its encoder between pictures of one size. Belongs to one thread at a time.
class StillEncoder {
 public:
  enum class Type { png, jpeg };
  explicit StillEncoder(Type type);
  ~StillEncoder();
  /// The file's bytes, valid until the next call. Throws Error(runtime_failure).
  std::span<const uint8_t> encode(ConstImageRef image);

 private:
  std::unique_ptr<ImageEncoder> encoder_;
};

}  // namespace lensd
