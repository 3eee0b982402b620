// PipelineProgress: which waits of the decode thread are no progress.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "app/serve/pipeline_progress.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"

namespace lensd {
namespace {

TEST(PipelineProgressTest, DataThatAServerOrAPipeDoesNotSendMayBeWaitedFor) {
  const struct {
    const char* url;
    bool seekable, alive;
  } cases[] = {{"http://host/a.mp4", true, true}, {"-", false, true}, {"/videos/a.mp4", true, false}};
  for (const auto& c : cases) {
    std::atomic<bool> go{false};
    auto synthetic = std::make_unique<SyntheticSource>(Extent{64, 48}, 400);
    synthetic->wait_at(5, go);
    synthetic->read_from(c.url, c.seekable);
    PipelineOptions options;
    options.executor = {.threads = 1, .frames = 6};
    options.graph = parse_chain("invert", registry());
    options.paced = true;
    Pipeline pipeline(std::move(synthetic), options, registry());
    pipeline.start();
    ASSERT_TRUE(eventually([&] { return pipeline.status().stalled_since_ns > 0; })) << c.url;
    PipelineProgress progress;
    const uint64_t before = pipeline.status().process_heartbeat;
    EXPECT_TRUE(progress.check(pipeline)) << "a new pipeline";
    ASSERT_TRUE(eventually([&] { return pipeline.status().process_heartbeat > before; }));
    EXPECT_EQ(progress.check(pipeline), c.alive) << c.url;
    pipeline.stop();
  }
}

}  // namespace
}  // namespace lensd
