// Points and trails of tracks, as the available GL draws them. Skipped without a display.
#include "ui/gl/track_overlay.hpp"

#include <GL/glew.h>

#include <array>
#include <memory>
#include <vector>

#include "tests/unit/ui/gl/hidden_window.hpp"

namespace lensd::ui {
namespace {

using Rgb = std::array<double, 3>;

/// The ramp of the colours, from its first to its last one, in levels of the screen.
Rgb ramp_colour(double share) {
  constexpr double kStops[4][3] = {
      {0.29, 0.35, 0.86}, {0.13, 0.68, 0.78}, {0.46, 0.84, 0.36}, {0.99, 0.86, 0.22}};
  const double at = share * 3;
  const int i = at < 2 ? static_cast<int>(at) : 2;
  Rgb colour{};
  for (size_t c = 0; c < 3; ++c)
    colour[c] = 255 * (kStops[i][c] + (at - i) * (kStops[i + 1][c] - kStops[i][c]));
  return colour;
}

class TrackOverlayTest : public HiddenWindow {
 protected:
  void SetUp() override {
    HiddenWindow::SetUp();
    if (IsSkipped()) return;
    overlay = std::make_unique<TrackOverlay>();
    size = window->framebuffer();
    look.trails = false;
  }

  void push(int64_t frame, const std::vector<Track>& tracks, uint32_t serial = 1) {
    std::vector<int64_t> memory(track_table_bytes(static_cast<int>(tracks.size())) / sizeof(int64_t) + 1);
    auto& table = *new (memory.data()) TrackTable;
    table.frame = frame, table.capacity = static_cast<uint32_t>(tracks.size()), table.picture = size;
    std::copy(tracks.begin(), tracks.end(), table.tracks());
    overlay->push(table, serial);
  }

  Image drawn() { return drawn(everywhere(), everywhere()); }
  Image drawn(const Rect& area, const Rect& picture) {
    glDisable(GL_SCISSOR_TEST);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    overlay->draw(size, area, picture, look, 1);
    return window->read_pixels();
  }

  static double brightness(const Image& image, int x, int y) {
    return image.at(x, y, 0) + image.at(x, y, 1) + image.at(x, y, 2);
  }
  static void expect_colour(const Image& image, int x, int y, double share) {
    const Rgb expected = ramp_colour(share);
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(image.at(x, y, c), expected[static_cast<size_t>(c)], 4) << "channel " << c << ", " << share;
  }
  /// Returns the centre of all drawn pixels, weighted by brightness.
  static std::pair<double, double> centre(const Image& image) {
    double sum = 0, x_sum = 0, y_sum = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) {
        const double b = brightness(image, x, y);
        sum += b, x_sum += b * x, y_sum += b * y;
      }
    return {x_sum / sum, y_sum / sum};
  }

  static Track track(float x, float y, uint32_t age = 75) {
    return {.id = 1,
            .status = TrackStatus::tracked,
            .x = x,
            .y = y,
            .previous_x = x,
            .previous_y = y,
            .age = age};
  }

