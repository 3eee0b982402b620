// Single pictures as PNG or JPEG in memory, without FFmpeg's headers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/image/pixel_aspect.hpp"
#include "core/image/view.hpp"

namespace lensd {

/// Encodes lossless PNG (RGBA or grey) or visually lossless JPEG (4:4:4). Reuses its encoder while size,
/// format and aspect stay the same. Call from one thread at a time.
class StillEncoder {
 public:
  enum class Type : uint8_t { png, jpeg };
  explicit StillEncoder(Type type);
  ~StillEncoder();
  /// Returns the file's bytes, valid until the next call. Throws Error(runtime_failure) if encoding fails.
  std::span<const uint8_t> encode(ConstImageRef image, PixelAspect aspect = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns the type for the path's extension, ignoring case; nullopt if it is neither PNG nor JPEG.
std::optional<StillEncoder::Type> still_type(const std::string& path);

}  // namespace lensd
