// Reads a live HLS stream ahead. The readers of these tests stand for the demuxer.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <thread>

#include "core/base/clock.hpp"
#include "core/media/hls/read_ahead.hpp"
#include "tests/unit/common/eventually.hpp"

namespace lensd {
namespace {

constexpr ReadAhead::Streams kPicturesAndSound{
    .video = 0, .audio = 1, .video_base = {1, 1000}, .audio_base = {1, 1000}};

/// Returns the processor time of this thread in nanoseconds.
int64_t own_time_ns() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000'000 + time.tv_nsec;
}

/// Makes `packet` one of stream `stream` at `time_ms`.
int make_timed(AVPacket& packet, int stream, int64_t time_ms) {
  if (const int error = av_new_packet(&packet, 16); error < 0) return error;
  packet.stream_index = stream;
  packet.pts = packet.dts = time_ms;
  return 0;
}

TEST(ReadAheadTest, PacketsComeInTheOrderOfTheirTimesThenTheError) {
  const StopFlags stop;
  int calls = 0;
  std::atomic<bool> all_read{false};
  const auto read = [&](AVPacket& packet) {
    switch (calls++) {
      case 0:
        return make_timed(packet, 0, 0);
      case 1:
        return make_timed(packet, 0, 40);
      case 2:
        return make_timed(packet, 1, 20);
      case 3:
        return make_timed(packet, 2, 0);  // a stream that nobody reads
      default:
        all_read = true;
        return AVERROR(EIO);
    }
  };
  ReadAhead ahead(read, kPicturesAndSound, stop);
  ASSERT_TRUE(eventually([&] { return all_read.load(); }));  // a packet that is read late is delivered late
  const ff::PacketPtr packet = ff::make_packet();
  for (const int64_t time_ms : {0, 20, 40}) {
    ASSERT_EQ(ahead.next(*packet), 0);
    EXPECT_EQ(packet->pts, time_ms);
  }
  EXPECT_EQ(ahead.next(*packet), AVERROR(EIO));
  EXPECT_EQ(ahead.next(*packet), AVERROR(EIO)) << "again";
}

TEST(ReadAheadTest, WaitingForTheServerTakesNoProcessorTime) {
  const StopFlags stop;
  const auto read = [](AVPacket&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    return AVERROR_EOF;
  };
  const int64_t begin = now_ns(), own = own_time_ns();
  ReadAhead ahead(read, kPicturesAndSound, stop);
  const ff::PacketPtr packet = ff::make_packet();
  EXPECT_EQ(ahead.next(*packet), AVERROR_EOF);
  EXPECT_GT(now_ns() - begin, 400'000'000);
  EXPECT_LT(own_time_ns() - own, 100'000'000);
}

TEST(ReadAheadTest, AnInterruptionEndsTheWait) {
  StopFlags stop;
  std::atomic<bool> ended{false};
  const auto read = [&](AVPacket&) {
    while (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return AVERROR_EXIT;
  };
  ReadAhead ahead(read, kPicturesAndSound, stop);
  std::thread client([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop.interrupted = true;
  });
  const ff::PacketPtr packet = ff::make_packet();
  EXPECT_EQ(ahead.next(*packet), AVERROR_EXIT);
  client.join();
  ended = true;
}

}  // namespace
}  // namespace lensd
