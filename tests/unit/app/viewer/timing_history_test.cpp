// The durations of the whole graph: sums of the passes' durations of the same frames.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/viewer/viewer_model.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"

namespace lensd {
namespace {

constexpr int kFirst = 40, kFrames = 60;

TEST(TimingHistory, TheGraphsDurationsAreThoseOfTheNewestPasses) {
  PipelineOptions options;
  options.executor = {.threads = 1, .frames = 6};
  options.graph = parse_chain("invert,grayscale", registry());
  options.paced = options.paused = true;
  Pipeline pipeline(std::make_unique<SyntheticSource>(Extent{64, 48}, kFrames), options, registry());
  pipeline.start();
  ViewerModelBuilder builder(pipeline, registry(), {}, {});
  const auto step_to = [&](int64_t number) {
    for (int64_t shown = -1; shown < number;) {
      ASSERT_TRUE(eventually([&] {
        const Frame frame = pipeline.take_newest();
        if (frame) shown = frame.info.index;
        return static_cast<bool>(frame);
      }));
      if (shown < number) pipeline.post(Step{1});
    }
  };
  step_to(kFirst);
  // The new pass has fewer durations than the others.
  pipeline.post(SetGraph{.graph = parse_chain("invert,median=radius=1,grayscale", registry())});
  pipeline.post(Step{1});
  step_to(kFirst + 9);

  const ui::ViewerModel& model = builder.build({64, 48}, false);
  ASSERT_EQ(model.timings.size(), model.timing_histories.size());
  size_t shortest = SIZE_MAX, longest = 0;
  int64_t newest = 0;
  for (size_t i = 0; i < model.timings.size(); ++i) {
    const PassStats& row = model.timings[i];
    if (!row.active || row.count == 0 || !model.find(row.node)) continue;
    const std::vector<int64_t> values = pipeline.profiler().history(row.node, row.pass);
    shortest = std::min(shortest, values.size()), longest = std::max(longest, values.size());
    newest += values.back();
  }
  ASSERT_LT(shortest, longest) << "the passes have equally many durations";
  ASSERT_EQ(model.graph_history_ns.size(), shortest);
  EXPECT_EQ(model.graph_history_ns.back(), newest);
}

}  // namespace
}  // namespace lensd
