// A live source whose new size needs more memory than there is.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/unit/app/pipeline/pipeline_fixture.hpp"
#include "tests/unit/app/pipeline/playing_source.hpp"
#include "tests/unit/common/count_allocations.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

constexpr Extent kSmall{64, 48}, kLarge{800, 600}, kHuge{4000, 2500};

/// A live source with 50 pictures per second, whose size changes on request.
class GrowingSource final : public PlayingSource {
 public:
  GrowingSource() : PlayingSource(SyntheticSource(kSmall, 1).info()) {}
  FrameOutcome next(Picture& out) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    SyntheticSource* const sources[] = {&small_, &large_, &huge_};
    return sources[size]->next(out);
  }
  std::atomic<int> size{0};

 private:
  SyntheticSource small_{kSmall, 1'000'000}, large_{kLarge, 1'000'000}, huge_{kHuge, 1'000'000};
};

/// Limits the address space of the process to what it uses and `mebibytes` more.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(size_t mebibytes) {
    getrlimit(RLIMIT_AS, &before_);
    size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit now{pages * 4096 + (mebibytes << 20), before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_AS, &now), 0);
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};

class PipelineMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (!kCountsAllocations) GTEST_SKIP() << "sanitizers need address space";
    auto made = std::make_unique<GrowingSource>();
    source_ = made.get();
    pipeline = std::make_unique<Pipeline>(std::move(made), paced("resize=scale=4,invert"), registry());
    pipeline->start();
    EXPECT_TRUE(shows({256, 192}));
  }
  void TearDown() override {
    if (!pipeline) return;
    pipeline->stop();
    pipeline->check();
  }
  /// Waits until the newest frames have this size.
  bool shows(Extent size) {
    return eventually([&] {
      const Frame frame = pipeline->take_newest();
      return frame && frame.image().format.extent == size;
    });
  }
  std::string reason() const { return pipeline->status().live.reason; }

  GrowingSource* source_ = nullptr;
  std::unique_ptr<Pipeline> pipeline;
};

TEST_F(PipelineMemory, TheGraphIsTriedAgainUntilMemorySuffices) {
  {
    const AddressSpaceLimit limit(120);  // the graph needs 6 frames of 31 MB, the source 6 of 2 MB
    source_->size = 1;
    EXPECT_TRUE(shows(kLarge));
    EXPECT_TRUE(reason().starts_with("shown without the graph: memory: cannot allocate")) << reason();
    // A plan for the old size, or for a graph that does not fit either, does not end the tries.
    pipeline->post(SetGraph{parse_chain("resize=scale=4,invert,invert", registry()), 5});
    std::this_thread::sleep_for(std::chrono::milliseconds(3500));
    pipeline->check();
    EXPECT_TRUE(shows(kLarge));
    EXPECT_FALSE(reason().empty());
    const std::vector<PlanOutcome> outcomes = pipeline->take_outcomes();
    ASSERT_EQ(outcomes.size(), 1u);
    EXPECT_EQ(outcomes[0].problem, "") << "it is tried again, so it was not refused";
  }
  EXPECT_TRUE(shows({4 * kLarge.width, 4 * kLarge.height})) << reason();
  EXPECT_EQ(reason(), "");
  EXPECT_EQ(pipeline->graph()->graph.nodes.size(), 3u) << "the requested graph";
}

TEST_F(PipelineMemory, PicturesAreDroppedWithoutMemoryForTheSource) {
  {
    const AddressSpaceLimit limit(120);  // 6 frames of 40 MB are too large
    source_->size = 2;
    EXPECT_TRUE(eventually([&] { return reason().find("cannot allocate") != std::string::npos; }));
    EXPECT_GT(pipeline->status().dropped, 0u);
    source_->size = 0;
    EXPECT_TRUE(shows({256, 192}));
    EXPECT_EQ(reason(), "");
  }
  source_->size = 1;
  EXPECT_TRUE(shows({4 * kLarge.width, 4 * kLarge.height}));
  EXPECT_EQ(reason(), "");
}

}  // namespace
}  // namespace lensd
