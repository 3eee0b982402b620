// The rig of `lensd bench` runs filters as an executor does.
#include <gtest/gtest.h>

#include <vector>

#include "app/commands/bench/bench_rig.hpp"
#include "kernels/registry.hpp"

namespace lensd::bench {
namespace {

Subject gray_subject(const char* filter) {
  return {
      .label = filter, .filter = registry().find(filter)->make(), .format = {PixelFormat::gray8, {64, 16}}};
}

FrameBuffers input_of(const Subject& subject) {
  const Layout layout = subject.filter->configure(inputs_of(subject, Backend::cpu));
  return make_buffers(subject, layout, MemoryKind::host);
}

TEST(BenchRig, ResultsAreThoseOfTheFilter) {
  Subject invert = gray_subject("invert");
  const FrameBuffers buffers = input_of(invert);
  std::vector<uint8_t> expected;
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 64; ++x) expected.push_back(static_cast<uint8_t>(255 - buffers.in_ref.row(y)[x]));
  EXPECT_EQ(cpu_result(invert), expected);
  Subject difference = gray_subject("difference");
  EXPECT_EQ(cpu_result(difference), std::vector<uint8_t>(64 * 16)) << "there is no previous frame";
}

TEST(BenchRig, EveryFrameStartsWithClearStatistics) {
  Subject mosaic = gray_subject("mosaic");
  const FrameBuffers buffers = input_of(mosaic);
  CpuRun run(*mosaic.filter, inputs_of(mosaic, Backend::cpu), 1);
  const FrameBlock frame;
  PassArgs args = run.args();
  args.in = {&buffers.in_ref, 1}, args.out = buffers.out_ref, args.frame = &frame;
  const auto statistics = [&] {
    run.run(args);
    return std::vector<uint8_t>(run.stats.data(), run.stats.data() + run.stats.size());
  };
  const std::vector<uint8_t> first = statistics();
  EXPECT_NE(first, std::vector<uint8_t>(first.size()));
  EXPECT_EQ(statistics(), first);
}

}  // namespace
}  // namespace lensd::bench
