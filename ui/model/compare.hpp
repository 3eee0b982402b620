// Comparing two nodes' pictures, and looking at single channels: what the user chose, as plain values.
#pragma once

#include <cstdint>
#include <string>

namespace lensd::ui {

enum class CompareMode : uint8_t {
  off,
  split,       ///< A left of the handle, B right of it
  side,        ///< A and B side by side, zoomed and moved together
  difference,  ///< how far apart they are, as a heat map
};

/// What is shown of the pixels.
enum class ChannelView : uint8_t { colour, red, green, blue, luma, alpha };

struct CompareState {
  CompareMode mode = CompareMode::off;
  std::string a = "source", b;  ///< node ids, "source", or empty for what the graph puts out
  float split = 0.5f;           ///< of the picture area's width
  float gain = 4;               ///< of the difference
  bool dragging = false;
};

/// How Presenter::draw() shows its pictures.
struct CompareLook {
  CompareMode mode = CompareMode::off;
  ChannelView channel = ChannelView::colour;
  float split_x = 0;  ///< framebuffer pixels
  float gain = 4;
  bool second_only = false;  ///< A alone, as while the graph is bypassed
};

}  // namespace lensd::ui
