#include "ui/widgets/scope_tip.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ui/widgets/scope_paint.hpp"

namespace lensd::ui {
namespace {

/// Returns which of `count` equal parts of 0 … 1 contains `at`.
int part_at(float at, int count) {
  return std::clamp(static_cast<int>(at * static_cast<float>(count)), 0, count - 1);
}

/// Returns the level. Appends the largest level if it is not 255: "512 of 1023".
std::string level_text(int level, int levels) {
  return levels == 256 ? fmt::format("{}", level) : fmt::format("{} of {}", level, levels - 1);
}

std::string histogram_tip(const ScopeReading& reading, float x) {
  const int levels = scope_levels(reading.image.format), v = part_at(x, levels);
  const uint32_t* counts = reading.counts.data() + v;
  const std::string level = level_text(v, levels);
  if (is_gray(reading.image.format)) return fmt::format("{}: {} pixels", level, counts[3 * levels]);
  return fmt::format("{}: R {}, G {}, B {}, luma {} pixels", level, counts[0], counts[levels],
                     counts[2 * levels], counts[3 * levels]);
}

/// Returns the text for a waveform or parade: the sum of the scope columns that are painted as one column.
std::string columns_tip(const ScopeReading& reading, float x, float y) {
  const bool parade = reading.scope.kind == ScopeKind::parade;
  const int width = reading.image.extent.width, levels = scope_levels(reading.image.format);
  const int painted = painted_columns(reading.scope.kind, width);
  const int column = part_at(x, (parade ? 3 : 1) * painted), v = part_at(y, levels);
  const auto [first, last] = scope_columns_of(column % painted, painted, width);
  const uint32_t* plane = reading.counts.data() + column / painted * scope_columns(width) * levels;
  uint32_t pixels = 0;
  for (int c = first; c < last; ++c) pixels += plane[c * levels + v];
  constexpr const char* kChannels[] = {"R", "G", "B"};
  const int begin = scope_column_begin(first, width), end = scope_column_begin(last, width) - 1;
  return fmt::format("x {}: {} {}: {} pixels",
                     begin == end ? fmt::format("{}", begin) : fmt::format("{} to {}", begin, end),
                     parade ? kChannels[column / painted] : "luma", level_text(v, levels), pixels);
}

std::string chroma_tip(const ScopeReading& reading, float x, float y) {
  const int levels = scope_levels(reading.image.format), cb = part_at(x, levels), cr = part_at(y, levels);
  return fmt::format("Cb {}, Cr {}: {} pixels", cb, level_text(cr, levels),
                     reading.counts.data()[cr * levels + cb]);
}

}  // namespace

std::string scope_tip(const ScopeReading& reading, float x, float y) {
  if (reading.counts.empty() || reading.counts.size() != scope_counts(reading.scope.kind, reading.image))
    return {};
  switch (reading.scope.kind) {
    case ScopeKind::histogram:
      return histogram_tip(reading, x);
    case ScopeKind::waveform:
    case ScopeKind::parade:
      return columns_tip(reading, x, y);
    case ScopeKind::vectorscope:
      return chroma_tip(reading, x, y);
    case ScopeKind::compare:
      break;
  }
  return {};
}

}  // namespace lensd::ui
