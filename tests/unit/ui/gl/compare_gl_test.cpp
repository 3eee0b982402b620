// Pixel-exact comparison of two pictures and transparency with the available GL. Skipped without a display.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>

#include "tests/unit/ui/gl/hidden_window.hpp"
#include "ui/gl/presenter.hpp"

namespace lensd::ui {
namespace {

using Colour = std::array<int, 3>;

Colour grey(int v) {
  return {v, v, v};
}

class ComparePictures : public HiddenWindow {
 protected:
  void SetUp() override {
    HiddenWindow::SetUp();
    if (IsSkipped()) return;
    presenter = std::make_unique<Presenter>(make_display_path(DisplayKind::pixel_buffer, nullptr),
                                            make_display_path(DisplayKind::pixel_buffer, nullptr));
  }

  /// Image 0 is B and image 1 is A; neighbouring pixels differ.
  static Frame two_pictures(ImageFormat b, ImageFormat a) {
    Frame frame = FramePool::make({.images = {b, a}, .capacity = 1, .views = {{"source", 1}}})->try_acquire();
    for (int i = 0; i < 2; ++i) {
      const ImageRef image = frame.image(i);
      for (int y = 0; y < image.height(); ++y)
        for (size_t x = 0; x < image.row_bytes(); ++x) {
          const int n = static_cast<int>(x);
          image.row(y)[x] = static_cast<uint8_t>(i == 0 ? n * 7 + y * 31 + n * y : 90 + n * 3 + y * 17);
        }
    }
    return frame;
  }
  static Frame two_pictures(Extent size) {
    return two_pictures({PixelFormat::rgba8, size}, {PixelFormat::rgba8, size});
  }

  Image drawn(const Frame& frame, const CompareLook& look, int second = 1) {
    presenter->show(frame);
    presenter->show_second(frame, second);
    presenter->draw(window->framebuffer(), everywhere(), {}, look);
    return window->read_pixels();
  }

  static Colour pixel(const Frame& frame, int image, int x, int y) {
    const ImageRef from = frame.image(image);
    const uint8_t* p = from.row(y) + x * from.channels();
    return from.channels() == 1 ? Colour{p[0], p[0], p[0]} : Colour{p[0], p[1], p[2]};
  }

  /// Expects that every pixel of the window equals `wanted(x, y)` within `slack`.
  template <class F>
  static void expect_everywhere(const Image& shown, int slack, F wanted) {
    int wrong = 0;
    for (int y = 0; y < shown.height(); ++y)
      for (int x = 0; x < shown.width(); ++x) {
        const Colour want = wanted(x, y);
        for (int c = 0; c < 3; ++c)
          wrong += std::abs(shown.at(x, y, c) - want[static_cast<size_t>(c)]) > slack;
      }
    EXPECT_EQ(wrong, 0);
  }

