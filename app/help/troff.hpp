// Writes text in the man macros of troff.
#pragma once

#include <string>
#include <string_view>

namespace lensd {

/// Builds a page line by line. Text arguments are escaped.
class TroffPage {
 public:
  /// Starts the page `name`(1).
  TroffPage(std::string_view name, std::string_view version);

  void section(std::string_view heading);
  void subsection(std::string_view heading);
  void paragraph(std::string_view text);
  /// Adds an entry: a head and its description. `head` must be escaped, as by bold() and italic().
  void entry(const std::string& head, std::string_view description);
  /// Adds lines and keeps their line breaks.
  void lines(std::string_view text);
  /// Adds a line that is already escaped.
  void raw(const std::string& line) { text_ += line + "\n"; }

  static std::string bold(std::string_view text);
  static std::string italic(std::string_view text);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Escapes characters that troff interprets.
std::string troff_escaped(std::string_view text);

}  // namespace lensd
