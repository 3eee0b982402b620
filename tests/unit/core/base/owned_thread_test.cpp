// OwnedThread: threads that end in time, and threads that hang.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <memory>

#include "core/base/owned_thread.hpp"

namespace lensd {
namespace {

using namespace std::chrono_literals;

TEST(OwnedThread, IsJoinedWhenItEndsInTime) {
  const auto owned = std::make_shared<int>(1);
  OwnedThread thread([owned] {});
  EXPECT_TRUE(thread.join_within(10s));
  EXPECT_EQ(owned.use_count(), 1) << "what the function owns is released when the thread is joined";
  EXPECT_TRUE(thread.join_within(0s)) << "there is no thread any more";
  EXPECT_EQ(join_stragglers(0s), 0u);
}

TEST(OwnedThread, IsKeptWhenItHangs) {
  std::promise<void> release;
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  {
    OwnedThread thread([wait = release.get_future().share(), ended] { wait.wait(), *ended = true; });
    EXPECT_FALSE(thread.join_within(1ms));
  }
  EXPECT_EQ(join_stragglers(1ms), 1u);
  EXPECT_EQ(join_stragglers(0s), 1u) << "a straggler is kept until it ends";
  EXPECT_FALSE(*ended);
  release.set_value();
  EXPECT_EQ(join_stragglers(10s), 0u);
  EXPECT_TRUE(*ended);
}

TEST(OwnedThread, StragglersThatEndedAreJoinedWhenTheNextComes) {
  for (int i = 0; i < 200; ++i) {
    std::promise<void> release;
    OwnedThread thread([wait = release.get_future().share()] { wait.wait(); });
    EXPECT_FALSE(thread.join_within(0s));
    release.set_value();
  }
  EXPECT_EQ(join_stragglers(10s), 0u);
}

}  // namespace
}  // namespace lensd
