// draw_tracks: the look of points, trails, lost tracks and cuts, on the CPU and, with a device, on CUDA.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/draw_tracks/draw_tracks_math.hpp"
#include "kernels/registry.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/track_tables.hpp"

namespace lensd::test {
namespace {

constexpr Extent kSize{120, 80};

Image flat(ImageFormat format, uint8_t value) {
  Image image(format);
  std::fill(image.pixels.begin(), image.pixels.end(), value);
  return image;
}

/// A filter with its rigs; compares the pictures of both backends for every frame.
class Drawing {
 public:
  Drawing(const std::vector<std::pair<std::string, ParamValue>>& params,
          PixelFormat format = PixelFormat::rgba8, Extent extent = kSize)
      : filter_(registry().find("draw_tracks")->make()), in_(flat({format, extent}, 90)) {
    for (const auto& [name, value] : params) EXPECT_EQ(filter_->set(name, value), std::nullopt);
    const ImageFormat formats[] = {in_.format};
    cpu_ = make_cpu_rig(*filter_, {.images = formats}, kAligned, 2);
    if (cuda_unavailable().empty()) {
      cuda_filter_ = registry().find("draw_tracks")->make();
      for (const auto& [name, value] : params) cuda_filter_->set(name, value);
      cuda_ = make_cuda_rig(*cuda_filter_, {.images = formats, .backend = Backend::cuda}, kAligned);
    }
  }

  const Image& in() const { return in_; }
  Image frame(const TableBytes& tracks, bool again = false, bool cut = false) {
    const RunExtras extras{.tracks = tracks.bytes, .again = again, .cut = cut};
    const RunOutput output = cpu_->run({in_}, extras);
    EXPECT_TRUE(output.guards_untouched);
    if (cuda_) {
      EXPECT_EQ(difference(output.image, cuda_->run({in_}, extras).image), "");
    }
    return output.image;
  }

