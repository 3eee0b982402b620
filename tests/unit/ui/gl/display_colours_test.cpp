// Pictures with 16 bits and pictures with kept HDR colours, as the available GL draws them. Skipped without a
// display.
#include <GL/glew.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "kernels/colour/deep_light.hpp"
#include "tests/unit/ui/gl/hidden_window.hpp"
#include "ui/gl/presenter.hpp"

namespace lensd::ui {
namespace {

class DisplayColours : public HiddenWindow {
 protected:
  void SetUp() override {
    HiddenWindow::SetUp();
    if (IsSkipped()) return;
    presenter = std::make_unique<Presenter>(make_display_path(DisplayKind::pixel_buffer, nullptr));
  }

  /// Returns a picture of the window's size, filled by `value(x, y, channel)` from 0 to 1.
  template <class Value>
  Frame picture(PixelFormat format, const Value& value) {
    const Extent size = window->framebuffer();
    Frame frame = FramePool::make({.images = {{format, size}}, .capacity = 1, .views = {}})->try_acquire();
    const ImageRef image = frame.image();
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        for (int c = 0; c < image.channels(); ++c) {
          const int i = x * image.channels() + c;
          const long sample = std::lround(value(x, y, c) * max_sample(format));
          if (image.is_deep())
            image.samples<uint16_t>(y)[i] = static_cast<uint16_t>(sample);
          else
            image.row(y)[i] = static_cast<uint8_t>(sample);
        }
    return frame;
  }

  Image drawn(const Frame& frame) {
    presenter->show(frame);
    presenter->draw(window->framebuffer(), everywhere(), {});
    return window->read_pixels();
  }

  /// Draws random colours around a gray, or grays, with the conversion of `colour`. Expects DeepLight's
  /// colours.
  void expect_converted(PixelFormat format, const ColourSpec& colour, const ColourSettings& settings) {
    const auto light = std::make_unique<DeepLight>();
    DeepLight::make(colour, settings, *light);
    presenter->convert_colours(std::as_bytes(std::span(light.get(), 1)));
    std::mt19937 random(7);
    const Frame frame = picture(format, [&](int x, int, int) {
      return std::clamp(x / 96.0 + 0.2 * (static_cast<double>(random() % 1000) / 999 - 0.5), 0.0, 1.0);
    });
    const Image image = drawn(frame);
    const ImageRef coded = frame.image();
    const int channels = coded.channels();
    double worst = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) {
        const auto sample = [&](int c) {
          const int i = x * channels + (channels == 1 ? 0 : c);
          return coded.is_deep() ? static_cast<float>(coded.samples<uint16_t>(y)[i])
                                 : static_cast<float>(coded.row(y)[i]) * 257;
        };
        float v[3] = {sample(0), sample(1), sample(2)};
        light->convert(v[0], v[1], v[2]);
        for (int c = 0; c < 3; ++c)
          worst = std::max(worst, std::abs(static_cast<double>(v[c]) / 257 - image.at(x, y, c)));
      }
    // Rounding to 8 bits is 0.5, the dither of pictures with 16 bits 0.5 more; GL interpolates with 8 bits.
    EXPECT_LT(worst, (coded.is_deep() ? 1.2 : 0.75) + imprecision()) << name(format);
  }

  /// The error of GL's output in levels of the screen: llvmpipe does not round to 10 bits as to 8.
  double imprecision() const { return window->software_rendering() && window->depth().green != 8 ? 0.5 : 0; }

  std::unique_ptr<Presenter> presenter;
};

TEST_F(DisplayColours, KeptColoursAreConverted) {
  const ColourSpec pq{.transfer = Transfer::pq, .primaries = Primaries::bt2020, .peak = 1000, .keep = true};
  const ColourSpec hlg{.transfer = Transfer::hlg, .primaries = Primaries::bt2020, .keep = true};
  const ColourSpec wide{.primaries = Primaries::p3, .keep = true};
  for (const PixelFormat format :
       {PixelFormat::rgba8, PixelFormat::rgba16, PixelFormat::gray8, PixelFormat::gray16}) {
    expect_converted(format, pq, {});
    expect_converted(format, pq, {.peak = 400, .knee = 1.2, .saturation = 1.5});
    expect_converted(format, hlg, {});
    expect_converted(format, wide, {});
  }
}

TEST_F(DisplayColours, WithoutConversionValuesAreShown) {
  const Frame frame =
      picture(PixelFormat::rgba8, [](int x, int y, int c) { return (x * 7 + y * 3 + c) % 256 / 255.0; });
  const auto light = std::make_unique<DeepLight>();
  DeepLight::make({.transfer = Transfer::pq, .peak = 1000}, {}, *light);
  presenter->convert_colours(std::as_bytes(std::span(light.get(), 1)));
  const Image converted = drawn(frame);
  presenter->convert_colours({});
  const Image plain = drawn(frame);
  EXPECT_NE(converted.pixels, plain.pixels);
  for (int y = 0; y < plain.height(); ++y)
    for (int x = 0; x < plain.width(); ++x) ASSERT_EQ(plain.at(x, y, 0), frame.image().row(y)[4 * x]);
}

TEST_F(DisplayColours, ValuesBetweenTwoLevelsOfTheScreenAreDithered) {
  const double levels = std::ldexp(1.0, window->depth().green) - 1;
  const Extent size = window->framebuffer();
  for (const double share : {0.08, 0.4, 0.8}) {
    const double level = std::floor(share * levels) + 0.25;
    drawn(picture(PixelFormat::rgba16, [&](int, int, int) { return level / levels; }));
    std::vector<uint16_t> samples(static_cast<size_t>(size.width) * static_cast<size_t>(size.height));
    glPixelStorei(GL_PACK_ALIGNMENT, 2);
    glReadPixels(0, 0, size.width, size.height, GL_GREEN, GL_UNSIGNED_SHORT, samples.data());
    double sum = 0;
    double lowest = 1e9, highest = 0;
    for (const uint16_t sample : samples) {
      const double shown = sample * levels / 65535;
      ASSERT_NEAR(shown, std::round(shown), 0.01) << "the framebuffer has fewer or more levels";
      ASSERT_LE(std::abs(shown - level), 1.01 + imprecision());
      sum += shown;
      lowest = std::min(lowest, shown), highest = std::max(highest, shown);
    }
    EXPECT_GT(highest - lowest, 0.5) << "not dithered: all samples have the same level";
    EXPECT_NEAR(sum / static_cast<double>(samples.size()), level, 0.02 + imprecision());
  }
}

}  // namespace
}  // namespace lensd::ui
