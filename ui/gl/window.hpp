// The window and its GL 4.3 context.
//
//   poll() ── input() ── … draw … ── [read_pixels()] ── present()          all on the UI thread
//   wake() ends a poll(timeout) early; thread-safe
//
// With WindowOptions::vsync, present() limits the loop to the display's rate even if the swap does not wait
// (Xvfb, Wayland, a hidden window). The added wait is at most one refresh period. For tests,
// LENSD_DISPLAY_FPS=5 in the environment simulates a display of 5 frames per second.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/image/image.hpp"
#include "ui/gl/screen_depth.hpp"
#include "ui/model/input.hpp"

struct GLFWwindow;

namespace lensd::ui {

struct WindowOptions {
  std::string title = "lensd";
  int width = 1280, height = 720;  ///< logical pixels: multiplied by the monitor's content scale
  bool fullscreen = false;
  bool hidden = false;  ///< for tests and diagnosis
  bool vsync = true;
};

class Window {
 public:
  /// Opens the window. Throws Error(unavailable) if there is no display or no GL 4.3.
  explicit Window(const WindowOptions& options);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Replaces input() with new events. Waits at most `timeout_s` seconds for an event. Returns false after
  /// the user or close() has requested to close the window.
  bool poll(double timeout_s = 0);
  /// Ends a waiting poll(). Thread-safe.
  static void wake();
  const InputState& input() const { return input_; }
  /// Returns true if there was input or a window event since the last call.
  bool take_input_seen() { return std::exchange(input_seen_, false); }

  /// Swaps buffers unless the window is hidden(). Then waits to limit the rate, if the window is hidden or
  /// WindowOptions::vsync is set. `at_once`: do not wait after a swap, for low latency.
  void present(bool at_once = false);
  bool iconified() const;
  /// Returns true if the window is iconified or unmapped, for example on another workspace. Queries the
  /// window system at most 20 times per second.
  bool hidden();
  void close();

  void set_fullscreen(bool on);
  bool fullscreen() const { return fullscreen_; }
  /// Keeps the window above others, if the window manager supports it.
  void set_on_top(bool on);
  bool on_top() const;
  void set_borderless(bool on);
  bool borderless() const;
  void set_title(const std::string& title);

  /// Returns the size in logical pixels; empty while fullscreen or iconified.
  Extent logical_size() const;
  /// Returns the size in framebuffer pixels, as of the last poll().
  Extent framebuffer() const { return framebuffer_; }
  /// Returns the size in the window system's units, as of the last poll().
  Extent size() const { return size_; }
  /// Returns the number of framebuffer pixels per logical pixel: LENSD_SCALE in the environment, else the
  /// monitor's content scale.
  float content_scale() const;

  /// Returns the back buffer as RGBA8, for snapshots and tests. Waits for the GPU.
  Image read_pixels() const;

  const std::string& renderer() const { return renderer_; }  ///< such as "NVIDIA H100", "llvmpipe (LLVM 15…)"
  const std::string& version() const { return version_; }
  const ScreenDepth& depth() const { return depth_; }
  /// Returns true if GL runs on the CPU.
  bool software_rendering() const;

  GLFWwindow* handle() const { return window_; }

 private:
  struct Callbacks;
  void open(const WindowOptions& options);
  int64_t refresh_period_ns();

  GLFWwindow* window_ = nullptr;
  Extent size_, framebuffer_;  // updated by events, because a query waits for the X server
  InputState input_;
  std::string renderer_, version_;
  ScreenDepth depth_;
  bool vsync_ = true, fullscreen_ = false;
  MouseStep mouse_, pressed_;            ///< mouse state at the last event and at the last press
  bool repeat_ = false, shift_ = false;  ///< state in the last key press, for its character callback
  char32_t second_ = 0;                  ///< second_character() of the last key press
  int restore_[4] = {};                  ///< position and size before fullscreen
  int64_t last_present_ns_ = 0, asked_hidden_ns_ = 0;
  int64_t refresh_period_ns_ = 0, asked_refresh_ns_ = 0;
  int64_t slow_period_ns_ = 0;  ///< refresh period of the simulated display; 0: none
  bool hidden_ = false, input_seen_ = true;
};

}  // namespace lensd::ui
