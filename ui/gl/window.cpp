#include "ui/gl/window.hpp"

// Include GLEW first. Otherwise GLFW includes the system's GL header.
#include <GL/glew.h>
#include <GLFW/glfw3.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "ui/gl/key_layout.hpp"

namespace lensd::ui {
namespace {

[[noreturn]] void unavailable(const std::string& what) {
  throw Error(ExitCode::unavailable, "display", what, "use --headless, or see `lensd doctor`");
}

/// Returns true if `variable`, DISPLAY or WAYLAND_DISPLAY, names a session. Ignores an empty value.
bool names_session(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value;
}

std::string last_glfw_error(const char* otherwise) {
  const char* text = nullptr;
  return glfwGetError(&text) != GLFW_NO_ERROR && text ? text : otherwise;
}

std::string gl_string(GLenum name) {
  const auto* text = reinterpret_cast<const char*>(glGetString(name));
  return text ? text : "unknown";
}

/// Returns true on Wayland, where a swap that waits for vsync blocks while the window is covered.
bool swap_may_block() {
#if GLFW_VERSION_MAJOR > 3 || GLFW_VERSION_MINOR >= 4
  return glfwGetPlatform() == GLFW_PLATFORM_WAYLAND;
#else
  return names_session("WAYLAND_DISPLAY") && !names_session("DISPLAY");
#endif
}

Key named_key(int key) {
  constexpr std::pair<int, Key> kKeys[] = {
      {GLFW_KEY_ESCAPE, Key::escape},       {GLFW_KEY_TAB, Key::tab},
      {GLFW_KEY_BACKSPACE, Key::backspace}, {GLFW_KEY_LEFT, Key::left},
      {GLFW_KEY_RIGHT, Key::right},         {GLFW_KEY_UP, Key::up},
      {GLFW_KEY_DOWN, Key::down},           {GLFW_KEY_ENTER, Key::enter},
      {GLFW_KEY_KP_ENTER, Key::enter},      {GLFW_KEY_DELETE, Key::remove},
      {GLFW_KEY_HOME, Key::home},           {GLFW_KEY_END, Key::end},
      {GLFW_KEY_PAGE_UP, Key::page_up},     {GLFW_KEY_PAGE_DOWN, Key::page_down}};
  for (const auto& [code, named] : kKeys)
    if (code == key) return named;
  return Key::character;
}

/// Returns the ASCII character of a key in the user's keyboard layout, or 0 if it has none.
char32_t layout_character(int key, int scancode) {
  if (key == GLFW_KEY_KP_ADD) return U'+';
  if (key == GLFW_KEY_KP_SUBTRACT) return U'-';
  const char* text = glfwGetKeyName(key, scancode);
  return text && static_cast<unsigned char>(text[0]) < 0x80 ? static_cast<char32_t>(text[0]) : 0;
}

std::string_view name_of_a() {
  const char* text = glfwGetKeyName(GLFW_KEY_A, 0);
  return text ? text : "";
}

}  // namespace

struct Window::Callbacks {
  static Window& of(GLFWwindow* handle) {
    Window& window = *static_cast<Window*>(glfwGetWindowUserPointer(handle));
    window.input_seen_ = true;
    return window;
  }

  static void key(GLFWwindow* handle, int key, int scancode, int action, int mods) {
    Window& window = of(handle);
    const char32_t typed = layout_character(key, scancode);
    window.input_.hold(typed ? typed : second_character(key, false, false, name_of_a()),
                       action != GLFW_RELEASE,
                       (mods & (GLFW_MOD_SHIFT | GLFW_MOD_CONTROL | GLFW_MOD_ALT)) != 0);
    if (action == GLFW_RELEASE) return;
    window.repeat_ = action == GLFW_REPEAT;
    window.shift_ = (mods & GLFW_MOD_SHIFT) != 0;
    KeyPress press;
    press.key = named_key(key);
    press.ctrl = (mods & GLFW_MOD_CONTROL) != 0, press.alt = (mods & GLFW_MOD_ALT) != 0;
    press.shift = window.shift_, press.repeat = window.repeat_;
    window.second_ = 0;
    if (press.key == Key::character) {
      const bool modified = press.ctrl || press.alt;
      press.second_character = second_character(key, press.shift, modified, name_of_a());
      window.second_ = press.second_character;
      if (!modified) return;  // the character callback follows
      press.character = typed;
      if (press.character == 0 && press.second_character == 0) return;
    }
    window.input_.presses.push_back(press);
  }

