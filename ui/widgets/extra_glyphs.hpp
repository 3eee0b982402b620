// Characters beyond the base fonts, such as Cyrillic, Greek or Japanese ones in file names.
//
//   texts ── note_characters() ──▶ update() ── true ──▶ make_look() ── add_to(), build() ──▶ atlas
//                                     │ ▲
//           without embedded glyphs   ▼ │ fonts
//                                 SystemFonts
//
// At the start the atlas has only the base fonts, because a larger atlas takes longer to build. If a text has
// other characters, the next frame's atlas also has the rows of these characters in the embedded fonts. Fonts
// of the system are added when they are found. A character that no font has is drawn as a square. Call from
// the UI thread only.
#pragma once

#include <imgui.h>

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "ui/widgets/system_fonts.hpp"

namespace lensd::ui {

/// Notes the characters of a text that ImGui's current font lacks. Call for texts from outside the program:
/// names, messages, typed text. ASCII costs little.
void note_characters(std::string_view text);

class ExtraGlyphs {
 public:
  /// Forgets the characters that were noted before. Only one object may be in use.
  ExtraGlyphs();
  /// Takes the newly noted characters and found fonts. Returns true if the atlas must be built again now, at
  /// most twice per second, and less often with many characters. Call between frames, after the last build().
  bool update(int64_t time_ns);
  /// Merges the extra characters into the atlas's last font. `name`: name of the font's file in embedded().
  /// `size`: size of the font in pixels. The atlas uses memory of this object until it is built.
  void add_to(ImFontAtlas& atlas, std::string_view name, float size) const;
  /// Builds the atlas with the square for missing characters. Does nothing if there are no extra characters.
  void build(ImFontAtlas& atlas) const;

 private:
  struct Font {
    SystemFont file;
    std::vector<ImWchar> ranges;
  };
  void take_noted();
  void take_system(std::vector<SystemFont> found);

  std::set<unsigned> known_;      ///< noted characters that update() has taken
  std::set<unsigned> unchecked_;  ///< characters that the embedded fonts may lack
  std::set<unsigned> wanted_;     ///< characters to search in the system's fonts
  size_t searched_ = 0;           ///< number of characters searched so far
  std::set<unsigned> rows_;       ///< rows of 256 characters to take from the embedded fonts
  std::vector<ImWchar> ranges_;   ///< rows_ as ranges for ImGui
  std::vector<Font> fonts_;
  SystemFonts system_;
  bool changed_ = false;
  int64_t next_build_ns_ = 0;
};

}  // namespace lensd::ui
