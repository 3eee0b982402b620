// The probe reads the same place in every picture, also if the graph changes the size. Skipped without a
// display.
#include <gtest/gtest.h>

#include "app/viewer/display/shown_frame.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"
#include "tests/unit/ui/gl/hidden_window.hpp"

namespace lensd {
namespace {

constexpr Extent kSource{64, 48};

class Probe : public ui::HiddenWindow {
 protected:
  static PipelineOptions paused(const char* chain) {
    PipelineOptions options;
    options.executor = {.threads = 1, .frames = 6};
    options.graph = parse_chain(chain, registry());
    options.paced = options.paused = true;
    return options;
  }
  /// Returns R, G, B of the pixel at x, y in a frame's picture number `image`.
  static std::array<uint8_t, 3> pixel(const Frame& frame, int image, int x, int y) {
    const ConstImageRef picture = frame.image(image);
    const uint8_t* p = picture.row(y) + x * picture.channels();
    return picture.channels() == 1 ? std::array{p[0], p[0], p[0]} : std::array{p[0], p[1], p[2]};
  }
};

TEST_F(Probe, ReadsTheSamePlaceOfPicturesOfOtherSizes) {
  if (IsSkipped()) return;
  Pipeline pipeline(std::make_unique<SyntheticSource>(kSource, 100),
                    paused("invert,resize=width=32:height=144:method=nearest,grayscale"), registry());
  pipeline.post(SetViews{{"source", "invert"}});
  pipeline.start();
  Frame frame;
  ASSERT_TRUE(eventually([&] {
    if (Frame newest = pipeline.take_newest()) frame = std::move(newest);
    return frame && frame.images() == 3;
  }));
  const Frame same = frame.share();
  ui::Presenter presenter(ui::make_display_path(ui::DisplayKind::pixel_buffer, nullptr));
  ui::ViewerUi viewer;
  ShownFrame shown;
  shown.show(std::move(frame), presenter, viewer);
  ViewerModelBuilder model(pipeline, registry(), {}, {});
  model.model().views = {"source", "invert"};

  // The output has half the source's width and three times its height.
  const struct {
    int x, y, source_x, source_y;
  } places[] = {{0, 0, 0, 0}, {5, 46, 10, 15}, {31, 143, 62, 47}, {16, 2, 32, 0}, {16, 3, 32, 1}};
  for (const auto& place : places) {
    ui::ProbeState probe;
    probe.over = true, probe.x = place.x, probe.y = place.y;
    shown.read_pixels(probe, model);
    const std::vector<ui::ProbeRow>& rows = model.model().probe;
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(model.model().probe_x, place.x);
    EXPECT_EQ(model.model().probe_y, place.y);
    for (const ui::ProbeRow& row : rows) {
      const bool output = row.node == "output";
      EXPECT_EQ(row.gray, output) << row.node;
      const int image = output ? 0 : same.find_image(row.node);
      const auto expected =
          pixel(same, image, output ? place.x : place.source_x, output ? place.y : place.source_y);
      EXPECT_EQ((std::array<uint8_t, 3>{static_cast<uint8_t>(row.value.r), static_cast<uint8_t>(row.value.g),
                                        static_cast<uint8_t>(row.value.b)}),
                expected)
          << row.node << " at " << place.x << ' ' << place.y;
    }
    EXPECT_EQ(rows[0].value.r, 255 - rows[1].value.r) << "the source and its negative";
  }
  ui::ProbeState away;
  shown.read_pixels(away, model);
  EXPECT_TRUE(model.model().probe.empty());
  shown.reset();
}

TEST_F(Probe, AMagnifiedViewsPixelsEndAtThePicturesEdge) {
  if (IsSkipped()) return;
  Pipeline pipeline(std::make_unique<SyntheticSource>(kSource, 100), paused("invert"), registry());
  pipeline.start();
  Frame frame;
  ASSERT_TRUE(eventually([&] { return static_cast<bool>(frame = pipeline.take_newest()); }));
  const Frame same = frame.share();
  ui::Presenter presenter(ui::make_display_path(ui::DisplayKind::pixel_buffer, nullptr));
  ShownFrame shown;
  shown.show(std::move(frame), presenter, ui::ViewerUi());
  ViewerModelBuilder model(pipeline, registry(), {}, {});
  ui::ProbeState probe;
  probe.patch_x = 60, probe.patch_y = 45, probe.patch = {10, 2};
  shown.read_pixels(probe, model);
  const ui::ViewerModel& m = model.model();
  EXPECT_EQ(m.patch_size, (Extent{4, 2}));
  ASSERT_EQ(m.patch.size(), 8u);
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 4; ++x) {
      const Rgba16& value = m.patch[static_cast<size_t>(y * 4 + x)];
      const auto wanted = pixel(same, 0, 60 + x, 45 + y);
      EXPECT_EQ((std::array<int, 3>{value.r, value.g, value.b}),
                (std::array<int, 3>{wanted[0], wanted[1], wanted[2]}));
    }
  probe.patch_x = 64;
  shown.read_pixels(probe, model);
  EXPECT_TRUE(m.patch.empty());
  shown.reset();
}

TEST_F(Probe, FramesFromBeforeARenameStillHaveTheNodesPicture) {
  if (IsSkipped()) return;
  Pipeline pipeline(std::make_unique<SyntheticSource>(kSource, 100), paused("invert,grayscale"), registry());
  pipeline.post(SetViews{{"invert"}});
  pipeline.start();
  Frame frame;
  ASSERT_TRUE(eventually([&] {
    if (Frame newest = pipeline.take_newest()) frame = std::move(newest);
    return frame && frame.images() == 2;
  }));
  ui::Presenter presenter(ui::make_display_path(ui::DisplayKind::pixel_buffer, nullptr),
                          ui::make_display_path(ui::DisplayKind::pixel_buffer, nullptr));
  ui::ViewerUi viewer;
  ui::CompareState& compare = viewer.state().compare;
  ui::GraphEditor& editor = viewer.state().editor;
  ViewerModelBuilder model(pipeline, registry(), {}, {});
  editor.follow(model.build(kSource, false), false, 0);
  compare.mode = ui::CompareMode::split, compare.a = "invert";
  ShownFrame shown;
  shown.show(std::move(frame), presenter, viewer);
  ASSERT_TRUE(shown.has_second());
  ASSERT_TRUE(editor.rename("invert", "negative"));
  compare.a = "negative";
  shown.refresh(presenter, viewer);
  EXPECT_TRUE(shown.has_second()) << "the comparison vanishes until the renamed graph runs";
  compare.a = kSourceNode;
  shown.refresh(presenter, viewer);
  EXPECT_FALSE(shown.has_second()) << "the frame has no picture of the source";
  shown.reset();
}

}  // namespace
}  // namespace lensd
