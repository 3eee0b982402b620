// Working images, which are the inputs and outputs of filters.
//
// Views and refs do not own their memory, which is host or device memory. They are trivially copyable, so
// that kernels take them by value. Owners: core/image/frame.hpp, core/image/image.hpp,
// core/graph/exec/bound_plan.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__CUDACC__)
#define LENSD_HD __host__ __device__
#else
#define LENSD_HD
#endif

namespace lensd {

/// Width and height in pixels. Valid images have both from 1 to kMaxSide.
struct Extent {
  int width = 0, height = 0;
  bool operator==(const Extent&) const = default;
};

/// Returns the number of pixels.
constexpr int64_t area(Extent extent) {
  return int64_t{extent.width} * extent.height;
}

inline constexpr int kMaxSide = 16384;

/// Working formats, gamma-encoded, with 8 or 16 bits per sample, unsigned, full scale. RGBA is R, G, B, A in
/// memory order. Samples of 16 bits have native byte order and even addresses.
enum class PixelFormat : uint8_t { gray8, rgba8, gray16, rgba16 };

LENSD_HD constexpr bool is_gray(PixelFormat format) {
  return format == PixelFormat::gray8 || format == PixelFormat::gray16;
}
LENSD_HD constexpr int channels(PixelFormat format) {
  return is_gray(format) ? 1 : 4;
}
LENSD_HD constexpr int sample_bytes(PixelFormat format) {
  return format == PixelFormat::gray8 || format == PixelFormat::rgba8 ? 1 : 2;
}
/// Returns the value of white, 255 or 65535.
LENSD_HD constexpr int max_sample(PixelFormat format) {
  return sample_bytes(format) == 1 ? 255 : 65535;
}
constexpr PixelFormat make_format(bool gray, int bytes_per_sample) {
  if (gray) return bytes_per_sample == 1 ? PixelFormat::gray8 : PixelFormat::gray16;
  return bytes_per_sample == 1 ? PixelFormat::rgba8 : PixelFormat::rgba16;
}
constexpr const char* name(PixelFormat format) {
  constexpr const char* kNames[] = {"Gray8", "RGBA8", "Gray16", "RGBA16"};
  return kNames[static_cast<int>(format)];
}

struct ImageFormat {
  PixelFormat format = PixelFormat::rgba8;
  Extent extent;
  bool operator==(const ImageFormat&) const = default;
  /// Returns the number of bytes in a row, without padding.
  constexpr size_t row_bytes() const { return row_samples() * static_cast<size_t>(sample_bytes(format)); }
  constexpr int pixel_bytes() const { return channels(format) * sample_bytes(format); }
  constexpr size_t row_samples() const {
    return static_cast<size_t>(extent.width) * static_cast<size_t>(channels(format));
  }
};

/// Rows of T, `pitch_bytes` apart, not owned.
template <class T>
struct ImageView {
  T* data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
  Extent extent;

  LENSD_HD T* row(int y) const {
    using Byte = std::conditional_t<std::is_const_v<T>, const unsigned char, unsigned char>;
    return reinterpret_cast<T*>(reinterpret_cast<Byte*>(data) + static_cast<std::ptrdiff_t>(y) * pitch_bytes);
  }
  LENSD_HD T& at(int x, int y) const { return row(y)[x]; }
};

/// One RGBA8 pixel, 4-byte aligned so that device code moves it as one word.
struct alignas(4) Rgba {
  uint8_t r, g, b, a;
};

/// One RGBA16 pixel. Not aligned to 8 bytes, because images need not be.
struct Rgba16 {
  uint16_t r, g, b, a;
};

/// An image, not owned, whose format is known at run time. `T` is uint8_t (writable) or const uint8_t.
template <class T>
struct BasicImageRef {
  T* data = nullptr;
  std::ptrdiff_t pitch_bytes = 0;
  ImageFormat format;

  int width() const { return format.extent.width; }
  int height() const { return format.extent.height; }
  int channels() const { return lensd::channels(format.format); }
  bool is_deep() const { return sample_bytes(format.format) == 2; }  ///< 16 bits per sample
  int pixel_bytes() const { return format.pixel_bytes(); }
  size_t row_bytes() const { return format.row_bytes(); }
  T* row(int y) const { return data + static_cast<std::ptrdiff_t>(y) * pitch_bytes; }

  /// Returns the rows as values of P, which must fit the format.
  template <class P>
  ImageView<P> as() const {
    return {reinterpret_cast<P*>(data), pitch_bytes, format.extent};
  }
  /// Returns the samples of row `y` of an image with samples of type S.
  template <class S>
  auto* samples(int y) const {
    using Sample = std::conditional_t<std::is_const_v<T>, const S, S>;
    return reinterpret_cast<Sample*>(row(y));
  }

  operator BasicImageRef<const uint8_t>() const { return {data, pitch_bytes, format}; }
};

using ImageRef = BasicImageRef<uint8_t>;
using ConstImageRef = BasicImageRef<const uint8_t>;

/// Border rule of neighbourhood filters. For a row abcd: replicate aa|abcd|dd, reflect ba|abcd|dc,
/// reflect101 cb|abcd|cb, wrap cd|abcd|ab, constant 00|abcd|00.
enum class Border : uint8_t { replicate, reflect, reflect101, wrap, constant };

}  // namespace lensd
