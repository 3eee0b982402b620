// The dither for screens of any depth, and the depth of the available display.
#include "ui/gl/screen_depth.hpp"

#include <GL/glew.h>

#include "tests/unit/ui/gl/hidden_window.hpp"

namespace lensd::ui {
namespace {

TEST(ScreenDepth, PicturesAreDitheredWhereTheyHaveMoreBitsThanTheScreen) {
  using Steps = std::array<float, 3>;
  EXPECT_EQ(dither_steps({8, 8, 8}, 16), (Steps{1 / 255.f, 1 / 255.f, 1 / 255.f}));
  EXPECT_EQ(dither_steps({10, 10, 10}, 16), (Steps{1 / 1023.f, 1 / 1023.f, 1 / 1023.f}));
  EXPECT_EQ(dither_steps({6, 6, 6}, 8), (Steps{1 / 63.f, 1 / 63.f, 1 / 63.f}));
  EXPECT_EQ(dither_steps({5, 6, 5}, 16), (Steps{1 / 31.f, 1 / 63.f, 1 / 31.f}));
  EXPECT_EQ(dither_steps({8, 8, 8}, 8), (Steps{}));
  EXPECT_EQ(dither_steps({10, 10, 10}, 8), (Steps{}));
  EXPECT_EQ(dither_steps({16, 16, 16}, 16), (Steps{}));
}

TEST(ScreenDepth, MoreThan8BitsAreRequestedOnDesktopsThatHaveThem) {
  EXPECT_EQ(requested_bits(5), 8);
  EXPECT_EQ(requested_bits(8), 8);
  EXPECT_EQ(requested_bits(10), 10);
}

TEST(ScreenDepth, IsDescribedByChannelIfTheyDiffer) {
  EXPECT_EQ(describe(ScreenDepth{10, 10, 10}), "10 bits");
  EXPECT_EQ(describe(ScreenDepth{5, 6, 5}), "5, 6 and 5 bits");
}

using OnScreen = HiddenWindow;

TEST_F(OnScreen, TheWindowHasTheDepthOfTheDisplay) {
  const ScreenDepth depth = window->depth();
  EXPECT_GE(depth.red, 4);
  EXPECT_LE(depth.red, 16);
  EXPECT_EQ(depth, screen_depth());
  EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
}

}  // namespace
}  // namespace lensd::ui
