// Window and presenter with the available GL. Skipped without a display.
#include <gtest/gtest.h>
#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <cstdlib>

#include "core/base/error.hpp"
#if LENSD_CUDA
#include "core/device/cuda_check.hpp"
#endif
#include "tests/unit/ui/gl/hidden_window.hpp"
#include "tests/unit/ui/sample_model.hpp"
#include "ui/gl/imgui_session.hpp"
#include "ui/gl/presenter.hpp"
#include "ui/viewer_ui.hpp"

namespace lensd::ui {
namespace {

class OnDisplay : public HiddenWindow {
 protected:
  /// Returns a frame in which neighbouring pixels differ. Its padding is not 0.
  static Frame pattern(PixelFormat format, Extent extent) {
    Frame frame = FramePool::make({format, extent}, MemoryKind::host, 1)->try_acquire();
    const ImageRef image = frame.image();
    for (int y = 0; y < extent.height; ++y)
      for (int x = 0; x < image.pitch_bytes; ++x)
        image.row(y)[x] = static_cast<uint8_t>(x * 7 + y * 31 + x * y);
    return frame;
  }

  /// Draws the frame over the whole window. Returns the window's pixels.
  Image shown(Presenter& presenter, const Frame& frame) {
    presenter.show(frame);
    presenter.draw(window->framebuffer(), everywhere(), {});
    return window->read_pixels();
  }
};

void expect_same(const Image& shown, const Frame& frame) {
  const ConstImageRef image = frame.image();
  ASSERT_EQ(shown.format.extent, image.format.extent);
  int wrong = 0;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < 3; ++c) {
        const uint8_t* p = image.row(y) + x * image.channels();
        wrong += shown.at(x, y, c) != p[image.channels() == 1 ? 0 : c];
      }
  EXPECT_EQ(wrong, 0);
}

TEST_F(OnDisplay, NamesTheRenderer) {
  EXPECT_FALSE(window->renderer().empty());
  EXPECT_GE(std::atof(window->version().c_str()), 4.3);
  const DisplayChoice choice = choose_display_path(Backend::cpu);
  EXPECT_EQ(choice.kind, DisplayKind::pixel_buffer);
  if (window->software_rendering()) {
    const DisplayChoice cuda = choose_display_path(Backend::cuda);
    EXPECT_EQ(cuda.kind, DisplayKind::pixel_buffer);
    EXPECT_FALSE(cuda.reason.empty());
  }
}

TEST_F(OnDisplay, FullscreenStaysWithoutTheFocus) {
  EXPECT_EQ(glfwGetWindowAttrib(window->handle(), GLFW_AUTO_ICONIFY), 0);
}

TEST_F(OnDisplay, NamesBeyondLatinAreDrawnFromTheSecondFrameOn) {
  ImGuiSession session(*window);
  for (const bool drawn : {false, true}) {
    session.begin();
    EXPECT_EQ(session.look().strong->FindGlyphNoFallback(0x416) != nullptr, drawn);
    text_coloured(colour::text, "Жук.mp4");
    session.end();
  }
}

TEST_F(OnDisplay, PicturesAreExactAtOneToOne) {
  Presenter presenter(make_display_path(DisplayKind::pixel_buffer, nullptr));
  const Extent size = window->framebuffer();
  for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::gray8, PixelFormat::rgba8}) {
    const Frame frame = pattern(format, size);
    for (int i = 0; i < 4; ++i) expect_same(shown(presenter, frame), frame);  // uses all textures
  }
  EXPECT_EQ(presenter.picture(), size);
}

#if LENSD_CUDA
/// Counts calls only: frames written on the default stream before they are shown need no synchronisation.
struct FinishedFrames final : DeviceFrameSync {
  void wait_ready(CudaStream, const Frame&) override { ++waits; }
  void reading_done(CudaStream, const Frame&) override { ++reads; }
  void copy_to_host(const Frame& frame, int image, int x, int y, ImageRef to) override {
    const ImageRef from = frame.image(image);
    LENSD_CUDA_CHECK(cudaMemcpy2D(to.data, static_cast<size_t>(to.pitch_bytes),
                                  from.row(y) + x * from.channels(), static_cast<size_t>(from.pitch_bytes),
                                  to.row_bytes(), static_cast<size_t>(to.height()), cudaMemcpyDeviceToHost));
  }
  int waits = 0, reads = 0;
};

