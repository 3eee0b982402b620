// Static HDR metadata: what a stream states about its mastering display (SMPTE ST 2086) and its brightest
// pictures (CTA-861.3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace lensd {

/// A point of the CIE 1931 diagram in units of 0.00002, as in HEVC and MP4.
struct Chromaticity {
  uint16_t x = 0, y = 0;
  bool operator==(const Chromaticity&) const = default;
};

struct HdrMetadata {
  struct Gamut {
    std::array<Chromaticity, 3> primaries;  ///< red, green, blue
    Chromaticity white;
    bool operator==(const Gamut&) const = default;
  };
  /// Luminance of the mastering display in units of 0.0001 cd/m².
  struct Luminance {
    int max = 0, min = 0;
    bool operator==(const Luminance&) const = default;
  };
  /// Light levels of the content in cd/m²; 0: unknown.
  struct ContentLight {
    uint16_t max_cll = 0, max_fall = 0;
    bool operator==(const ContentLight&) const = default;
  };

  std::optional<Gamut> gamut;
  std::optional<Luminance> luminance;
  std::optional<ContentLight> content;
  bool operator==(const HdrMetadata&) const = default;
};

}  // namespace lensd
