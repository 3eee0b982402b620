// Reads a live HLS stream ahead, and delivers its packets when they are due.
//
//   read-ahead thread: read() ──▶ queue of video packets, queue of audio packets ──▶ reader thread: next()
//
// The reader thread gets the packets at the rate of their timestamps, so all other parts of a live source
// work as for other streams. The demuxer belongs to the read-ahead thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "core/media/ffmpeg/interrupt.hpp"
#include "core/media/hls/packet_pace.hpp"

namespace lensd {

class ReadAhead {
 public:
  /// Reads the next packet. Returns 0 or an AVERROR. Called by the read-ahead thread.
  using Read = std::function<int(AVPacket&)>;
  struct Streams {
    int video = 0, audio = -1;  ///< indices of the streams; other packets are dropped
    AVRational video_base{1, 1}, audio_base{1, 1};
  };

  /// Starts the thread. `reserve_ns`: time to buffer before the first packet is due. `stop` must
  /// outlive this object. Throws std::exception if out of memory or threads.
  ReadAhead(Read read, const Streams& streams, const StopFlags& stop,
            int64_t reserve_ns = PacketPace::kReserveNs);
  /// Waits for the thread. Interrupt read() first.
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Waits until a packet is due, and moves it to `packet`. Returns 0, AVERROR_EXIT after an interruption, or
  /// the error of read() after all packets before it.
  int next(AVPacket& packet) noexcept;

 private:
  struct Kept {
    ff::PacketPtr packet;
    int64_t place = 0;
  };

  void run() noexcept;
  void put(ff::PacketPtr packet);
  int take(std::deque<Kept>& from, AVPacket& packet) noexcept;

  static constexpr int64_t kMaxBufferedBytes = 64 << 20;
  static constexpr size_t kMaxBufferedPackets = 100'000;

  const Read read_;
  const Streams streams_;
  const StopFlags& stop_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Kept> video_, audio_;  ///< oldest first
  int64_t bytes_ = 0;
  PacketPace pace_;
  int64_t newest_ = 0;  ///< PacketPace::place_video() of the newest video packet
  int error_ = 0;       ///< why the thread has ended; 0: it runs
  bool missing_ = true, ends_ = false;
  std::thread thread_;
};

}  // namespace lensd
