// PlayoutDelay with scripted arrivals.
#include "core/media/live/playout_delay.hpp"

#include <gtest/gtest.h>

namespace lensd {
namespace {

constexpr int64_t kMs = 1'000'000, kStepNs = 20 * kMs, kOutput = 100 * kMs;
constexpr int64_t kStart = 1'000'000 * kMs;  ///< monotonic time at which timestamp 0 is sent

class PlayoutDelayTest : public testing::Test {
 protected:
  /// Sends packets from `from_ms` to `to_ms` of stream time; `late_ms(i)`: the delay of packet i.
  template <class Late>
  void send(int64_t from_ms, int64_t to_ms, const Late& late_ms) {
    for (int64_t t = from_ms * kMs, i = 0; t < to_ms * kMs; t += kStepNs, ++i)
      delay_.audio(t, kStart + t + late_ms(i) * kMs);
  }
  /// Returns the target as a delay after sending, in ms.
  int64_t target_ms() const { return (delay_.target_ns(kOutput).value_or(0) - kStart) / kMs; }

  PlayoutDelay delay_;
};

TEST_F(PlayoutDelayTest, CoversTheJitter) {
  EXPECT_FALSE(delay_.target_ns(kOutput));
  send(0, 3000, [](int64_t i) { return 5 + (i % 7) * 5; });  // 5 to 35 ms
  EXPECT_EQ(target_ms(), 35 + 100 + 20);
  send(3000, 20000, [](int64_t) { return 5; });
  EXPECT_EQ(target_ms(), 5 + 100 + 20) << "older jitter is forgotten";
}

TEST_F(PlayoutDelayTest, AnOutageDoesNotAddDelay) {
  send(0, 3000, [](int64_t) { return 10; });
  // The network stalls for 0.8 s, then delivers everything at once.
  send(3000, 3800, [](int64_t i) { return 10 + 800 - i * 20; });
  send(3800, 4000, [](int64_t) { return 10; });
  EXPECT_LE(target_ms(), 10 + 400 + 100 + 20);
  send(4000, 20000, [](int64_t) { return 10; });
  EXPECT_EQ(target_ms(), 10 + 100 + 20);
}

TEST_F(PlayoutDelayTest, AStreamThatStaysLateIsFollowed) {
  send(0, 3000, [](int64_t) { return 10; });
  send(3000, 5000, [](int64_t) { return 3000; });
  EXPECT_EQ(target_ms(), 3000 + 100 + 20);
}

TEST_F(PlayoutDelayTest, TheBufferOfASenderDoesNotAddDelay) {
  // The first two seconds arrive at once.
  send(0, 2000, [](int64_t i) { return 2000 - i * 20; });
  send(2000, 3000, [](int64_t) { return 0; });
  EXPECT_LE(target_ms(), 100 + 20 + 20);
}

TEST_F(PlayoutDelayTest, PacketsThatArriveTogetherCountOnce) {
  // Bundles of 500 ms: all their packets arrive with the last one.
  for (int64_t bundle = 0; bundle < 20; ++bundle)
    for (int64_t t = 0; t < 500 * kMs; t += kStepNs) {
      const int64_t arrival_ns = kStart + (bundle * 500 + 500 + bundle % 3 * 10) * kMs;
      delay_.audio(bundle * 500 * kMs + t, arrival_ns + t / 1000);
    }
  EXPECT_EQ(target_ms(), 500 + 20 + 100 + 20) << "the delay of the first packet, its jitter, output, margin";
}

TEST_F(PlayoutDelayTest, OnePacketThatIsFasterForgetsNoJitter) {
  send(0, 3000, [](int64_t i) { return 50 + (i % 7) * 5; });  // 50 to 80 ms
  delay_.audio(3000 * kMs, kStart + (3000 + 20) * kMs);
  EXPECT_EQ(target_ms(), 80 + 100 + 20);
}

TEST_F(PlayoutDelayTest, AJumpOfTimestampsStartsAgain) {
  send(0, 1000, [](int64_t) { return 10; });
  delay_.audio(3'600'000 * kMs, kStart + 1000 * kMs);
  EXPECT_EQ(*delay_.target_ns(kOutput) + 3'600'000 * kMs, kStart + 1000 * kMs + 120 * kMs);
}

TEST_F(PlayoutDelayTest, WaitsForPicturesThatArriveLater) {
  delay_.picture(0, kStart);
  EXPECT_FALSE(delay_.target_ns(kOutput));
  send(0, 1000, [](int64_t) { return 10; });
  delay_.picture(900 * kMs, kStart + (900 + 10 + 400) * kMs);
  EXPECT_EQ(target_ms(), 10 + 400 + 30);
  delay_.picture(900 * kMs, kStart + (900 + 10 + 5000) * kMs);
  EXPECT_EQ(target_ms(), 10 + 400 + 30) << "not for those that are seconds late";
  delay_.picture(8000 * kMs, kStart + (8000 + 900) * kMs);
  EXPECT_EQ(target_ms(), 10 + 400 + 30) << "nor while there is no audio";
  send(1000, 12000, [](int64_t) { return 10; });
  EXPECT_EQ(target_ms(), 10 + 120);
}

}  // namespace
}  // namespace lensd
