// Editing the graph of a running pipeline: what was reached, what was refused, what is shown.
#include <gtest/gtest.h>

#include <algorithm>

#include "app/pipeline/pipeline.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/eventually.hpp"
#include "tests/unit/synthetic_source.hpp"

namespace lensd {
namespace {

PipelineOptions options(const char* chain, bool paused) {
  PipelineOptions o;
  o.executor = {.threads = 2, .frames = 6};
  o.graph = parse_chain(chain, registry());
  o.paced = true, o.paused = paused;
  return o;
}

std::unique_ptr<Source> source(int64_t frames) {
  return std::make_unique<SyntheticSource>(Extent{64, 48}, frames);
}

/// Everything posted before has been applied, and planned.
bool settled(Pipeline& pipeline, uint64_t mark) {
  pipeline.post(EditMark{mark});
  return eventually([&] {
    const PipelineStatus status = pipeline.status();
    return status.edit_mark == mark && !status.planning;
  });
}

std::vector<uint8_t> bytes(const Frame& frame) {
  std::vector<uint8_t> all;
  const ConstImageRef image = frame.image();
  for (int y = 0; y < image.height(); ++y)
    all.insert(all.end(), image.row(y), image.row(y) + image.row_bytes());
  return all;
}

/// The next picture that is published.
std::vector<uint8_t> shown(Pipeline& pipeline) {
  Frame frame;
  EXPECT_TRUE(eventually([&] { return static_cast<bool>(frame = pipeline.take_newest()); }));
  return frame ? bytes(frame) : std::vector<uint8_t>();
}

TEST(PipelineEdit, ARefusedParameterThatNeedsAPlanLeavesNothingBehind) {
  Pipeline pipeline(source(100), options("convolve,invert", true), registry());
  pipeline.start();
  pipeline.post(SetParam{"convolve", "compose", std::string("nonsense")});
  ASSERT_TRUE(settled(pipeline, 1));
  const auto notices = pipeline.take_notices();
  EXPECT_TRUE(std::any_of(notices.begin(), notices.end(), [](const PipelineNotice& n) { return n.problem; }));
  const ParamSpec& compose = *registry().find("convolve")->schema().find("compose");
  EXPECT_EQ(value_of(*pipeline.graph()->graph.find("convolve"), compose), compose.default_value);
  pipeline.post(SetEnabled{"invert", false});
  ASSERT_TRUE(settled(pipeline, 2));
  EXPECT_FALSE(pipeline.graph()->graph.find("invert")->enabled) << "later changes go on";
  pipeline.post(SetParam{"convolve", "compose", std::string("gaussian(1.2), sharpen")});
  ASSERT_TRUE(settled(pipeline, 3));
  EXPECT_NE(value_of(*pipeline.graph()->graph.find("convolve"), compose), compose.default_value);
}

TEST(PipelineEdit, SoloShowsANodeAndLeavesTheGraphAsItIs) {
  Pipeline pipeline(source(100), options("invert,mosaic=block=32", true), registry());
  Pipeline only(source(100), options("invert", true), registry());
  pipeline.start(), only.start();
  const auto whole = shown(pipeline), wanted = shown(only);
  ASSERT_NE(whole, wanted);
  pipeline.post(Solo{"invert"});
  ASSERT_TRUE(settled(pipeline, 1));
  EXPECT_EQ(shown(pipeline), wanted);
  EXPECT_EQ(pipeline.graph()->graph.output, "mosaic");
  pipeline.post(Solo{"gone"});
  ASSERT_TRUE(settled(pipeline, 2));
  EXPECT_EQ(shown(pipeline), whole) << "a node that is not there is passed over";
}

TEST(PipelineEdit, ChangesShowAtTheEndOfAFileAsWhilePaused) {
  Pipeline pipeline(source(3), options("invert", false), registry());
  pipeline.start();
  ASSERT_TRUE(eventually([&] { return pipeline.status().ended; }));
  const auto last = shown(pipeline);
  pipeline.post(SetEnabled{"invert", false});
  EXPECT_NE(shown(pipeline), last);
}

}  // namespace
}  // namespace lensd
