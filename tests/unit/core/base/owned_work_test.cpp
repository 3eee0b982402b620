// core/base/owned_work: work with a deadline for its caller.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/owned_thread.hpp"
#include "core/base/owned_work.hpp"
#include "core/base/semaphore.hpp"

namespace lensd {
namespace {

using namespace std::chrono_literals;

TEST(OwnedWork, ReturnsWhenTheWorkHasReturned) {
  const auto value = std::make_shared<int>(0);
  EXPECT_TRUE(run_owned([value] { *value = 7; }, kNoDeadline));
  EXPECT_EQ(*value, 7);
  EXPECT_EQ(value.use_count(), 1) << "the work is not released";
  EXPECT_THROW(run_owned([] { throw std::runtime_error("no"); }, 10s), std::runtime_error);
}

TEST(OwnedWork, DoesNotWaitForWorkThatHangs) {
  const auto gate = std::make_shared<Semaphore>();
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  const int64_t begin = now_ns();
  EXPECT_FALSE(run_owned(
      [gate, ended] {
        gate->acquire();
        *ended = true;
      },
      50ms));
  std::atomic<bool> stop{false};
  std::thread stopper([&] {
    std::this_thread::sleep_for(50ms);
    stop = true;
  });
  EXPECT_FALSE(run_owned([gate] { gate->acquire(); }, kNoDeadline, &stop));
  stopper.join();
  EXPECT_LT(to_s(now_ns() - begin), 5);
  EXPECT_FALSE(*ended) << "the work has ended before the call";
  gate->release(), gate->release();
  EXPECT_EQ(join_stragglers(10s), 0u);
  EXPECT_TRUE(*ended);
}

TEST(OwnedWork, WaitsWhileThereIsProgress) {
  const auto counter = std::make_shared<std::atomic<uint64_t>>(0);
  const auto count = [counter](int steps) {
    for (int i = 0; i < steps; ++i, ++*counter) std::this_thread::sleep_for(10ms);
  };
  const auto progress = [counter] { return counter->load(); };
  EXPECT_TRUE(run_owned_with_progress([count] { count(150); }, 1s, 60s, progress)) << "takes 1.5 s";
  EXPECT_FALSE(run_owned_with_progress([count] { count(150); }, 1s, 500ms, progress)) << "the limit";
  EXPECT_EQ(join_stragglers(10s), 0u);

  const auto gate = std::make_shared<Semaphore>();
  EXPECT_FALSE(run_owned_with_progress([gate] { gate->acquire(); }, 50ms, 60s, progress));
  gate->release();
  EXPECT_EQ(join_stragglers(10s), 0u);
}

}  // namespace
}  // namespace lensd
