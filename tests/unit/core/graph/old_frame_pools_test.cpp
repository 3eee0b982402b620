// Old frame pools are freed on another thread, once nobody holds a frame and the (simulated) GPU has read
// all.
#include "core/graph/exec/old_frame_pools.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

using namespace std::chrono_literals;

/// Records which thread frees the pool that it is attached to.
struct FreedBy {
  std::atomic<bool> freed{false};
  std::thread::id thread;
};

std::shared_ptr<FramePool> pool_of(FreedBy& by) {
  auto pool = FramePool::make({PixelFormat::gray8, {8, 8}}, MemoryKind::host, 3);
  pool->attach(std::shared_ptr<void>(&by, [](void* p) {
    auto& record = *static_cast<FreedBy*>(p);
    record.thread = std::this_thread::get_id();
    record.freed = true;
  }));
  return pool;
}

bool freed_soon(const FreedBy& by) {
  for (int i = 0; i < 5000 && !by.freed; ++i) std::this_thread::sleep_for(1ms);
  return by.freed;
}

bool is_kept(const FreedBy& by) {
  std::this_thread::sleep_for(30ms);
  return !by.freed;
}

bool always(const FramePool&) {
  return true;
}
bool never(const FramePool&) {
  return false;
}

TEST(OldFramePools, TheHolderOfTheLastFrameDoesNotFreeThePool) {
  FreedBy by;
  OldFramePools old(always);
  auto pool = pool_of(by);
  Frame shown = pool->acquire();
  old.add(std::move(pool));
  EXPECT_TRUE(is_kept(by)) << "while a frame is held";
  shown.reset();
  ASSERT_TRUE(freed_soon(by));
  EXPECT_NE(by.thread, std::this_thread::get_id());
}

TEST(OldFramePools, AnOldPlanKeepsItsPool) {
  FreedBy by;
  OldFramePools old(always);
  auto pool = pool_of(by);
  old.add(pool);
  EXPECT_TRUE(is_kept(by));
  pool.reset();
  EXPECT_TRUE(freed_soon(by));
}

TEST(OldFramePools, AskAgainUntilTheGpuHasReadTheFrames) {
  FreedBy by;
  std::atomic<bool> read{false};
  std::atomic<int> asked{0};
  OldFramePools old([&](const FramePool&) { return ++asked, read.load(); });
  old.add(pool_of(by));
  EXPECT_TRUE(eventually([&] { return asked > 1; }));
  EXPECT_TRUE(is_kept(by));
  read = true;
  EXPECT_TRUE(freed_soon(by));
}

TEST(OldFramePools, AreCheckedAgainAfterACheckWithoutMemory) {
  FreedBy by;
  std::atomic<bool> memory{false};
  std::atomic<int> asked{0};
  OldFramePools old([&](const FramePool&) {
    ++asked;
    if (!memory) throw std::bad_alloc();
    return true;
  });
  old.add(pool_of(by));
  EXPECT_TRUE(eventually([&] { return asked > 1; }));
  memory = true;
  EXPECT_TRUE(freed_soon(by));
}

TEST(OldFramePools, TheOldestIsNotHeldBeyondTheLimit) {
  FreedBy by[5];
  OldFramePools old(never, 3);
  for (FreedBy& each : by) old.add(pool_of(each));
  EXPECT_TRUE(freed_soon(by[0]) && freed_soon(by[1]));
  EXPECT_NE(by[0].thread, std::this_thread::get_id());
  for (int i = 2; i < 5; ++i) EXPECT_TRUE(is_kept(by[i])) << i;
}

TEST(OldFramePools, GivingUpFreesAllThatAreNotHeld) {
  FreedBy unused, shown;
  OldFramePools old(never);
  EXPECT_FALSE(old.give_up());
  auto pool = pool_of(shown);
  Frame frame = pool->acquire();
  old.add(std::move(pool)), old.add(pool_of(unused));
  EXPECT_TRUE(old.give_up());
  EXPECT_TRUE(unused.freed);
  EXPECT_FALSE(shown.freed);
  frame.reset();
  EXPECT_TRUE(shown.freed) << "by the last holder, as without OldFramePools";
}

TEST(OldFramePools, GivingUpWaitsForPoolsThatAreBeingFreed) {
  OldFramePools old(always);
  std::atomic<bool> freeing{false}, freed{false};
  auto pool = FramePool::make({PixelFormat::gray8, {8, 8}}, MemoryKind::host, 3);
  pool->attach(std::shared_ptr<void>(&freed, [&](void*) {
    freeing = true;
    std::this_thread::sleep_for(200ms);
    freed = true;
  }));
  old.add(std::move(pool));
  while (!freeing) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(old.give_up());
  EXPECT_TRUE(freed);
  EXPECT_FALSE(old.give_up());
}

TEST(OldFramePools, NoneAreLeftAtTheEnd) {
  FreedBy by;
  {
    OldFramePools old(never);
    old.add(pool_of(by));
    EXPECT_TRUE(is_kept(by));
  }
  EXPECT_TRUE(by.freed);
}

}  // namespace
}  // namespace lensd