 private:
  std::unique_ptr<Filter> filter_, cuda_filter_;
  Image in_;
  std::unique_ptr<Rig> cpu_, cuda_;
};

/// Returns a table with one track, which is at (x, y) and was at (from_x, from_y).
TableBytes one(float x, float y, TrackStatus status, float from_x, float from_y, uint32_t id = 7,
               uint32_t place = 2, Extent picture = kSize) {
  TableBytes table(5);
  table.table()->picture = picture;
  table.table()->tracks()[place] = {
      .id = id, .status = status, .x = x, .y = y, .previous_x = from_x, .previous_y = from_y};
  return table;
}
TableBytes found(float x, float y, uint32_t id = 7) {
  return one(x, y, TrackStatus::fresh, x, y, id);
}

/// Returns the change of a pixel, summed over colours.
int change(const Image& before, const Image& after, int x, int y) {
  int sum = 0;
  for (int c = 0; c < std::min(3, before.channels()); ++c)
    sum += std::abs(before.at(x, y, c) - after.at(x, y, c));
  return sum;
}

TEST(DrawTracks, NothingToDrawLeavesThePicture) {
  Drawing both({});
  EXPECT_EQ(difference(both.in(), both.frame(TableBytes(5))), "");
  EXPECT_EQ(difference(both.in(), both.frame(TableBytes(0))), "");
  Drawing invisible({{"opacity", 0.0}});
  EXPECT_EQ(difference(invisible.in(), invisible.frame(found(40, 30))), "");
  Drawing trails({{"style", std::string("trails")}});
  EXPECT_EQ(difference(trails.in(), trails.frame(found(40, 30))), "") << "a new track has no trail";
}

TEST(DrawTracks, PointIsADiscWithADarkRim) {
  for (const PixelFormat format : {PixelFormat::rgba8, PixelFormat::gray8}) {
    Drawing drawing({{"colour", std::string("fixed")}, {"size", 4.0}, {"opacity", 1.0}}, format);
    const Image out = drawing.frame(found(40, 30));
    const uint8_t fill = format == PixelFormat::gray8 ? 255 : 0xff;  // red of the fixed colour
    EXPECT_EQ(out.at(40, 30), fill);
    EXPECT_EQ(out.at(43, 30), fill);
    EXPECT_LT(out.at(45, 30), 60) << "the rim is dark";
    EXPECT_LT(out.at(40, 25), 60);
    for (int y = 0; y < kSize.height; ++y)
      for (int x = 0; x < kSize.width; ++x) {
        ASSERT_EQ(out.at(x, y, out.channels() - 1), out.channels() == 4 ? 90 : out.at(x, y)) << "alpha";
        const int dx = x - 40, dy = y - 30;
        const bool far = dx * dx + dy * dy >= 6 * 6;
        ASSERT_TRUE(!far || change(drawing.in(), out, x, y) == 0) << x << ' ' << y;
        ASSERT_EQ(out.at(x, y), out.at(80 - x > 0 && 80 - x < kSize.width ? 80 - x : x, y)) << "symmetry";
      }
  }
}

TEST(DrawTracks, TrailFadesAndEnds) {
  Drawing drawing(
      {{"style", std::string("trails")}, {"trail", int64_t{8}}, {"colour", std::string("fixed")}});
  Image out = drawing.frame(found(4, 40));
  for (int i = 1; i <= 20; ++i)
    out = drawing.frame(one(4.f + 5.f * static_cast<float>(i), 40, TrackStatus::tracked,
                            4.f + 5.f * static_cast<float>(i - 1), 40));
  // The track is at x = 104; eight frames ago it was at x = 64.
  int last = 1000;
  for (int x = 100; x >= 68; x -= 5) {
    const int now = change(drawing.in(), out, x, 40);
    EXPECT_LT(now, last) << x;
    EXPECT_GT(now, 0) << x;
    last = now;
  }
  for (int x = 0; x < 60; ++x) EXPECT_EQ(change(drawing.in(), out, x, 40), 0) << x;
  EXPECT_EQ(change(drawing.in(), out, 84, 46), 0);
}

TEST(DrawTracks, TrailOfALostTrackFadesAway) {
  Drawing drawing({{"trail", int64_t{5}}});
  drawing.frame(found(20, 20));
  drawing.frame(one(40, 20, TrackStatus::tracked, 20, 20));
  Image out = drawing.frame(one(40, 20, TrackStatus::lost_texture, 40, 20));
  EXPECT_GT(change(drawing.in(), out, 30, 20), 0);
  EXPECT_EQ(change(drawing.in(), out, 43, 20), 0) << "the point of a lost track is gone";
  for (int i = 0; i < 4; ++i) out = drawing.frame(TableBytes(5));
  EXPECT_EQ(difference(drawing.in(), out), "");
}

TEST(DrawTracks, ANewTenantHasATrailOfItsOwn) {
  Drawing drawing({});
  drawing.frame(found(20, 20, 1));
  drawing.frame(one(40, 20, TrackStatus::tracked, 20, 20, 1));
  const Image out = drawing.frame(found(100, 60, 2));
  EXPECT_EQ(change(drawing.in(), out, 30, 20), 0);
  EXPECT_EQ(change(drawing.in(), out, 70, 40), 0) << "no line between two tracks of one slot";
  EXPECT_GT(change(drawing.in(), out, 100, 60), 0);
}

TEST(DrawTracks, ATrackThatIsAlreadyThereShowsItsLastStep) {
  Drawing drawing({});
  const Image out = drawing.frame(one(60, 20, TrackStatus::tracked, 30, 20));
  EXPECT_GT(change(drawing.in(), out, 45, 20), 0);
}

TEST(DrawTracks, CutAndRepeat) {
  Drawing drawing({});
  drawing.frame(found(20, 20));
  const TableBytes moved = one(40, 20, TrackStatus::tracked, 20, 20);
  const Image out = drawing.frame(moved);
  EXPECT_EQ(difference(out, drawing.frame(moved, true)), "") << "a frame that is run again";
  const Image cut = drawing.frame(found(90, 60, 8), false, true);
  EXPECT_EQ(change(drawing.in(), cut, 30, 20), 0);
}

TEST(DrawTracks, OrderOfTracksDoesNotMatter) {
  TrackScript script({200, 150}, 400, 11);
  Drawing straight({}, PixelFormat::rgba8, {200, 150}), shuffled({}, PixelFormat::rgba8, {200, 150});
  std::vector<uint32_t> order(400);
  for (uint32_t i = 0; i < 400; ++i) order[i] = i;
  std::mt19937 random(3);
  std::shuffle(order.begin(), order.end(), random);
  for (int i = 0; i < 6; ++i) {
    const TableBytes& table = script.next();
    TableBytes other = table;
    for (uint32_t place = 0; place < 400; ++place)
      other.table()->tracks()[order[place]] = table.table()->tracks()[place];
    ASSERT_EQ(difference(straight.frame(table), shuffled.frame(other)), "") << i;
  }
}

TEST(DrawTracks, TracksFromBeforeAResizeAreScaled) {
  Drawing drawing({});
  const Image out = drawing.frame(one(20, 10, TrackStatus::fresh, 20, 10, 7, 2, {60, 40}));
  EXPECT_GT(change(drawing.in(), out, 41, 21), 150);
  EXPECT_EQ(change(drawing.in(), out, 20, 10), 0);
}

TEST(DrawTracks, LongestTrailsOfTheLargestTable) {
  TrackScript script(kSize, kMaxTracks, 4, 0.995);
  Drawing drawing({{"trail", int64_t{120}}, {"size", 0.5}});
  for (int i = 0; i < 3; ++i) drawing.frame(script.next());
}

/// Invalid positions must not cause invalid memory accesses.
TEST(DrawTracks, PositionsOutsideAndNotANumber) {
  Drawing drawing({});
  for (const float x : {-1e30f, -5.f, 500.f, 1e30f, std::numeric_limits<float>::quiet_NaN(),
                        std::numeric_limits<float>::infinity()})
    drawing.frame(one(x, x, TrackStatus::tracked, 3, 3));
}

TEST(DrawTracksMath, TheRampBeginsBlueAndEndsRed) {
  DrawTracksParams params;
  DrawTracksBlock block = DrawTracksBlock::make(params);
  EXPECT_EQ(block.ramp[0], 0x80ff866du);
  EXPECT_EQ(block.ramp[255], 0xff515af4u);
  EXPECT_FLOAT_EQ(block.point_radius, 3);
  EXPECT_FLOAT_EQ(block.trail_radius, 1.2f);
  params.colour = DrawColour::fixed, params.size = 1, params.opacity = 0.5;
  block = DrawTracksBlock::make(params);
  for (const uint32_t colour : block.ramp) EXPECT_EQ(colour, 0xff00c4ffu);
  EXPECT_FLOAT_EQ(block.trail_radius, 0.6f);
  EXPECT_EQ(block.opacity, 128);
  EXPECT_EQ(block.rim, 90);
}

TEST(DrawTracksMath, CoverageFallsOffAtTheEdge) {
  const auto key = [](uint32_t fill, uint32_t rim, uint32_t ramp) { return fill << 16 | rim << 8 | ramp; };
  const DrawMark disc = make_mark(10, 10, 0, 0, 3, 255, 7);
  EXPECT_EQ(mark_key(disc, 10, 10), key(255, 255, 7));
  EXPECT_EQ(mark_key(disc, 13, 10), key(138, 255, 7));
  EXPECT_EQ(mark_key(disc, 10, 6), key(0, 135, 7));
  EXPECT_EQ(mark_key(disc, 14.5f, 10), 0u);
  const DrawMark line = make_mark(10, 10, 20, 0, 1, 100, 3);
  EXPECT_EQ(mark_key(line, 20, 10), key(100, 100, 3));
  EXPECT_EQ(mark_key(line, 20, 12), key(0, 56, 3));
  EXPECT_EQ(mark_key(line, 5, 10), 0u) << "before its start";
  EXPECT_EQ(mark_key(line, 35, 10), 0u) << "after its end";
}

TEST(DrawTracksMath, SpansStayInThePicture) {
  const auto span = [](float a, float b, float reach, int size) {
    const DrawSpan found = span_around(a, b, reach, size);
    return std::pair(found.first, found.last);
  };
  EXPECT_EQ(span(10.25f, 20.75f, 1.5f, 100), std::pair(9, 22));
  EXPECT_EQ(span(20.75f, 10.25f, 1.5f, 100), std::pair(9, 22));
  EXPECT_EQ(span(0.5f, 0.5f, 1, 100), std::pair(0, 1));
  EXPECT_EQ(span(98, 99, 3, 100), std::pair(95, 99));
  EXPECT_EQ(span(97, 97, 2, 100), std::pair(95, 99));
  EXPECT_EQ(span(-10, -9, 2, 100), std::pair(0, -1));
}

TEST(DrawTracksMath, SpansHaveAllCoveredPixelsAndFewOthers) {
  constexpr int kWidth = 90, kHeight = 70;
  for (const float dx : {-30.f, -9.f, -3.f, 0.f, 5.f, 8.f, 40.f})
    for (const float dy : {-25.f, -0.5f, -0.2f, 0.f, 0.2f, 0.3f, 12.f, 25.f}) {
      const DrawMark mark = make_mark(45.3f, 35.6f, dx, dy, 1.2f, 250, 9);
      const DrawSpan rows = rows_of(mark, kHeight);
      const float slope = dy != 0 ? std::abs(dx / dy) : 0;
      for (int y = 0; y < kHeight; ++y) {
        const DrawSpan columns = columns_of(mark, y, kWidth);
        for (int x = 0; x < kWidth; ++x) {
          if (mark_key(mark, static_cast<float>(x), static_cast<float>(y)) == 0) continue;
          ASSERT_TRUE(x >= columns.first && x <= columns.last && y >= rows.first && y <= rows.last)
              << x << "," << y << " of " << dx << "," << dy;
        }
        if (std::abs(dx) >= 8 && std::abs(dy) >= 0.25f) {
          ASSERT_LE(static_cast<float>(columns.last - columns.first), 2 * mark.reach * (1 + slope) + 1)
              << y << " of " << dx << "," << dy;
        }
      }
    }
}

}  // namespace
}  // namespace lensd::test
