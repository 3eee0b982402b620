// CameraWait: when it searches, and what it returns.
#include "app/viewer/sources/camera_wait.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(2);

TEST(CameraWait, ReturnsACameraThatAppearsLater) {
  const auto searches = std::make_shared<std::atomic<int>>(0);
  const auto woken = std::make_shared<std::atomic<int>>(0);
  CameraWait wait([searches] { return ++*searches < 5 ? "" : "/dev/video3"; }, [woken] { ++*woken; },
                  kInterval);
  EXPECT_EQ(wait.take(), "");
  EXPECT_TRUE(eventually([&] { return woken->load() == 1; }));
  EXPECT_EQ(wait.take(), "/dev/video3");
  EXPECT_EQ(wait.take(), "") << "once";
  std::this_thread::sleep_for(10 * kInterval);
  EXPECT_EQ(searches->load(), 5) << "the search has ended";
}

TEST(CameraWait, TheDestructorEndsTheSearch) {
  const auto searches = std::make_shared<std::atomic<int>>(0);
  {
    const CameraWait wait([searches] { return ++*searches, std::string(); }, [] {}, kInterval);
    EXPECT_TRUE(eventually([&] { return searches->load() > 2; }));
  }
  const int before = searches->load();
  std::this_thread::sleep_for(10 * kInterval);
  EXPECT_EQ(searches->load(), before);
}

}  // namespace
}  // namespace lensd
