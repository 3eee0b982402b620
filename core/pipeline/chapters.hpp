// Chapters of a file.
//
// Plain values; copy freely between threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lensd {

struct Chapter {
  int64_t start_ns = 0;  ///< presentation time
  std::string title;     ///< UTF-8 without control characters, may be empty
  bool operator==(const Chapter&) const = default;
};

/// Returns the index of the chapter at a position, or nullopt before the first one. The last 100 ms before a
/// chapter's start belong to that chapter. `chapters` must be sorted by start.
std::optional<size_t> chapter_at(const std::vector<Chapter>& chapters, int64_t position_ns);

/// Returns the index of the chapter to seek to. Forward: the next chapter. Backward: the current chapter; in
/// its first 3 s the previous one, if any. Returns nullopt if there is no such chapter.
std::optional<size_t> chapter_to(const std::vector<Chapter>& chapters, int64_t position_ns, bool forward);

/// Returns "Chapter 2 of 5: title" for index 1, without ": title" if the title is empty.
std::string chapter_text(const std::vector<Chapter>& chapters, size_t index);

}  // namespace lensd
