// core/device/workers.hpp: bands that run at the same time.
#include <gtest/gtest.h>

#include <atomic>

#include "core/device/workers.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

struct Meeting {
  std::atomic<int> inside{0};
  std::atomic<bool> met{false}, failed{false};
};

/// Waits until a second band runs.
void meet(void* context, Band, int) {
  Meeting& meeting = *static_cast<Meeting*>(context);
  if (++meeting.inside == 2) meeting.met = true;
  if (!meeting.failed && !eventually([&] { return meeting.met.load(); })) meeting.failed = true;
  --meeting.inside;
}

TEST(Workers, AnExecutorWithOneThreadDoesNotLimitTheOthers) {
  Workers many(2), one(1);
  Meeting meeting;
  many.run(2, 1, &meet, &meeting);
  EXPECT_FALSE(meeting.failed);
}

}  // namespace
}  // namespace lensd