  static void character(GLFWwindow* handle, unsigned int code) {
    Window& window = of(handle);
    KeyPress press;
    press.character = code, press.second_character = window.second_;
    press.shift = window.shift_, press.repeat = window.repeat_;
    window.input_.presses.push_back(press);
  }

  static void focus(GLFWwindow* handle, int focused) {
    Window& window = of(handle);
    if (!focused) window.input_.held_letters = 0;
  }

  /// Adds a step per button change. After a drag, first adds a step with the final position.
  static void button(GLFWwindow* handle, int button, int action, int) {
    constexpr float kClickDistance = 6;  // Dear ImGui's limit for double clicks
    Window& window = of(handle);
    MouseStep& mouse = window.mouse_;
    std::vector<MouseStep>& steps = window.input_.mouse_steps;
    const uint32_t bit = 1u << button;
    if (action == GLFW_PRESS) {
      mouse.buttons |= bit;
      window.pressed_ = mouse;
    } else {
      if (std::hypot(mouse.x - window.pressed_.x, mouse.y - window.pressed_.y) > kClickDistance)
        steps.push_back(mouse);
      mouse.buttons &= ~bit;
    }
    steps.push_back(mouse);
  }

  static void pointer(GLFWwindow* handle, double x, double y) {
    Window& window = of(handle);
    window.mouse_.x = static_cast<float>(x), window.mouse_.y = static_cast<float>(y);
  }

  // ImGui handles wheel and enter events; of() only records that there was input.
  static void wheel(GLFWwindow* handle, double, double) { of(handle); }
  static void entered(GLFWwindow* handle, int) { of(handle); }

  static void resized(GLFWwindow* handle, int width, int height) { of(handle).size_ = {width, height}; }
  static void framebuffer_resized(GLFWwindow* handle, int width, int height) {
    of(handle).framebuffer_ = {width, height};
  }

  static void drop(GLFWwindow* handle, int count, const char** paths) {
    for (int i = 0; i < count; ++i) of(handle).input_.dropped_files.emplace_back(paths[i]);
  }
};

Window::Window(const WindowOptions& options) : vsync_(options.vsync) {
  if (const char* text = std::getenv("LENSD_DISPLAY_FPS"))
    if (const double fps = std::strtod(text, nullptr); fps >= 0.1 && fps <= 1000)
      slow_period_ns_ = static_cast<int64_t>(1e9 / fps);
  // Check this first, because Wayland's library writes to standard error if it finds no session.
  const bool wayland = names_session("WAYLAND_DISPLAY");
  if (!wayland && !names_session("DISPLAY")) unavailable("neither DISPLAY nor WAYLAND_DISPLAY is set");
#if GLFW_VERSION_MAJOR > 3 || GLFW_VERSION_MINOR >= 4
  if (!wayland) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
#endif
  if (!glfwInit()) {
    const std::string reason = last_glfw_error("no window system found");
    // Debian 12 has GLFW for X11 and GLFW for Wayland in two packages.
    const bool only_wayland = wayland && !names_session("DISPLAY");
    unavailable(only_wayland ? "this is a Wayland session without X11, and GLFW reports \"" + reason +
                                   "\"; install libglfw3-wayland or Xwayland"
                             : reason);
  }
  try {
    open(options);
  } catch (...) {
    if (window_) glfwDestroyWindow(window_);
    glfwTerminate();
    throw;
  }
}

Window::~Window() {
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void Window::open(const WindowOptions& options) {
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 4);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, GLFW_TRUE);
  // By default, GLFW iconifies a fullscreen window that loses the focus to a window on another monitor.
  glfwWindowHint(GLFW_AUTO_ICONIFY, GLFW_FALSE);
  glfwWindowHint(GLFW_VISIBLE, options.hidden ? GLFW_FALSE : GLFW_TRUE);
  glfwWindowHint(GLFW_DEPTH_BITS, 0);
  glfwWindowHint(GLFW_STENCIL_BITS, 0);
  GLFWmonitor* const monitor = glfwGetPrimaryMonitor();
  const GLFWvidmode* const mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
  glfwWindowHint(GLFW_RED_BITS, requested_bits(mode ? mode->redBits : 8));
  glfwWindowHint(GLFW_GREEN_BITS, requested_bits(mode ? mode->greenBits : 8));
  glfwWindowHint(GLFW_BLUE_BITS, requested_bits(mode ? mode->blueBits : 8));
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "lensd");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "lensd");
#ifdef GLFW_WAYLAND_APP_ID                             // from GLFW 3.4 on
  glfwWindowHintString(GLFW_WAYLAND_APP_ID, "lensd");  // must match lensd.desktop, for the icon
