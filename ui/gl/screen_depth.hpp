// Bits per channel of the window's framebuffer, and the dither of pictures that have more.
#pragma once

#include <array>
#include <string>

namespace lensd::ui {

struct ScreenDepth {
  int red = 8, green = 8, blue = 8;
  bool operator==(const ScreenDepth&) const = default;
};

/// Returns the depth of the window's framebuffer; 8 bits if GL does not report it. The GL context must be
/// current.
ScreenDepth screen_depth();

/// Returns the step between two screen levels for red, green and blue, on a scale from 0 to 1. Returns 0 for
/// channels in which the screen has at least `bits` bits, the picture's depth: they need no dither.
std::array<float, 3> dither_steps(const ScreenDepth& depth, int bits);

/// Returns a text such as "8 bits" or "5, 6 and 5 bits".
std::string describe(const ScreenDepth& depth);

/// Returns the bits per channel to request for a window on a desktop whose mode has `desktop` bits per
/// channel. Returns more than 8 only if the desktop has more, because compositors and screen capture programs
/// otherwise expect 8.
int requested_bits(int desktop);

}  // namespace lensd::ui
