// A rectangle on the screen; the unit (framebuffer pixels or window coordinates) is said where it is used.
#pragma once

#include <map>
#include <string>

namespace lensd::ui {

/// Origin at the top left, y downwards.
struct Rect {
  float x = 0, y = 0, w = 0, h = 0;
  bool contains(float px, float py) const { return px >= x && py >= y && px < x + w && py < y + h; }
};

/// Where named widgets were in the last frame, for tests that click.
using WidgetRects = std::map<std::string, Rect, std::less<>>;

}  // namespace lensd::ui
