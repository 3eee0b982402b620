// The window and its GL 4.3 context.
//
//   poll() ── input() ── … draw … ── [read_pixels()] ── present()          all on the UI thread
//   wake() ends a poll(timeout) early and may be called from any thread
//
// present() keeps the loop at the display's rate even where the swap does not wait (Xvfb, Wayland, a window
// that is not to be seen), and never waits for longer than one refresh. LENSD_DISPLAY_FPS=5 in the
// environment makes it wait as a display of that rate would; it is there for tests of what a slow display
// does to the rest.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/image/image.hpp"
#include "ui/model/input.hpp"

struct GLFWwindow;

namespace lensd::ui {

struct WindowOptions {
  std::string title = "lensd";
  int width = 1280, height = 720;  ///< multiplied by the monitor's content scale
  bool fullscreen = false;
  bool hidden = false;  ///< for tests and diagnosis
  bool vsync = true;
};

class Window {
 public:
  /// Throws Error(unavailable) with the reason when there is no display or no GL 4.3.
  explicit Window(const WindowOptions& options);
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  /// Collects events into input(); waits at most `timeout_s` for one. False once the window was closed.
  bool poll(double timeout_s = 0);
  /// Ends a waiting poll(); any thread.
  static void wake();
  const InputState& input() const { return input_; }
  /// Whether anything came from keyboard, mouse or window system since the last call.
  bool take_touched() { return std::exchange(touched_, false); }

  /// Swaps buffers and paces the loop. Does nothing but pace while the window is hidden(). `at_once`: what
  /// comes next is to be shown when it comes, so that only a swap that waits paces.
  void present(bool at_once = false);
  bool iconified() const;
  /// Iconified or unmapped, as on another workspace of many window managers: nothing that is drawn is seen.
  /// Asks the window system twenty times a second at most.
  bool hidden();
  void close();

  void set_fullscreen(bool on);
  bool fullscreen() const { return fullscreen_; }
  void set_title(const std::string& title);

  /// Size in the units of WindowOptions; empty while it is fullscreen or iconified, which is not a size to
  /// keep.
  Extent logical_size() const;
  /// Size in framebuffer pixels, as of the last poll().
  Extent framebuffer() const { return framebuffer_; }
  /// Size in the window system's units, as of the last poll().
  Extent size() const { return size_; }
  /// Pixels of one logical unit: the monitor's content scale, or the environment's LENSD_SCALE.
  float content_scale() const;

  /// What was drawn since the last present(), as RGBA8. Waits for the GPU; for snapshots and tests.
  Image read_pixels() const;

  const std::string& renderer() const { return renderer_; }  ///< "NVIDIA H100", "llvmpipe (LLVM 15…)"
  const std::string& version() const { return version_; }
  /// True when GL runs on the CPU.
  bool software_rendering() const;

  GLFWwindow* handle() const { return window_; }

 private:
  struct Callbacks;
  void open(const WindowOptions& options);
  int64_t refresh_period_ns();

  GLFWwindow* window_ = nullptr;
  Extent size_, framebuffer_;  // told by events: asking takes an answer from the X server, every time
  InputState input_;
  std::string renderer_, version_;
  bool vsync_ = true, fullscreen_ = false;
  MouseStep mouse_, pressed_;            ///< as the last event, and the last press, said
  bool repeat_ = false, shift_ = false;  ///< of the key whose character callback follows
  int restore_[4] = {};                  ///< position and size before fullscreen
  int64_t last_present_ns_ = 0, asked_hidden_ns_ = 0;
  int64_t refresh_period_ns_ = 0, asked_refresh_ns_ = 0;
  int64_t slow_period_ns_ = 0;  ///< of the slow display that is acted; 0: none is
  int64_t woke_ns_ = 0;         ///< when poll() came back
  bool hidden_ = false, touched_ = true;
};

}  // namespace lensd::ui
