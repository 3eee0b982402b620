// Single pictures as PNG or JPEG in memory, without FFmpeg's headers.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/image/view.hpp"

namespace lensd {

/// PNG is lossless (RGBA or gray), JPEG is 4:4:4 at a visually lossless quality. Keeps its encoder between
/// pictures of one size. Belongs to one thread at a time.
class StillEncoder {
 public:
  enum class Type : uint8_t { png, jpeg };
  explicit StillEncoder(Type type);
  ~StillEncoder();
  /// The file's bytes, valid until the next call. Throws Error(runtime_failure).
  std::span<const uint8_t> encode(ConstImageRef image);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The type for the path's ending, in any case. Returns nullopt if it is neither PNG nor JPEG.
std::optional<StillEncoder::Type> still_type(const std::string& path);

}  // namespace lensd
