// StreamSink: an output whose encoder or connection fails is started again, and its status has the reason.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "app/pipeline/stream_sink.hpp"
#include "core/base/unique_fd.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

constexpr Extent kGoodSize{64, 48};
/// Its width is a multiple of 4096, which FFmpeg's encoder of MPEG-2 refuses.
constexpr Extent kRefusedSize{4096, 16};

class StreamSinkTest : public testing::Test {
 protected:
  StreamSinkTest() {
    info_.fps = 25, info_.live = true;
    encoder_.codec = "mpeg2video";
  }

  /// Sends one frame every 5 ms until `done` returns true, for at most 20 s. Returns the result of `done`.
  template <class F>
  bool send_until(StreamSink& sink, Extent size, F done) {
    const auto pool = FramePool::make({PixelFormat::gray8, size}, MemoryKind::host, 8);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done() && std::chrono::steady_clock::now() < end) {
      Frame frame = pool->acquire();
      frame.info.index = index_, frame.info.pts_ns = index_ * 40'000'000, frame.info.duration_ns = 40'000'000;
      ++index_;
      sink.take(frame, Picture(), {});
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return done();
  }
  static size_t problems(const std::vector<Notice>& notices) {
    return static_cast<size_t>(std::ranges::count_if(notices, [](const Notice& n) { return n.problem; }));
  }

  SourceInfo info_;
  EncoderOptions encoder_;
  int64_t index_ = 0;
};

TEST_F(StreamSinkTest, AnEncoderThatFailsIsStartedAgain) {
  StreamSink sink("udp://127.0.0.1:9", encoder_, info_);
  ASSERT_TRUE(send_until(sink, kRefusedSize, [&] { return sink.status().state == "waiting"; }));
  SinkStatus status = sink.status();
  EXPECT_FALSE(status.active);
  EXPECT_FALSE(status.problem.empty());
  EXPECT_EQ(status.problem.find('\n'), std::string::npos) << status.problem;
  // Long enough for the second attempt, which is not reported again.
  const auto second = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
  send_until(sink, kRefusedSize, [&] { return std::chrono::steady_clock::now() > second; });
  std::vector<Notice> notices = sink.take_notices();
  EXPECT_EQ(problems(notices), 1u);
  const uint64_t lost = sink.status().dropped;
  EXPECT_GT(lost, 10u) << "frames without an encoder are counted";

  ASSERT_TRUE(send_until(sink, kGoodSize, [&] { return sink.status().frames > 10; }))
      << sink.status().state << ' ' << sink.status().problem;
  status = sink.status();
  EXPECT_EQ(status.state, "sending");
  EXPECT_TRUE(status.active);
  EXPECT_EQ(status.problem, "");
  EXPECT_EQ(problems(sink.take_notices()), 0u);
  sink.finish();
  EXPECT_EQ(sink.failure(), "") << "it works again";
}

TEST_F(StreamSinkTest, AnEncoderThatNeverWorksIsAFailure) {
  StreamSink sink("udp://127.0.0.1:9", encoder_, info_);
  ASSERT_TRUE(send_until(sink, kRefusedSize, [&] { return sink.status().state == "waiting"; }));
  const std::string reason = sink.status().problem;
  sink.finish();
  EXPECT_EQ(sink.failure(), reason);
}

TEST_F(StreamSinkTest, AnEncoderThatFailsLaterIsStartedAgain) {
  StreamSink sink("udp://127.0.0.1:9", encoder_, info_);
  ASSERT_TRUE(send_until(sink, kGoodSize, [&] { return sink.status().frames > 5; }));
  ASSERT_TRUE(send_until(sink, kRefusedSize, [&] { return sink.status().state == "waiting"; }));
  const int64_t before = sink.status().frames;
  EXPECT_TRUE(send_until(sink, kGoodSize, [&] { return sink.status().frames > before + 5; }));
  EXPECT_EQ(sink.status().problem, "");
}

TEST_F(StreamSinkTest, TheStatusHasTheReasonOfALostConnection) {
  sockaddr_in address = {};
  socklen_t size = sizeof address;
  {
    const UniqueFd closed(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    address.sin_family = AF_INET, address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(closed.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
    getsockname(closed.get(), reinterpret_cast<sockaddr*>(&address), &size);
  }
  encoder_.codec.clear();
  StreamSink sink("rtmp://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/live/x", encoder_, info_);
  ASSERT_TRUE(send_until(sink, kGoodSize, [&] { return sink.status().state == "waiting"; }));
  EXPECT_EQ(sink.status().problem, "connection refused");
  sink.finish();
  EXPECT_EQ(sink.status().problem, "");
  EXPECT_TRUE(sink.failure().ends_with(": nothing was sent: connection refused")) << sink.failure();
}

TEST_F(StreamSinkTest, AStreamWithoutFramesIsNoFailure) {
  StreamSink sink("rtmp://127.0.0.1:9/live/x", encoder_, info_);
  sink.finish();
  EXPECT_EQ(sink.failure(), "");
}

}  // namespace
}  // namespace lensd
