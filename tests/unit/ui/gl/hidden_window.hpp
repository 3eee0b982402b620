// A hidden window for tests that read its pixels. The tests are skipped without a display.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "core/base/error.hpp"
#include "ui/gl/window.hpp"
#include "ui/widgets/rect.hpp"

namespace lensd::ui {

class HiddenWindow : public ::testing::Test {
 protected:
  /// Opens the window. Derived fixtures check IsSkipped() after calling it.
  void SetUp() override {
    if (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY")) GTEST_SKIP() << "no display";
    WindowOptions options;
    options.width = 97, options.height = 61, options.hidden = true, options.vsync = false;
    // An X server resets when its last client disconnects and refuses connections meanwhile.
    for (int attempt = 0; !window; ++attempt) try {
        window = std::make_unique<Window>(options);
      } catch (const Error&) {
        if (attempt == 20) throw;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
  }

  /// The whole framebuffer as a rectangle.
  Rect everywhere() const {
    const Extent size = window->framebuffer();
    return {0, 0, static_cast<float>(size.width), static_cast<float>(size.height)};
  }

  std::unique_ptr<Window> window;
};

}  // namespace lensd::ui
