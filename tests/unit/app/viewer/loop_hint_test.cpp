// Settings are shown before the pipeline has applied them. The hints about the key that sets an A-B loop end
// with the loop's state.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/viewer/viewer_model.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/synthetic_source.hpp"
#include "ui/keys.hpp"

namespace lensd {
namespace {

std::unique_ptr<SyntheticSource> source() {
  return std::make_unique<SyntheticSource>(Extent{64, 48}, 10);
}

PipelineOptions paced() {
  PipelineOptions options;
  options.executor = {.threads = 1, .frames = 6};
  options.paced = true;
  return options;
}

TEST(SentSettings, AreShownUntilTheirCommandsAreApplied) {
  Pipeline pipeline(source(), paced(), registry());  // not started, so it applies no commands
  ViewerModelBuilder builder(pipeline, registry(), {}, {});
  ColourSettings colour;
  colour.peak = 400;
  const std::vector<Command> commands = {SetSpeed{2}, SetVolume{40}, SetMute{true},
                                         SetPrecision{Precision::sixteen}, SetColour{colour}};
  for (const Command& command : commands) builder.sent(command, 1);
  const ui::ViewerModel& model = builder.build({64, 48}, false);
  EXPECT_EQ(model.speed, 2);
  EXPECT_EQ(model.volume, 40);
  EXPECT_TRUE(model.muted);
  EXPECT_EQ(model.precision, Precision::sixteen);
  EXPECT_EQ(model.colour.peak, 400);
  for (const Command& command : commands) builder.sent(command, 0);  // applied, or lost with the pipeline
  builder.build({64, 48}, false);
  EXPECT_EQ(model.speed, 1);
  EXPECT_EQ(model.volume, 100);
  EXPECT_FALSE(model.muted);
  EXPECT_EQ(model.precision, Precision::automatic);
  EXPECT_EQ(model.colour, ColourSettings());
}

TEST(SentSettings, OnlyTheNewestValueIsShown) {
  Pipeline pipeline(source(), paced(), registry());
  ViewerModelBuilder builder(pipeline, registry(), {}, {});
  for (const char* text : {"Volume: 52 %", "Sound: muted", "Undone: add a", "Graph B: a copy of A",
                           "Volume: 54 %", "Sound: on", "Undone: add b", "Graph A"})
    builder.notice(false, text);
  std::string shown;
  for (const ui::Notice& notice : builder.model().notices) shown += notice.text + "; ";
  EXPECT_EQ(shown, "Undone: add a; Volume: 54 %; Sound: on; Undone: add b; Graph A; ");
}

TEST(LoopHint, GoesWhenTheLoopHasItsEnd) {
  PipelineOptions options = paced();
  options.paused = true;
  Pipeline pipeline(source(), options, registry());
  pipeline.start();
  ViewerModelBuilder builder(pipeline, registry(), {}, {});
  // A ticket that the pipeline never reaches: the model keeps the loop of the command.
  const auto send = [&](int64_t a_ns, int64_t b_ns) { builder.sent(SetLoop{false, a_ns, b_ns}, UINT64_MAX); };
  const auto hints = [&] {
    return std::ranges::count_if(builder.build({64, 48}, false).notices, [](const ui::Notice& notice) {
      return notice.text.starts_with(ui::kLoopBegun) || notice.text.starts_with(ui::kLoopTooShort);
    });
  };
  send(10'000'000, -1);
  builder.notice(false, std::string(ui::kLoopBegun) + " 00:00.010; l again sets its end");
  builder.notice(false, std::string(ui::kLoopTooShort) + ": play or seek");
  EXPECT_EQ(hints(), 2);
  send(10'000'000, 50'000'000);
  EXPECT_EQ(hints(), 0);
  send(20'000'000, -1);
  builder.notice(false, std::string(ui::kLoopBegun) + " 00:00.020; l again sets its end");
  EXPECT_EQ(hints(), 1);
  send(-1, -1);
  EXPECT_EQ(hints(), 0) << "cleared, for example by a control client";
}

}  // namespace
}  // namespace lensd