  std::unique_ptr<Presenter> presenter;
};

TEST_F(ComparePictures, SplitShowsALeftOfTheHandleAndBRightOfIt) {
  const Extent size = window->framebuffer();
  for (const auto& [b, a] :
       {std::pair(PixelFormat::rgba8, PixelFormat::rgba8), std::pair(PixelFormat::gray8, PixelFormat::rgba8),
        std::pair(PixelFormat::rgba8, PixelFormat::gray8)}) {
    const Frame frame = two_pictures({b, size}, {a, size});
    for (const int split : {0, 1, 40, size.width}) {
      const Image image = drawn(frame, {.mode = CompareMode::split, .split_x = static_cast<float>(split)});
      expect_everywhere(image, 0, [&](int x, int y) { return pixel(frame, x < split, x, y); });
    }
  }
}

TEST_F(ComparePictures, BypassShowsAAlone) {
  const Frame frame = two_pictures(window->framebuffer());
  expect_everywhere(drawn(frame, {.second_only = true}), 0,
                    [&](int x, int y) { return pixel(frame, 1, x, y); });
}

TEST_F(ComparePictures, WithoutASecondPictureTheFirstIsShown) {
  const Frame frame = two_pictures(window->framebuffer());
  for (const CompareMode mode : {CompareMode::split, CompareMode::difference, CompareMode::side})
    expect_everywhere(drawn(frame, {.mode = mode, .split_x = 40}, -1), 0,
                      [&](int x, int y) { return pixel(frame, 0, x, y); });
}

TEST_F(ComparePictures, ChannelsAreShownAsGrey) {
  const Frame frame = two_pictures(window->framebuffer());
  for (const ChannelView channel : {ChannelView::red, ChannelView::green, ChannelView::blue})
    expect_everywhere(drawn(frame, {.channel = channel}), 0, [&](int x, int y) {
      return grey(pixel(frame, 0, x, y)[static_cast<size_t>(channel) - 1]);
    });
  expect_everywhere(drawn(frame, {.channel = ChannelView::alpha}), 0,
                    [&](int x, int y) { return grey(frame.image().row(y)[x * 4 + 3]); });
  expect_everywhere(drawn(frame, {.channel = ChannelView::luma}), 1, [&](int x, int y) {
    const Colour c = pixel(frame, 0, x, y);
    return grey(static_cast<int>(std::lround(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2])));
  });
  // In a comparison, the channel applies to both pictures.
  expect_everywhere(drawn(frame, {.mode = CompareMode::split, .channel = ChannelView::green, .split_x = 30}),
                    0, [&](int x, int y) { return grey(pixel(frame, x < 30, x, y)[1]); });
}

TEST_F(ComparePictures, DifferenceIsBlackWhereTheyAreEqualAndLighterTheFartherTheyAreApart) {
  // B is A plus x in the red channel, so the difference equals the column.
  const Extent size = window->framebuffer();
  const Frame frame = two_pictures(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int c = 0; c < 4; ++c) {
        const int a = 100 + y % 7;
        frame.image(1).row(y)[x * 4 + c] = static_cast<uint8_t>(a);
        frame.image(0).row(y)[x * 4 + c] =
            static_cast<uint8_t>(c < 1 ? a + x : a);  // the largest channel difference is drawn
      }
  const Image image = drawn(frame, {.mode = CompareMode::difference, .gain = 2});
  const auto lightness = [&](int x, int y) {
    return 0.2126 * image.at(x, y, 0) + 0.7152 * image.at(x, y, 1) + 0.0722 * image.at(x, y, 2);
  };
  for (int y = 0; y < size.height; ++y) {
    EXPECT_LT(lightness(0, y), 8);
    for (int x = 1; x < size.width; ++x) EXPECT_GE(lightness(x, y) + 0.8, lightness(x - 1, y)) << x;
  }
  EXPECT_GT(lightness(size.width - 1, 5), 90) << "96 apart, twice: three quarters of the ramp";
  const Image strong = drawn(frame, {.mode = CompareMode::difference, .gain = 32});
  EXPECT_GT(strong.at(size.width - 1, 5, 2), 200) << "beyond the ramp: its last colour";
  const Image other =
      drawn(frame, {.mode = CompareMode::difference, .channel = ChannelView::green, .gain = 32});
  expect_everywhere(other, 0, [&](int, int) { return Colour{5, 5, 5}; });
}

TEST_F(ComparePictures, SideBySideHasAOnTheLeftAndBOnTheRightInTheirHalves) {
  const Extent size = window->framebuffer();
  const auto [left, right] = halves(everywhere());
  const Extent half{static_cast<int>(left.w), size.height};  // the picture fills its half without scaling
  const Frame frame = two_pictures(half);
  const int from = static_cast<int>(right.x);
  ASSERT_GT(from, half.width);
  expect_everywhere(drawn(frame, {.mode = CompareMode::side}), 0, [&](int x, int y) {
    if (x < half.width) return pixel(frame, 1, x, y);
    return x < from ? Colour{22, 22, 22} : pixel(frame, 0, x - from, y);
  });
}

/// Draws an orange square of 20×20 pixels, whose pixels have `alpha`, at the picture's middle; the others are
/// green and invisible.
Frame transparent_picture(Extent size, int alpha) {
  Frame frame = FramePool::make({.images = {{PixelFormat::rgba8, size}}, .capacity = 1})->try_acquire();
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const bool inside = std::abs(x - size.width / 2) <= 10 && std::abs(y - size.height / 2) <= 10;
      const Colour c = inside ? Colour{240, 120, 0} : Colour{0, 255, 0};
      uint8_t* const p = frame.image().row(y) + x * 4;
      for (size_t i = 0; i < 3; ++i) p[i] = static_cast<uint8_t>(c[i]);
      p[3] = static_cast<uint8_t>(inside ? alpha : 0);
    }
  return frame;
}

