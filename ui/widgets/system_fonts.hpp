// Finds fonts of the system that have given characters, with libfontconfig if it is installed.
//
//   search() ──▶ own thread: fontconfig, files ──▶ take_found()
//
// Loads the library at run time. Without it, no font is found. The first search may take long if fontconfig
// has to read all fonts, so a thread does it. Call from the UI thread only.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/owned_thread.hpp"

namespace lensd::ui {

/// A TrueType or OpenType font, or one font of a collection (TTC, OTC).
struct SystemFont {
  std::string path;
  int index = 0;                     ///< in the collection; 0 for other files
  std::vector<unsigned char> bytes;  ///< empty if take_found() has returned this font before
  float line_per_em = 1;             ///< see line_per_em()
  std::vector<unsigned> characters;  ///< characters to take from it, ascending
};

/// SystemFont::path and SystemFont::index.
using FontNames = std::set<std::pair<std::string, int>>;

class SystemFonts {
 public:
  ~SystemFonts();
  /// Begins a search for these characters, unless a search runs. Returns false if one runs. Logs failures;
  /// the search then finds no fonts.
  bool search(std::vector<unsigned> characters);
  /// Returns the fonts of the last search once, after it has ended; otherwise none.
  std::vector<SystemFont> take_found();

 private:
  struct Search;
  std::shared_ptr<Search> search_;  ///< shared with the thread; null: no search runs
  FontNames known_;                 ///< fonts that take_found() has returned
  OwnedThread thread_;
};

/// Returns the height of a line in ems, for drawing fonts at the same size. Returns 0 if these are not the
/// bytes of a font, if it has no font `index`, or if its outlines are in a format that Dear ImGui cannot
/// read, such as CFF2.
float line_per_em(std::span<const unsigned char> bytes, int index);

}  // namespace lensd::ui