#endif
  window_ = glfwCreateWindow(options.width, options.height, options.title.c_str(), nullptr, nullptr);
  if (!window_) unavailable("no OpenGL 4.3: " + last_glfw_error("the driver gave no reason"));
  glfwMakeContextCurrent(window_);
  glewExperimental = GL_TRUE;
  const GLenum status = glewInit();
  // With EGL, GLEW reports a missing GLX display, but has loaded all functions used here.
  if (status != GLEW_OK && status != GLEW_ERROR_NO_GLX_DISPLAY)
    unavailable(std::string("GLEW: ") + reinterpret_cast<const char*>(glewGetErrorString(status)));
  renderer_ = gl_string(GL_RENDERER), version_ = gl_string(GL_VERSION);
  depth_ = screen_depth();
  glfwSwapInterval(vsync_ && !swap_may_block() ? 1 : 0);

  glfwSetWindowUserPointer(window_, this);
  glfwSetKeyCallback(window_, Callbacks::key);
  glfwSetCharCallback(window_, Callbacks::character);
  glfwSetWindowFocusCallback(window_, Callbacks::focus);
  glfwSetMouseButtonCallback(window_, Callbacks::button);
  glfwSetCursorPosCallback(window_, Callbacks::pointer);
  glfwSetScrollCallback(window_, Callbacks::wheel);
  glfwSetCursorEnterCallback(window_, Callbacks::entered);
  glfwSetDropCallback(window_, Callbacks::drop);
  glfwSetWindowSizeCallback(window_, Callbacks::resized);
  glfwSetFramebufferSizeCallback(window_, Callbacks::framebuffer_resized);
  glfwGetWindowSize(window_, &size_.width, &size_.height);
  glfwGetFramebufferSize(window_, &framebuffer_.width, &framebuffer_.height);
  if (options.fullscreen && !options.hidden) set_fullscreen(true);
}

bool Window::poll(double timeout_s) {
  input_.presses.clear();
  input_.dropped_files.clear();
  input_.mouse_steps.clear();
  if (timeout_s > 0) {
    glfwWaitEventsTimeout(timeout_s);
  } else {
    glfwPollEvents();
  }
  return !glfwWindowShouldClose(window_);
}

void Window::set_on_top(bool on) {
  glfwSetWindowAttrib(window_, GLFW_FLOATING, on ? GLFW_TRUE : GLFW_FALSE);
}
bool Window::on_top() const {
  return glfwGetWindowAttrib(window_, GLFW_FLOATING) != 0;
}
void Window::set_borderless(bool on) {
  glfwSetWindowAttrib(window_, GLFW_DECORATED, on ? GLFW_FALSE : GLFW_TRUE);
}
bool Window::borderless() const {
  return glfwGetWindowAttrib(window_, GLFW_DECORATED) == 0;
}
void Window::wake() {
  glfwPostEmptyEvent();
}
void Window::close() {
  glfwSetWindowShouldClose(window_, GLFW_TRUE);
}
bool Window::iconified() const {
  return glfwGetWindowAttrib(window_, GLFW_ICONIFIED) != 0;
}
void Window::set_title(const std::string& title) {
  glfwSetWindowTitle(window_, title.c_str());
}

/// Returns the primary monitor's refresh period in nanoseconds, limited to rates of 24 to 500 Hz. Returns
/// 1/60 s if the rate is not known. Queries the window system at most once per second.
int64_t Window::refresh_period_ns() {
  constexpr int64_t kQueryEvery = 1'000'000'000;
  const int64_t time_ns = now_ns();
  if (refresh_period_ns_ == 0 || time_ns - asked_refresh_ns_ >= kQueryEvery) {
    GLFWmonitor* monitor = glfwGetPrimaryMonitor();
    const GLFWvidmode* mode = monitor ? glfwGetVideoMode(monitor) : nullptr;
    refresh_period_ns_ =
        1'000'000'000 / std::clamp(mode && mode->refreshRate > 0 ? mode->refreshRate : 60, 24, 500);
    asked_refresh_ns_ = time_ns;
  }
  return refresh_period_ns_;
}