/// The checkerboard: 102 and 133, in squares of 8 pixels from the lower left corner.
int board(Extent window, int x, int y) {
  return (x / 8 + (window.height - 1 - y) / 8) % 2 == 0 ? 102 : 133;
}

TEST_F(ComparePictures, TransparentPixelsShowACheckerboard) {
  const Extent size = window->framebuffer();
  presenter->show_transparency(true);
  for (const int alpha : {255, 128, 0}) {
    const Frame frame = transparent_picture(size, alpha);
    expect_everywhere(drawn(frame, {}, -1), 1, [&](int x, int y) {
      const double under = board(size, x, y);
      if (pixel(frame, 0, x, y)[0] != 240) return grey(static_cast<int>(under));
      const auto mixed = [&](int v) {
        return static_cast<int>(std::lround(under + (v - under) * alpha / 255));
      };
      return Colour{mixed(240), mixed(120), mixed(0)};
    });
  }
}

TEST_F(ComparePictures, InvisiblePixelsDoNotColourTheirNeighbours) {
  // Larger and smaller than on screen, where samples are averaged: no green appears, and no orange beyond the
  // picture's own.
  const Extent window_size = window->framebuffer();
  presenter->show_transparency(true);
  for (const double scale : {0.3, 0.7, 1.5, 2.0, 7.3}) {
    const Extent size{static_cast<int>(window_size.width * scale),
                      static_cast<int>(window_size.height * scale)};
    const Image shown = drawn(transparent_picture(size, 255), {}, -1);
    int orange = 0;
    for (int y = 0; y < shown.height(); ++y)
      for (int x = 0; x < shown.width(); ++x) {
        EXPECT_LE(shown.at(x, y, 1), 134) << scale << ' ' << x << ' ' << y;
        orange += shown.at(x, y, 0) > 200 && shown.at(x, y, 2) < 30;
      }
    EXPECT_GT(orange, 0) << scale;
  }
}

TEST_F(ComparePictures, ComparisonsOfTransparentPictures) {
  const Extent size = window->framebuffer();
  presenter->show_transparency(true);
  Frame frame = two_pictures(size);
  for (int i = 0; i < 2; ++i)
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) frame.image(i).row(y)[x * 4 + 3] = x % 3 == 0 ? 0 : 255;
  const auto blended = [&](int image, int x, int y) {
    const int under = board(size, x, y);
    return x % 3 == 0 ? grey(under) : pixel(frame, image, x, y);
  };
  expect_everywhere(drawn(frame, {.mode = CompareMode::split, .split_x = 40}), 0,
                    [&](int x, int y) { return blended(x < 40, x, y); });
  expect_everywhere(drawn(frame, {.second_only = true}), 0, [&](int x, int y) { return blended(1, x, y); });
  // Channels and differences show all values.
  expect_everywhere(drawn(frame, {.channel = ChannelView::red}), 0,
                    [&](int x, int y) { return grey(pixel(frame, 0, x, y)[0]); });
  const Image transparent = drawn(frame, {.mode = CompareMode::difference});
  presenter->show_transparency(false);
  const Image opaque = drawn(frame, {.mode = CompareMode::difference});
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int c = 0; c < 3; ++c) ASSERT_EQ(transparent.at(x, y, c), opaque.at(x, y, c));
  expect_everywhere(drawn(frame, {}), 0, [&](int x, int y) { return pixel(frame, 0, x, y); });
}

}  // namespace
}  // namespace lensd::ui
