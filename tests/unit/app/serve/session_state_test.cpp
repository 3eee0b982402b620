// Session: the state of the run.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "app/serve/session.hpp"
#include "kernels/registry.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/synthetic_source.hpp"

namespace lensd {
namespace {

TEST(SessionState, AFileWithoutItsNextPictureHasAReason) {
  SessionOptions options;
  options.load = [](const std::string&, Reply) {};
  std::atomic<bool> go{false};
  Session session(std::move(options), registry());
  PipelineOptions o;
  o.executor = {.threads = 1, .frames = 6};
  o.graph = parse_chain("invert", registry()), o.paced = true;
  auto source = std::make_unique<SyntheticSource>(Extent{64, 48}, 1000);
  source->wait_at(5, go);
  const auto pipeline = std::make_shared<Pipeline>(std::move(source), o, registry());
  session.attach(pipeline, "good");
  pipeline->start();
  EXPECT_TRUE(eventually([&] { return session.state().source_state == "stalled"; }));
  EXPECT_EQ(session.state().source_reason, "the next picture has not arrived");
  go = true;
  EXPECT_TRUE(eventually([&] { return session.state().source_state == "playing"; }));
  EXPECT_EQ(session.state().source_reason, "");
  pipeline->stop();
}

}  // namespace
}  // namespace lensd
