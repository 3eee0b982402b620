#include "ui/widgets/scope_paint.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace lensd::ui {
namespace {

constexpr uint32_t rgb(int r, int g, int b) {
  return static_cast<uint32_t>(r) | static_cast<uint32_t>(g) << 8 | static_cast<uint32_t>(b) << 16;
}
uint32_t with_alpha(uint32_t colour, float brightness) {
  return colour | static_cast<uint32_t>(std::min(brightness, 1.f) * 255) << 24;
}

constexpr uint32_t kLuma = rgb(214, 220, 214);
constexpr uint32_t kPlanes[] = {rgb(232, 92, 84), rgb(104, 204, 112), rgb(96, 140, 240)};
constexpr int kParadeColumns = 128;  ///< columns of a channel; three channels are about as wide as the panel
constexpr int kPaintedRows = 256;  ///< rows of a scope; with 1024 levels, a row shows the sum of four levels

/// Paints a plane of column counts into `to` columns of a picture with `pitch` columns. The brightness grows
/// with the square root of a row's share of its column, so that single pixels stay visible.
void paint_columns(const ScopeReading& reading, const uint32_t* counts, int to, uint32_t colour,
                   uint32_t* pixels, size_t pitch) {
  const int width = reading.image.extent.width, levels = scope_levels(reading.image.format);
  const int each = levels / kPaintedRows;
  for (int x = 0; x < to; ++x) {
    const auto [first, last] = scope_columns_of(x, to, width);
    const int pixel_columns = scope_column_begin(last, width) - scope_column_begin(first, width);
    const float scale =
        24.f / (static_cast<float>(pixel_columns) * static_cast<float>(reading.image.extent.height));
    for (int row = 0; row < kPaintedRows; ++row) {
      uint32_t count = 0;
      for (int c = first; c < last; ++c)
        for (int v = row * each; v < (row + 1) * each; ++v) count += counts[c * levels + v];
      pixels[static_cast<size_t>(kPaintedRows - 1 - row) * pitch + static_cast<size_t>(x)] =
          count == 0 ? colour : with_alpha(colour, 0.06f + std::sqrt(static_cast<float>(count) * scale));
    }
  }
}

/// Returns the vectorscope's colours at index 256 * Cr + Cb: medium brightness, desaturated.
const std::array<uint32_t, 65536>& tints() {
  static const std::array<uint32_t, 65536> table = [] {
    std::array<uint32_t, 65536> t{};
    for (int i = 0; i < 65536; ++i) {
      const double cb = 0.8 * (i % 256 - 128), cr = 0.8 * (i / 256 - 128);
      const auto byte = [](double v) { return static_cast<int>(std::clamp(v, 0., 255.)); };
      t[static_cast<size_t>(i)] =
          rgb(byte(176 + 1.402 * cr), byte(176 - 0.344 * cb - 0.714 * cr), byte(176 + 1.772 * cb));
    }
    return t;
  }();
  return table;
}

void paint_vectorscope(const ScopeReading& reading, uint32_t* pixels) {
  const Extent extent = reading.image.extent;
  const float all = static_cast<float>(extent.width) * static_cast<float>(extent.height);
  const float scale = 1 / std::log1p(all / 64);
  const auto levels = static_cast<size_t>(scope_levels(reading.image.format)), each = levels / kPaintedRows;
  for (size_t cr = 0; cr < 256; ++cr)
    for (size_t cb = 0; cb < 256; ++cb) {
      const uint32_t tint = tints()[cr * 256 + cb];
      uint32_t count = 0;
      for (size_t i = 0; i < each * each; ++i)
        count += reading.counts[(cr * each + i / each) * levels + cb * each + i % each];
      pixels[(255 - cr) * 256 + cb] =
          count == 0 ? tint : with_alpha(tint, 0.1f + scale * std::log1p(static_cast<float>(count)));
    }
}

}  // namespace

int painted_columns(ScopeKind kind, int width) {
  return std::min(scope_columns(width), kind == ScopeKind::parade ? kParadeColumns : kScopeColumns);
}

ColumnRange scope_columns_of(int painted_column, int painted_columns, int width) {
  const int columns = scope_columns(width);
  return {painted_column * columns / painted_columns, (painted_column + 1) * columns / painted_columns};
}

Extent paint_scope(const ScopeReading& reading, std::vector<uint32_t>& pixels) {
  const bool complete =
      !reading.counts.empty() && reading.counts.size() == scope_counts(reading.scope.kind, reading.image);
  if (!complete || reading.scope.kind == ScopeKind::histogram) return {};
  const int width = reading.image.extent.width, columns = painted_columns(reading.scope.kind, width);
  const Extent size{reading.scope.kind == ScopeKind::vectorscope ? 256
                    : reading.scope.kind == ScopeKind::parade    ? 3 * columns
                                                                 : columns,
                    kPaintedRows};
  const auto pitch = static_cast<size_t>(size.width);
  pixels.resize(pitch * kPaintedRows);
  if (reading.scope.kind == ScopeKind::vectorscope) {
    paint_vectorscope(reading, pixels.data());
  } else if (reading.scope.kind == ScopeKind::waveform) {
    paint_columns(reading, reading.counts.data(), columns, kLuma, pixels.data(), pitch);
  } else {
    const int plane = scope_columns(width) * scope_levels(reading.image.format);
    for (int c = 0; c < 3; ++c)
      paint_columns(reading, reading.counts.data() + c * plane, columns, kPlanes[c],
                    pixels.data() + c * columns, pitch);
  }
  return size;
}

ScopePoint vectorscope_point(YuvMatrix matrix, int levels, double r, double g, double b) {
  const double kr = matrix == YuvMatrix::bt601 ? 0.299 : 0.2126,
               kb = matrix == YuvMatrix::bt601 ? 0.114 : 0.0722;
  const double y = kr * r + (1 - kr - kb) * g + kb * b;
  const double cb = (b - y) / (2 * (1 - kb)), cr = (r - y) / (2 * (1 - kr));
  const auto at = [levels](double c) {
    return static_cast<float>(((levels + 1) * 0.5 + (levels - 1) * c) / levels);
  };
  return {at(cb), at(cr)};
}

}  // namespace lensd::ui
