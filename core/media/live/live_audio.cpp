#include "core/media/live/live_audio.hpp"

#include <chrono>

#include "core/base/clock.hpp"

namespace lensd {
namespace {

/// Returns a copy; null for null.
ff::ParametersPtr copy_of(const AVCodecParameters* codec) {
  if (!codec) return nullptr;
  ff::ParametersPtr copy(ff::allocated(avcodec_parameters_alloc()));
  ff::check_memory(avcodec_parameters_copy(copy.get(), codec));
  return copy;
}

}  // namespace

LiveAudio::LiveAudio(int track) : track_(track) {
  for (ff::PacketPtr& packet : packets_) packet = ff::make_packet();
}

void LiveAudio::connected(const AVCodecParameters* codec, AVRational time_base, bool unparsed) {
  ff::ParametersPtr copy = copy_of(codec);
  const std::lock_guard lock(mutex_);
  ++connection_.number;
  unreadable_ = false;
  connection_.codec = std::move(copy);
  connection_.time_base = time_base;
  connection_.unparsed = unparsed;
  drop_packets();
  delay_.restart();
  changed_.notify_all();
}

void LiveAudio::put(AVPacket& packet) noexcept {
  const int64_t now = now_ns();
  const std::lock_guard lock(mutex_);
  if (packet.size <= 0 || packet.size > kMostBytes) return;
  const int64_t ticks = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if (ticks != AV_NOPTS_VALUE) {
    const int64_t stream_ns = ff::to_ns(ticks, connection_.time_base);
    if (!plausible(stream_ns)) return;
    delay_.audio(stream_ns, now);
  }
  if (count_ == kPackets) {
    av_packet_unref(packets_[first_].get());
    first_ = (first_ + 1) % kPackets, --count_;
  }
  av_packet_move_ref(packets_[(first_ + count_++) % kPackets].get(), &packet);
  changed_.notify_all();
}

void LiveAudio::picture(int64_t stream_ns, int64_t now_ns) noexcept {
  const std::lock_guard lock(mutex_);
  if (plausible(stream_ns)) delay_.picture(stream_ns, now_ns);
}

uint32_t LiveAudio::number() const {
  const std::lock_guard lock(mutex_);
  return connection_.number;
}

LiveAudio::Connection LiveAudio::connection() const {
  const std::lock_guard lock(mutex_);
  return {connection_.number, copy_of(connection_.codec.get()), connection_.time_base, connection_.unparsed};
}

bool LiveAudio::take(AVPacket& out, uint32_t number, int64_t wait_ns) {
  std::unique_lock lock(mutex_);
  const uint64_t wakes = wakes_;
  changed_.wait_for(lock, std::chrono::nanoseconds(wait_ns),
                    [&] { return count_ > 0 || connection_.number != number || wakes_ != wakes; });
  if (count_ == 0 || connection_.number != number) return false;
  av_packet_unref(&out);
  av_packet_move_ref(&out, packets_[first_].get());
  first_ = (first_ + 1) % kPackets, --count_;
  return true;
}

void LiveAudio::wake() noexcept {
  const std::lock_guard lock(mutex_);
  ++wakes_;
  changed_.notify_all();
}

std::optional<int64_t> LiveAudio::target_ns(int64_t output_ns) const {
  const std::lock_guard lock(mutex_);
  return delay_.target_ns(output_ns);
}

int64_t LiveAudio::first_ns() const {
  const std::lock_guard lock(mutex_);
  return delay_.first_ns();
}

void LiveAudio::publish(uint32_t number, int64_t delay_ns) noexcept {
  playout_.store({number, delay_ns});
}

int64_t LiveAudio::due_ns(uint32_t number, int64_t stream_ns) const noexcept {
  const Playout playout = playout_.load();
  const bool known = number != 0 && playout.number == number && plausible(stream_ns);
  return known ? stream_ns + playout.delay_ns : 0;
}

void LiveAudio::drop_packets() noexcept {
  for (; count_ > 0; --count_, first_ = (first_ + 1) % kPackets) av_packet_unref(packets_[first_].get());
}

}  // namespace lensd
