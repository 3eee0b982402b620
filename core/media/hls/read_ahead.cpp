#include "core/media/hls/read_ahead.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "core/base/clock.hpp"

namespace lensd {
namespace {

/// Interval at which an interruption is checked.
constexpr int64_t kPollNs = 20'000'000;
/// Added to the size of each packet, so that empty ones are limited as well.
constexpr int64_t kPacketOverhead = 256;

int64_t kept_bytes(const AVPacket& packet) {
  return kPacketOverhead + packet.size;
}

}  // namespace

ReadAhead::ReadAhead(Read read, const Streams& streams, const StopFlags& stop, int64_t reserve_ns)
    : read_(std::move(read)), streams_(streams), stop_(stop), pace_(reserve_ns), thread_([this] { run(); }) {}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void ReadAhead::run() noexcept {
  int error = 0;
  try {
    while (error >= 0) {
      ff::PacketPtr packet = ff::make_packet();
      error = read_(*packet);
      if (error >= 0) put(std::move(packet));
      const std::lock_guard lock(mutex_);
      if (ends_) error = AVERROR_EXIT;
    }
  } catch (const std::exception&) {
    error = AVERROR(ENOMEM);
  }
  const std::lock_guard lock(mutex_);
  error_ = error;
  changed_.notify_all();
}

/// Keeps a packet for next(). Waits while the buffer is full.
void ReadAhead::put(ff::PacketPtr packet) {
  const bool video = packet->stream_index == streams_.video;
  if (!video && packet->stream_index != streams_.audio) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] {
    return ends_ || (bytes_ < kMaxBufferedBytes && video_.size() + audio_.size() < kMaxBufferedPackets);
  });
  const int64_t ticks = packet->dts != AV_NOPTS_VALUE ? packet->dts : packet->pts;
  const int64_t time =
      ticks == AV_NOPTS_VALUE ? 0 : ff::to_ns(ticks, video ? streams_.video_base : streams_.audio_base);
  int64_t place = newest_;
  if (ticks != AV_NOPTS_VALUE && plausible(time))
    place = video ? pace_.place_video(time) : pace_.place_audio(time);
  if (video) newest_ = place;
  bytes_ += kept_bytes(*packet);
  (video ? video_ : audio_).push_back({std::move(packet), place});
  changed_.notify_all();
}

int ReadAhead::next(AVPacket& packet) noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (stop_.raised()) return AVERROR_EXIT;
    const int64_t now = now_ns();
    int64_t wake = now + kPollNs;
    if (video_.empty() && audio_.empty()) {
      if (error_ < 0) return error_;
      missing_ = true;
    } else {
      const bool video = audio_.empty() || (!video_.empty() && video_.front().place <= audio_.front().place);
      std::deque<Kept>& from = video ? video_ : audio_;
      missing_ = missing_ || video_.empty();
      const int64_t due = pace_.due_ns(from.front().place, now, video && missing_);
      if (video) missing_ = false;
      if (due <= now) return take(from, packet);
      wake = std::min(wake, due);
    }
    changed_.wait_for(lock, std::chrono::nanoseconds(wake - now));
  }
}

int ReadAhead::take(std::deque<Kept>& from, AVPacket& packet) noexcept {
  Kept kept = std::move(from.front());
  from.pop_front();
  bytes_ -= kept_bytes(*kept.packet);
  if (&from == &video_) pace_.delivered(kept.place, newest_, now_ns());
  av_packet_unref(&packet);
  av_packet_move_ref(&packet, kept.packet.get());
  changed_.notify_all();
  return 0;
}

}  // namespace lensd
