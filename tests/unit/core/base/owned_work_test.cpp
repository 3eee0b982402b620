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

}  // namespace
}  // namespace lensd
