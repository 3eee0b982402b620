// Plain values: the settings for comparing the pictures of two nodes, and the shown channel.
#pragma once

#include <cstdint>
#include <string>

namespace lensd::ui {

enum class CompareMode : uint8_t {
  off,
  split,       ///< A on the left of the handle, B on the right
  side,        ///< A and B side by side, zoomed and moved together
  difference,  ///< heat map of the difference
};

enum class ChannelView : uint8_t { colour, red, green, blue, luma, alpha };

struct CompareState {
  CompareMode mode = CompareMode::off;
  std::string a = "source", b;  ///< node ids, "source", or empty for the graph's output
  float split = 0.5f;           ///< position of the handle: fraction of the picture area's width
  float gain = 4;               ///< multiplies the difference before it is coloured
  bool dragging = false;
};

/// How Presenter::draw() shows its pictures.
struct CompareLook {
  CompareMode mode = CompareMode::off;
  ChannelView channel = ChannelView::colour;
  float split_x = 0;  ///< x of the handle in framebuffer pixels
  float gain = 4;
  bool second_only = false;  ///< show only the second picture
};

}  // namespace lensd::ui
