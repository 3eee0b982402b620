#include "core/image/colour_settings.hpp"

#include "core/base/param.hpp"

namespace lensd {

const FilterSchema& colour_schema() {
  static const FilterSchema schema =
      Schema<ColourSettings>("colour", "HDR (PQ, HLG) and wide-gamut sources")
          .integer(
              "peak", &ColourSettings::peak, 0, 10000,
              "PQ: the brightest luminance to show, brighter parts are clipped; 0: what the source announces",
              {.unit = "cd/m²", .zero = "as announced"})
          .real("knee", &ColourSettings::knee, 0.5, 2,
                "HDR: larger values compress more highlights and leave more detail in them; 0.5: as BT.2390")
          .real("saturation", &ColourSettings::saturation, 0, 2, "HDR: 0: grey, 1: unchanged")
          .choice("display", &ColourSettings::display, {"srgb", "bt1886"},
                  "HDR: the screen's transfer function; bt1886: that of televisions")
          .boolean("bt601", &ColourSettings::bt601,
                   "convert the primaries of BT.601 (standard definition) to BT.709 too")
          .build();
  return schema;
}

}  // namespace lensd
