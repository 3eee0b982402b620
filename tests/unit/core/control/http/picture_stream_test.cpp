// core/control/http: the pictures of /stream.mjpeg.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <string>

#include "core/control/http/picture_stream.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

TEST(PictureStream, RepeatsAPictureOnce) {
  PictureStream stream(
      [](int64_t after_ns) {
        auto picture = std::make_shared<EncodedPicture>();
        picture->bytes = "picture", picture->frame.processed_ns = 1;
        return after_ns < 1 ? picture : nullptr;
      },
      10);
  const auto watcher = stream.watch();
  watcher->on_change([] {});
  const auto usual = watcher->heartbeat_delay();
  std::string part;
  EXPECT_TRUE(eventually([&] { return !(part = watcher->take()).empty(); }));
  EXPECT_EQ(watcher->heartbeat_delay(), std::chrono::milliseconds(200)) << "two periods";
  EXPECT_EQ(watcher->heartbeat(), part);
  EXPECT_EQ(watcher->heartbeat_delay(), usual);
  EXPECT_EQ(watcher->heartbeat(), "");
}

TEST(PictureStream, AFailedNotificationIsRepeatedAndDelaysNobody) {
  PictureStream stream(
      [](int64_t after_ns) {
        auto picture = std::make_shared<EncodedPicture>();
        picture->frame.processed_ns = 1;
        return after_ns < 1 ? picture : nullptr;
      },
      60);
  const auto first = stream.watch(), second = stream.watch();
  std::atomic<int> failed{0}, notified{0};
  const auto watch = [&] {
    if (failed++ == 0) throw std::bad_alloc();
    ++notified;
  };
  first->on_change(watch);
  second->on_change(watch);
  EXPECT_TRUE(eventually([&] { return notified == 2; }));
  first->on_change(nullptr), second->on_change(nullptr);
}

}  // namespace
}  // namespace lensd
