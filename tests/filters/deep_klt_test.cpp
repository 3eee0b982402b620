// klt on images with 16 bits: what the bits below a grey level give.
#include <gtest/gtest.h>

#include "tests/filters/klt_tracker.hpp"

namespace lensd::test {
namespace {

TEST(DeepKlt, FollowsATextureOfAFewGreyLevels) {
  // The texture has a standard deviation of 0.7 grey levels.
  const Motion motion{.name = "", .x = 2.3, .y = -1.6};
  const auto followed = [&](PixelFormat format) {
    const Exposure faint{.gain = 1. / 64, .bias = 126, .format = format};
    Tracker tracker({format, kScene}, {{"min_eigen", 0.0}});
    tracker.run(textured(kScene, {}, faint));
    return accuracy(tracker.run(textured(kScene, motion, faint)), motion);
  };
  const Accuracy deep = followed(PixelFormat::gray16);
  ASSERT_GT(deep.there, 200u);
  EXPECT_GE(static_cast<double>(deep.errors.size()), 0.99 * static_cast<double>(deep.there));
  EXPECT_LE(quantile(deep.errors, 0.5), 0.02);
  EXPECT_LE(quantile(deep.errors, 0.95), 0.04);
  EXPECT_GT(quantile(followed(PixelFormat::gray8).errors, 0.5), 0.06) << "the test checks nothing";
}

TEST(DeepKlt, WithoutFractionsTracksAreThoseOf8Bits) {
  // Without levels, whose pixels have fractions.
  const Motion motion{.name = "", .x = 1.3, .y = -0.6};
  Tracker narrow(kGrayScene, {{"levels", int64_t{0}}}),
      deep({PixelFormat::gray16, kScene}, {{"levels", int64_t{0}}});
  for (unsigned i = 0; i < 3; ++i) {
    const Image image = textured(kScene, times(motion, i), {.noise = 2, .seed = i + 1});
    Image wide({PixelFormat::gray16, kScene});
    for (int y = 0; y < kScene.height; ++y)
      for (int x = 0; x < kScene.width; ++x) wide.set_sample(x, y, 0, image.at(x, y) * 257);
    const std::vector<Track> expected = narrow.run(image).all(), actual = deep.run(wide).all();
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(actual[k].status, expected[k].status) << "frame " << i << ", slot " << k;
      EXPECT_EQ(actual[k].x, expected[k].x) << "frame " << i << ", slot " << k;
      EXPECT_EQ(actual[k].y, expected[k].y) << "frame " << i << ", slot " << k;
      EXPECT_EQ(actual[k].residual, expected[k].residual) << "frame " << i << ", slot " << k;
    }
  }
}

}  // namespace
}  // namespace lensd::test
