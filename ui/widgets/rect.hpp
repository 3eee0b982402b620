// A rectangle on the screen. The unit, framebuffer pixels or window coordinates, depends on the use.
#pragma once

#include <map>
#include <string>

namespace lensd::ui {

/// Origin at the top left, y downwards.
struct Rect {
  float x = 0, y = 0, w = 0, h = 0;
  bool contains(float px, float py) const { return px >= x && py >= y && px < x + w && py < y + h; }
};

/// Rectangles of named widgets in the last frame, for tests that click.
using WidgetRects = std::map<std::string, Rect, std::less<>>;

}  // namespace lensd::ui