TEST_F(OnDisplay, InteropShowsTheSamePixels) {
  if (probe_cuda().available == false) GTEST_SKIP() << "no CUDA device";
  const DisplayChoice choice = choose_display_path(Backend::cuda);
  if (choice.kind != DisplayKind::cuda_interop) GTEST_SKIP() << choice.reason;
  FinishedFrames sync;
  Presenter presenter(make_display_path(choice.kind, &sync));
  const Extent size = window->framebuffer();
  for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::gray8}) {
    const Frame host = pattern(format, size);
    const Frame device = FramePool::make({format, size}, MemoryKind::device, 1)->try_acquire();
    const ImageRef from = host.image(), to = device.image();
    LENSD_CUDA_CHECK(cudaMemcpy2D(to.data, static_cast<size_t>(to.pitch_bytes), from.data,
                                  static_cast<size_t>(from.pitch_bytes), from.row_bytes(),
                                  static_cast<size_t>(size.height), cudaMemcpyHostToDevice));
    for (int i = 0; i < 5; ++i) expect_same(shown(presenter, device), host);
  }
  EXPECT_EQ(sync.waits, 10);
  EXPECT_EQ(sync.reads, 10);
}
#endif

TEST_F(OnDisplay, ShrunkPicturesKeepTheirMean) {
  // Columns 0 0 0 255 …: a sampler that skips texels shows stripes or one of the values, an average shows 64.
  const Extent size = window->framebuffer(), large{size.width * 8, size.height * 8};
  Frame frame = FramePool::make({PixelFormat::gray8, large}, MemoryKind::host, 1)->try_acquire();
  for (int y = 0; y < large.height; ++y)
    for (int x = 0; x < large.width; ++x) frame.image().row(y)[x] = x % 4 == 3 ? 255 : 0;
  Presenter presenter(make_display_path(DisplayKind::pixel_buffer, nullptr));
  const Image image = shown(presenter, frame);
  for (int y = 2; y < size.height - 2; ++y)
    for (int x = 2; x < size.width - 2; ++x) ASSERT_NEAR(image.at(x, y, 0), 64, 2) << x << "," << y;
}

TEST_F(OnDisplay, SurroundIsNeutralAndThePictureStaysInItsArea) {
  Presenter presenter(make_display_path(DisplayKind::pixel_buffer, nullptr));
  presenter.show(pattern(PixelFormat::rgba8, {16, 16}));
  const Rect area{30, 10, 40, 30};
  presenter.draw(window->framebuffer(), area, {.zoom = 9});
  const Image image = window->read_pixels();
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) {
      if (area.contains(static_cast<float>(x), static_cast<float>(y))) continue;
      ASSERT_EQ(image.at(x, y, 0), 22);
      ASSERT_EQ(image.at(x, y, 1), 22);
      ASSERT_EQ(image.at(x, y, 2), 22);
    }
}

TEST_F(OnDisplay, DrawTimesComeBackLaterAndOnce) {
  Presenter presenter(make_display_path(DisplayKind::pixel_buffer, nullptr));
  const Frame frame = pattern(PixelFormat::rgba8, window->framebuffer());
  int came = 0;
  for (int i = 0; i < 20; ++i) {
    shown(presenter, frame);
    while (presenter.take_draw_ns()) ++came;
  }
  EXPECT_GT(came, 0);
  EXPECT_LE(came, 20);
}

TEST_F(OnDisplay, InteropNeedsAnExecutorThatOrdersFrames) {
  EXPECT_THROW(make_display_path(DisplayKind::cuda_interop, nullptr), Error);
}

TEST_F(OnDisplay, PanelsAreRendered) {
  ImGuiSession session(*window);
  Presenter presenter(make_display_path(DisplayKind::pixel_buffer, nullptr));
  ViewerUi viewer;
  const ViewerModel model = test::sample_model();
  std::vector<Command> commands;
  for (int i = 0; i < 3; ++i) {
    window->poll();
    session.begin();
    viewer.draw(model, window->input(), session.look(), commands);
    presenter.draw(window->framebuffer(), viewer.picture_rect(), viewer.view());
    session.end();
    if (i == 2) {
      const Image image = window->read_pixels();
      EXPECT_EQ(image.at(1, 1, 0), 30) << "the left side's grey";
    }
    window->present();
  }
  EXPECT_TRUE(commands.empty());
}

TEST(Window, WithoutADisplayTheReasonIsNamed) {
  const char* x11 = std::getenv("DISPLAY");
  const char* wayland = std::getenv("WAYLAND_DISPLAY");
  const std::string x11_before = x11 ? x11 : "", wayland_before = wayland ? wayland : "";
  const auto problem_with = [](const char* x11_name, const char* wayland_name) -> std::string {
    setenv("DISPLAY", x11_name, 1);
    setenv("WAYLAND_DISPLAY", wayland_name, 1);
    try {
      Window window({.hidden = true});
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::unavailable);
      return error.problem();
    }
    return "a window opened";
  };
  const std::string missing = problem_with(":987", "no-such-display");
  EXPECT_NE(missing, "");
  EXPECT_NE(missing, "a window opened");
  EXPECT_EQ(problem_with("", ""), "neither DISPLAY nor WAYLAND_DISPLAY is set");
  x11 ? setenv("DISPLAY", x11_before.c_str(), 1) : unsetenv("DISPLAY");
  wayland ? setenv("WAYLAND_DISPLAY", wayland_before.c_str(), 1) : unsetenv("WAYLAND_DISPLAY");
}

}  // namespace
}  // namespace lensd::ui
