// Ring of the rows that a sliding window needs, each with its border, in a worker's private memory.
#pragma once

#include "core/device/memory.hpp"
#include "kernels/common/border/border_simd.hpp"

namespace lensd {

/// Keeps 2·radius + 1 rows with `radius` pixels of border on both sides. After each row, vectors may read
/// kSlack further bytes; their values are unspecified and must not reach the output.
class RowRing {
 public:
  static constexpr size_t kSlack = 128;

  /// Returns the bytes of worker memory for windows of up to `radius`.
  static size_t bytes(const ImageFormat& format, int radius) {
    return pitch(format, radius) * static_cast<size_t>(2 * radius + 1);
  }

  RowRing(ConstImageRef image, int radius, Border border, uint8_t* memory)
      : image_(image),
        radius_(radius),
        rows_(2 * radius + 1),
        border_(border),
        memory_(memory),
        pitch_(pitch(image.format, radius)) {}

  /// Centres the window on row `y`, which must not be above the current centre. Fast if `y` is the next row.
  void move_to(int y) {
    const int last = y + radius_, first = y - radius_ > loaded_ ? y - radius_ : loaded_;
    for (int i = first; i <= last; ++i)
      copy_span(border_row(image_, i, border_), image_.width(), image_.pixel_bytes(), -radius_,
                image_.width() + radius_, border_, slot(i));
    loaded_ = last + 1, y_ = y;
  }

  /// Returns a pointer to pixel 0 of the row `dy` rows below the centre, -radius ≤ dy ≤ radius.
  const uint8_t* row(int dy) const {
    return memory_ + pitch_ * index(y_ + dy) + static_cast<size_t>(radius_ * image_.pixel_bytes());
  }

 private:
  static size_t pitch(const ImageFormat& format, int radius) {
    const auto borders = static_cast<size_t>(2 * radius * format.pixel_bytes());
    return (format.row_bytes() + borders + kSlack + 63) / 64 * 64;
  }
  size_t index(int y) const { return static_cast<size_t>((y + rows_) % rows_); }
  uint8_t* slot(int y) { return memory_ + pitch_ * index(y); }

  ConstImageRef image_;
  int radius_, rows_;
  Border border_;
  uint8_t* memory_;
  size_t pitch_;
  int y_ = 0, loaded_ = -(1 << 30);
};

}  // namespace lensd