  std::unique_ptr<TrackOverlay> overlay;
  TracksState look;
  Extent size;
};

TEST_F(TrackOverlayTest, APointIsDrawnAroundItsPixel) {
  push(0, {track(20, 30)});
  const auto [x, y] = centre(drawn());
  EXPECT_NEAR(x, 20, 0.05);
  EXPECT_NEAR(y, 30, 0.05);
}

TEST_F(TrackOverlayTest, PointsFollowTheShownPicture) {
  push(0, {track(20, 30)});
  const Rect picture{8, 4, static_cast<float>(size.width) / 2, static_cast<float>(size.height) / 2};
  const auto [x, y] = centre(drawn(everywhere(), picture));
  EXPECT_NEAR(x, 8 + (20 + 0.5) / 2 - 0.5, 0.1);
  EXPECT_NEAR(y, 4 + (30 + 0.5) / 2 - 0.5, 0.1);
}

TEST_F(TrackOverlayTest, NothingIsDrawnOutsideTheArea) {
  push(0, {track(20, 30), track(60, 30)});
  const Image image = drawn({40, 10, 50, 40}, everywhere());
  EXPECT_EQ(brightness(image, 20, 30), 0);
  EXPECT_GT(brightness(image, 60, 30), 100);
}

TEST_F(TrackOverlayTest, TheColourShowsTheChosenMetric) {
  Track t = track(20, 30, 50);
  t.residual = 12, t.previous_x = 15;
  push(0, {t});
  look.colour = TrackColour::age;
  expect_colour(drawn(), 20, 30, 50 / 150.);
  look.colour = TrackColour::residual;
  expect_colour(drawn(), 20, 30, 1);
  look.colour = TrackColour::motion;
  expect_colour(drawn(), 20, 30, 0.5);
}

TEST_F(TrackOverlayTest, OnlyAliveTracksAreDrawn) {
  std::vector<Track> tracks;
  for (int status = 0; status < kTrackStatuses; ++status) {
    tracks.push_back(track(5 + 9 * static_cast<float>(status), 30));
    tracks.back().status = static_cast<TrackStatus>(status);
  }
  push(0, tracks);
  look.trails = true;
  const Image image = drawn();
  for (int status = 0; status < kTrackStatuses; ++status)
    EXPECT_EQ(brightness(image, 5 + 9 * status, 30) > 0, is_alive(static_cast<TrackStatus>(status)))
        << status;

  look.overlay = false;
  EXPECT_EQ(brightness(drawn(), 14, 30), 0);
  look.overlay = true;
  overlay->clear();
  EXPECT_EQ(brightness(drawn(), 14, 30), 0);
}

TEST_F(TrackOverlayTest, ATrailFadesTowardsItsOldEnd) {
  for (int i = 0; i < 8; ++i) push(i, {track(10 + 10 * static_cast<float>(i), 30, static_cast<uint32_t>(i))});
  EXPECT_EQ(brightness(drawn(), 55, 30), 0) << "trails are off";
  look.trails = true;
  const Image image = drawn();
  EXPECT_GT(brightness(image, 65, 30), brightness(image, 35, 30) + 50);
  EXPECT_GT(brightness(image, 35, 30), brightness(image, 15, 30) + 50);
  EXPECT_GT(brightness(image, 15, 30), 0);
  EXPECT_EQ(brightness(image, 35, 33), 0) << "a trail is about two pixels wide";
}

TEST_F(TrackOverlayTest, ATrailStartsAtItsTracksFirstFrame) {
  push(0, {track(10, 10)}), push(1, {track(15, 10)});  // another track in the same entry
  push(2, {track(50, 30, 0)}), push(3, {track(60, 30, 1)}), push(4, {track(70, 30, 2)});
  look.trails = true;
  const Image image = drawn();
  EXPECT_GT(brightness(image, 60, 30), 0);
  for (int x = 0; x < 45; ++x)
    for (int y = 0; y < size.height; ++y) ASSERT_EQ(brightness(image, x, y), 0) << x << ", " << y;
}

TEST_F(TrackOverlayTest, TrailsRestartAfterASeek) {
  look.trails = true;
  const auto trail = [&] { return brightness(drawn(), 25, 30) > 0; };
  push(4, {track(20, 30)}), push(5, {track(40, 30)});
  EXPECT_TRUE(trail());
  push(6, {track(40, 30)}, 2);
  EXPECT_FALSE(trail()) << "another serial";
  push(7, {track(20, 30)}, 2), push(8, {track(40, 30)}, 2);
  EXPECT_TRUE(trail());
  push(3, {track(40, 30)}, 2);
  EXPECT_FALSE(trail()) << "an earlier frame";
}

TEST_F(TrackOverlayTest, AFrameThatWasRerunReplacesItsTracks) {
  look.trails = true;
  push(0, {track(40, 50)}), push(1, {track(40, 10)});
  push(1, {track(40, 40)});
  const Image image = drawn();
  EXPECT_EQ(brightness(image, 40, 20), 0) << "the replaced position";
  EXPECT_GT(brightness(image, 40, 45), 0) << "the trail from the frame before";
}

}  // namespace
}  // namespace lensd::ui
