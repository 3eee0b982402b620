// A font of capitals, digits and punctuation, 5 × 7 dots, for text in generated pictures.
#pragma once

#include <array>
#include <cstdint>

namespace lensd {

inline constexpr int kGlyphWidth = 5, kGlyphHeight = 7;

/// Returns the rows of a character from the top, with the leftmost dot in bit 4. Lower-case letters are shown
/// as capitals; unknown characters are empty.
const std::array<uint8_t, kGlyphHeight>& glyph(char c) noexcept;

}  // namespace lensd
