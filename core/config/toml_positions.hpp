// Converts positions of toml++ to byte offsets.
#pragma once

#include <string>
#include <vector>

#include "core/config/toml.hpp"

namespace lensd {

/// The byte range [begin, end).
struct TomlSpan {
  size_t begin = 0, end = 0;
};

/// The lines of a parsed text, which must outlive this object. Lines and columns of toml++ start at 1;
/// columns are code points.
class TomlPositions {
 public:
  explicit TomlPositions(const std::string& text) : text_(text), lines_{0} {
    for (size_t i = 0; i < text.size(); ++i)
      if (text[i] == '\n') lines_.push_back(i + 1);
  }

  size_t byte(const toml::source_position& at) const {
    if (at.line < 1 || at.line > lines_.size()) return text_.size();
    size_t i = lines_[at.line - 1];
    for (auto column = at.column; column > 1 && i < text_.size(); --column) {
      ++i;
      while (i < text_.size() && (static_cast<unsigned char>(text_[i]) & 0xC0) == 0x80) ++i;
    }
    return i;
  }
  TomlSpan span(const toml::source_region& region) const { return {byte(region.begin), byte(region.end)}; }
  /// Returns the offset of the first byte after the line that contains `at`.
  size_t line_end(size_t at) const {
    const size_t newline = text_.find('\n', at);
    return newline == std::string::npos ? text_.size() : newline + 1;
  }

 private:
  const std::string& text_;
  std::vector<size_t> lines_;
};

}  // namespace lensd
