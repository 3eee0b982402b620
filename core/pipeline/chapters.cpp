#include "core/pipeline/chapters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lensd {
namespace {

/// A seek to a chapter ends at the chapter's first frame, whose time may be just before or after the
/// chapter's start.
constexpr int64_t kToleranceNs = 100'000'000;
constexpr int64_t kRestartNs = 3'000'000'000;

}  // namespace

std::optional<size_t> chapter_at(const std::vector<Chapter>& chapters, int64_t position_ns) {
  const auto after = std::upper_bound(chapters.begin(), chapters.end(), position_ns + kToleranceNs,
                                      [](int64_t ns, const Chapter& c) { return ns < c.start_ns; });
  if (after == chapters.begin()) return std::nullopt;
  return static_cast<size_t>(after - chapters.begin()) - 1;
}

std::optional<size_t> chapter_to(const std::vector<Chapter>& chapters, int64_t position_ns, bool forward) {
  const std::optional<size_t> present = chapter_at(chapters, position_ns);
  if (forward) {
    const size_t next = present ? *present + 1 : 0;
    return next < chapters.size() ? std::optional(next) : std::nullopt;
  }
  if (!present) return std::nullopt;
  const bool restart = *present == 0 || position_ns - chapters[*present].start_ns > kRestartNs;
  return restart ? *present : *present - 1;
}

std::string chapter_text(const std::vector<Chapter>& chapters, size_t index) {
  const std::string& title = chapters[index].title;
  return fmt::format("Chapter {} of {}{}{}", index + 1, chapters.size(), title.empty() ? "" : ": ", title);
}

}  // namespace lensd