bool Window::hidden() {
  constexpr int64_t kQueryEvery = 50'000'000;
  const int64_t time_ns = now_ns();
  if (time_ns - asked_hidden_ns_ >= kQueryEvery) {
    hidden_ = iconified() || glfwGetWindowAttrib(window_, GLFW_VISIBLE) == 0;
    asked_hidden_ns_ = time_ns;
  }
  return hidden_;
}

void Window::present(bool at_once) {
  const bool shown = !hidden();
  if (shown) glfwSwapBuffers(window_);
  if (slow_period_ns_ > 0) {
    const int64_t rest_ns = last_present_ns_ + slow_period_ns_ - now_ns();
    if (rest_ns > 0 && rest_ns <= slow_period_ns_)
      std::this_thread::sleep_for(std::chrono::nanoseconds(rest_ns));
  }
  if ((vsync_ && !at_once) || !shown) {
    // If the swap has waited for vsync, no time remains. The factor 0.9 avoids beats with a real vsync.
    const int64_t period_ns = refresh_period_ns() * 9 / 10;
    const int64_t rest_ns = last_present_ns_ + period_ns - now_ns();
    if (rest_ns > 0 && rest_ns <= period_ns) std::this_thread::sleep_for(std::chrono::nanoseconds(rest_ns));
  }
  last_present_ns_ = now_ns();
}

void Window::set_fullscreen(bool on) {
  if (on == fullscreen_) return;
  fullscreen_ = on;
  if (!on) {
    glfwSetWindowMonitor(window_, nullptr, restore_[0], restore_[1], restore_[2], restore_[3],
                         GLFW_DONT_CARE);
    return;
  }
  glfwGetWindowPos(window_, &restore_[0], &restore_[1]);
  restore_[2] = size_.width, restore_[3] = size_.height;
  int count = 0;
  GLFWmonitor** monitors = glfwGetMonitors(&count);
  const int cx = restore_[0] + restore_[2] / 2, cy = restore_[1] + restore_[3] / 2;
  GLFWmonitor* chosen = glfwGetPrimaryMonitor();
  for (int i = 0; i < count; ++i) {
    int x = 0, y = 0;
    glfwGetMonitorPos(monitors[i], &x, &y);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    if (mode && cx >= x && cy >= y && cx < x + mode->width && cy < y + mode->height) chosen = monitors[i];
  }
  const GLFWvidmode* mode = chosen ? glfwGetVideoMode(chosen) : nullptr;
  if (!mode) {
    fullscreen_ = false;
    return;
  }
  glfwSetWindowMonitor(window_, chosen, 0, 0, mode->width, mode->height, mode->refreshRate);
  glfwSwapInterval(vsync_ && !swap_may_block() ? 1 : 0);
}

Extent Window::logical_size() const {
  if (fullscreen_ || iconified()) return {};
  // Undo the factor of GLFW_SCALE_TO_MONITOR, which does not apply if the window system scales.
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  if (framebuffer_.width != size_.width) x = y = 1;
  return {static_cast<int>(std::lround(static_cast<float>(size_.width) / std::max(x, 0.1f))),
          static_cast<int>(std::lround(static_cast<float>(size_.height) / std::max(y, 0.1f)))};
}

float Window::content_scale() const {
  if (const char* text = std::getenv("LENSD_SCALE")) {
    const float scale = std::strtof(text, nullptr);
    if (scale >= 0.5f && scale <= 8.f) return scale;
  }
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  return std::clamp(std::max(x, y), 0.5f, 8.f);
}

bool Window::software_rendering() const {
  for (const char* name : {"llvmpipe", "softpipe", "SwiftShader", "swrast"})
    if (renderer_.find(name) != std::string::npos) return true;
  return false;
}

Image Window::read_pixels() const {
  const Extent extent = framebuffer();
  Image flipped({PixelFormat::rgba8, extent}), image({PixelFormat::rgba8, extent});
  glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
  glReadBuffer(GL_BACK);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, extent.width, extent.height, GL_RGBA, GL_UNSIGNED_BYTE, flipped.pixels.data());
  const ImageRef from = flipped.ref(), to = image.ref();
  for (int y = 0; y < extent.height; ++y)
    std::copy_n(from.row(extent.height - 1 - y), from.row_bytes(), to.row(y));
  for (size_t i = 3; i < image.pixels.size(); i += 4) image.pixels[i] = 255;  // the window is opaque
  return image;
}

}  // namespace lensd::ui
