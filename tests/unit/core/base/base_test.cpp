// core/base, core/device, core/image: queue, parameters, frame pool, pictures, copy rate.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "core/base/bounded_queue.hpp"
#include "core/base/error.hpp"
#include "core/base/notices.hpp"
#include "core/base/param.hpp"
#include "core/device/copy_rate.hpp"
#include "core/image/frame.hpp"
#include "core/image/picture_handle.hpp"

namespace lensd {
namespace {

TEST(BoundedQueue, KeepsOrderAndCapacity) {
  BoundedQueue<int> queue(4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.try_push(i));
  int fifth = 4;
  EXPECT_FALSE(queue.try_push(fifth));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(queue.try_pop(), i);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
}

TEST(BoundedQueue, RefusedValueStaysWithTheCaller) {
  BoundedQueue<std::unique_ptr<int>> queue(2);
  for (int i = 0; i < 2; ++i) {
    auto value = std::make_unique<int>(i);
    ASSERT_TRUE(queue.try_push(value));
  }
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(queue.try_push(third));
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(*third, 3);
}

TEST(BoundedQueue, ManyThreadsLoseNothing) {
  constexpr int kProducers = 3, kEach = 20000;
  BoundedQueue<int64_t> queue(8);
  std::atomic<int64_t> sum{0}, count{0};
  std::vector<std::thread> threads;
  for (int c = 0; c < 2; ++c)
    threads.emplace_back([&] {
      while (auto value = queue.pop()) sum += *value, ++count;
    });
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p)
    producers.emplace_back([&, p] {
      for (int64_t i = 0; i < kEach; ++i) {
        int64_t value = p * kEach + i;
        ASSERT_TRUE(queue.push(value));
      }
    });
  for (auto& t : producers) t.join();
  queue.close();
  for (auto& t : threads) t.join();
  constexpr int64_t n = int64_t{kProducers} * kEach;
  EXPECT_EQ(count, n);
  EXPECT_EQ(sum, n * (n - 1) / 2);
}

TEST(BoundedQueue, CloseReleasesWaiters) {
  BoundedQueue<int> queue(2);
  std::thread consumer([&] { EXPECT_EQ(queue.pop(), std::nullopt); });
  queue.close();
  consumer.join();
  int value = 1;
  EXPECT_FALSE(queue.push(value));
}

TEST(BoundedQueue, WakeBeforeWaitingIsNotLost) {
  BoundedQueue<int> queue(2);
  const uint32_t token = queue.wake_token();
  queue.wake();
  EXPECT_EQ(queue.pop_or_wake(token), std::nullopt);
}

struct Params {
  int radius = 3;
  double sigma = 1.5;
  bool on = true;
  Matrix kernel{1, 1, {1}};
  enum class Mode { one, two } mode = Mode::two;
};

FilterSchema schema() {
  return Schema<Params>("example", "an example")
      .integer("radius", &Params::radius, 1, 25, "window radius", {.unit = "px"})
      .real("sigma", &Params::sigma, 0.1, 20, "width")
      .boolean("on", &Params::on, "switch")
      .choice("mode", &Params::mode, {"one", "two"}, "which")
      .matrix("kernel", &Params::kernel, 5, "weights")
      .build();
}

TEST(Param, DefaultsComeFromTheStruct) {
  const FilterSchema s = schema();
  EXPECT_EQ(std::get<int64_t>(s.find("radius")->default_value), 3);
  EXPECT_EQ(std::get<double>(s.find("sigma")->default_value), 1.5);
  EXPECT_EQ(std::get<std::string>(s.find("mode")->default_value), "two");
  EXPECT_EQ(s.find("nothing"), nullptr);
}

TEST(Param, RefusesInvalidValuesAndNamesValidOnes) {
  const FilterSchema s = schema();
  ParamValue out;
  for (const ParamValue& bad : {ParamValue(int64_t{0}), ParamValue(int64_t{26}), ParamValue(2.5),
                                ParamValue(std::string("x")), ParamValue(true), ParamValue(std::nan("")),
                                ParamValue(std::numeric_limits<double>::infinity()), ParamValue(1e308)}) {
    const auto problem = s.find("radius")->check(bad, out);
    ASSERT_TRUE(problem) << to_string(bad);
    EXPECT_NE(problem->find("radius"), std::string::npos);
    EXPECT_NE(problem->find("1 to 25 px"), std::string::npos);
  }
  EXPECT_TRUE(s.find("sigma")->check(ParamValue(std::nan("")), out));
  EXPECT_TRUE(s.find("mode")->check(ParamValue(std::string("three")), out));
  EXPECT_TRUE(s.find("on")->check(ParamValue(int64_t{1}), out));
}

TEST(Param, ConvertsBetweenIntegerAndReal) {
  const FilterSchema s = schema();
  ParamValue out;
  EXPECT_FALSE(s.find("radius")->check(ParamValue(4.0), out));
  EXPECT_EQ(std::get<int64_t>(out), 4);
  EXPECT_FALSE(s.find("sigma")->check(ParamValue(int64_t{2}), out));
  EXPECT_EQ(std::get<double>(out), 2.0);
}

TEST(Param, ParsesText) {
  const FilterSchema s = schema();
  ParamValue out;
  EXPECT_FALSE(s.find("radius")->parse("7", out));
  for (const char* bad : {"", "nan", "inf", "7x", "0x7", "7 7", "1e308", "-1"})
    EXPECT_TRUE(s.find("radius")->parse(bad, out)) << bad;
  EXPECT_FALSE(s.find("kernel")->parse("1 2 1;2 4 2;1 2 1", out));
  EXPECT_EQ(std::get<Matrix>(out).cols, 3);
  for (const char* bad : {"1 2", "1 2 1;1 2", "1 nan 1", "a", "1 1 1 1 1 1 1", "+-1", "++1"})
    EXPECT_TRUE(s.find("kernel")->parse(bad, out)) << bad;
  for (const char* good : {"-1000000", "+1", "-1"}) EXPECT_FALSE(s.find("kernel")->parse(good, out)) << good;
  const std::string problem = s.find("kernel")->parse("1000001", out).value_or("");
  EXPECT_NE(problem.find("from -1000000 to 1000000"), std::string::npos) << problem;
}

TEST(FramePool, ReturnsFramesAndDoesNotBlockAfterClose) {
  auto pool = FramePool::make({PixelFormat::gray8, {17, 5}}, MemoryKind::host, 2);
  Frame a = pool->try_acquire(), b = pool->try_acquire();
  ASSERT_TRUE(a && b);
  EXPECT_NE(a.slot(), b.slot());
  EXPECT_FALSE(pool->try_acquire());
  const int slot = a.slot();
  std::thread other([moved = std::move(a)]() mutable { moved.reset(); });
  const Frame again = pool->acquire();
  other.join();
  EXPECT_EQ(again.slot(), slot);
  pool->close();
  EXPECT_FALSE(pool->acquire());
}

TEST(FramePool, TheLastHandleGivesAFrameBack) {
  auto pool = FramePool::make({PixelFormat::gray8, {8, 8}}, MemoryKind::host, 1);
  Frame first = pool->acquire();
  first.info.index = 5;
  Frame second = first.share();
  EXPECT_EQ(second.info.index, 5);
  EXPECT_EQ(second.image().data, first.image().data);
  first.reset();
  EXPECT_FALSE(pool->try_acquire());
  second.reset();
  EXPECT_TRUE(pool->try_acquire());
  EXPECT_FALSE(Frame().share());
}

TEST(FramePool, FramesCarryImagesByNameAndSideData) {
  const auto pool = FramePool::make({.images = {{PixelFormat::rgba8, {9, 4}}, {PixelFormat::gray8, {5, 3}}},
                                     .capacity = 2,
                                     .side_bytes = 256 + track_table_bytes(3),
                                     .tracks_offset = 256,
                                     .views = {{"out", 0}, {"edges", 1}, {"same", 1}}});
  const Frame frame = pool->acquire();
  EXPECT_EQ(frame.images(), 2);
  EXPECT_EQ(frame.find_image("edges"), 1);
  EXPECT_EQ(frame.find_image("same"), 1);
  EXPECT_EQ(frame.find_image(""), 0);
  EXPECT_EQ(frame.find_image("other"), -1);
  EXPECT_EQ(frame.image(1).format, (ImageFormat{PixelFormat::gray8, {5, 3}}));
  const void* table = pool->side_data(frame.slot()) + 256;
  EXPECT_EQ(static_cast<const void*>(frame.tracks()), table);
}

TEST(CopyRate, IsARateOfThisMachineOrUnknown) {
  const double rate = measure_cpu_copy_rate(2);
  EXPECT_GT(rate, 1e7) << "10 MB/s: no machine is as slow";
  EXPECT_LT(rate, 1e14);
  EXPECT_EQ(measure_gpu_copy_rate(255), 0) << "there is no such device";
}

TEST(FramePool, FramesOutliveThePoolsOwner) {
  auto pool = FramePool::make({PixelFormat::rgba8, {3, 3}}, MemoryKind::host, 1);
  Frame frame = pool->acquire();
  pool.reset();
  frame.image().row(2)[11] = 7;
  EXPECT_EQ(frame.image().row(2)[11], 7);
}

struct CountingOwner final : PictureOwner {
  int recycled = 0;
  void recycle() noexcept override { ++recycled; }
};

TEST(Picture, RecyclesOnceWhenTheLastShareGoes) {
  CountingOwner owner;
  const uint8_t pixel = 0;
  PictureRef ref;
  ref.planes[0] = &pixel;
  Picture first(ref, {}, &owner);
  Picture second = first.share();
  Picture third = std::move(first);
  second.reset();
  EXPECT_EQ(owner.recycled, 0);
  third.reset();
  EXPECT_EQ(owner.recycled, 1);
}

TEST(PictureInfo, PlaneSizesOfOddPictures) {
  PictureInfo nv12;
  nv12.extent = {17, 31};
  nv12.format = {.model = ColourModel::yuv,
                 .depth = 8,
                 .chroma_shift_x = 1,
                 .chroma_shift_y = 1,
                 .plane_count = 2,
                 .components = {{{0, 1, 0, 0}, {1, 2, 0, 0}, {1, 2, 1, 0}, {}}}};
  EXPECT_EQ(nv12.plane_row_bytes(0), 17u);
  EXPECT_EQ(nv12.plane_rows(0), 31);
  EXPECT_EQ(nv12.plane_row_bytes(1), 18u);
  EXPECT_EQ(nv12.plane_rows(1), 16);
}

TEST(NoticeList, HasTheFirst64AndIsEmptyAfterwards) {
  NoticeList list;
  for (int i = 0; i < 70; ++i) list.add(i % 2 == 1, std::to_string(i));
  std::vector<Notice> all{{true, "before"}};
  append(all, list.take());
  ASSERT_EQ(all.size(), 65u);
  EXPECT_EQ(all[0].text, "before");
  EXPECT_EQ(all[1].text, "0");
  EXPECT_FALSE(all[1].problem);
  EXPECT_EQ(all[64].text, "63");
  EXPECT_TRUE(all[64].problem);
  EXPECT_TRUE(list.take().empty());
}

}  // namespace
}  // namespace lensd
