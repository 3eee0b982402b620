#include "core/media/live/live_audio.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "core/base/clock.hpp"

namespace lensd {
namespace {

constexpr int kMaxPacketBytes = 1 << 20;
constexpr int64_t kRefusedNs = 600'000'000'000;
constexpr int64_t kMaxKeptBytes = 16 << 20, kKeptNs = 4'000'000'000, kFlowsNs = 1'000'000'000;
constexpr size_t kKeptConnections = 4, kMaxPackets = 1 << 15;

/// Returns the memory that the packet holds.
int64_t bytes_of(const AVPacket& packet) {
  return packet.buf ? static_cast<int64_t>(packet.buf->size) : packet.size;
}

/// Moves the content to `out`, or copies it from a buffer that is much larger. Throws Error if out of memory.
void keep_content(AVPacket& packet, AVPacket& out) {
  constexpr int64_t kMaxWaste = 4096;
  if (packet.buf && bytes_of(packet) <= packet.size * int64_t{2} + kMaxWaste)
    return av_packet_move_ref(&out, &packet);
  ff::check_memory(av_new_packet(&out, packet.size));
  std::copy_n(packet.data, packet.size, out.data);
  ff::check_memory(av_packet_copy_props(&out, &packet));
}

LiveAudio::Connection copy_of(const LiveAudio::Connection& connection) {
  return {connection.number, ff::copy_of(connection.codec.get()), connection.time_base, connection.unparsed};
}

}  // namespace

LiveAudio::LiveAudio(int track) : track_(track), keep_ns_(kKeptNs) {
  connections_.emplace_back();
}

void LiveAudio::connected(const AVCodecParameters* codec, AVRational time_base, bool unparsed) {
  ff::ParametersPtr copy = ff::copy_of(codec);
  const std::lock_guard lock(mutex_);
  connections_.push_back({connections_.back().number + 1, std::move(copy), time_base, unparsed});
  if (connections_.size() > kKeptConnections) connections_.pop_front();
  unreadable_ = false;
  delay_.restart();
  changed_.notify_all();
}

void LiveAudio::put(AVPacket& packet) noexcept {
  const int64_t now = now_ns();
  const std::lock_guard lock(mutex_);
  if (packet.size <= 0 || packet.size > kMaxPacketBytes) return;
  const int64_t ticks = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
  if (ticks != AV_NOPTS_VALUE) {
    const int64_t stream_ns = ff::to_ns(ticks, connections_.back().time_base);
    if (!plausible(stream_ns)) return;
    delay_.audio(stream_ns, now);
  }
  try {
    Kept kept{ff::make_packet(), connections_.back().number, now};
    keep_content(packet, *kept.packet);
    const int64_t bytes = bytes_of(*kept.packet);
    packets_.push_back(std::move(kept));
    bytes_ += bytes;
  } catch (const std::exception&) {
    return;  // out of memory: the packet is lost
  }
  drop_old(now);
  changed_.notify_all();
}

void LiveAudio::drop_old(int64_t now) noexcept {
  while (!packets_.empty() && (now - packets_.front().arrival_ns > keep_ns_ || bytes_ > kMaxKeptBytes ||
                               packets_.size() > kMaxPackets)) {
    bytes_ -= bytes_of(*packets_.front().packet);
    packets_.pop_front();
    ++first_place_;
  }
}

void LiveAudio::picture(int64_t stream_ns, int64_t now_ns) noexcept {
  const std::lock_guard lock(mutex_);
  if (plausible(stream_ns)) delay_.picture(stream_ns, now_ns);
}

uint32_t LiveAudio::number() const {
  const std::lock_guard lock(mutex_);
  return connections_.back().number;
}

LiveAudio::Connection LiveAudio::connection() const {
  const std::lock_guard lock(mutex_);
  return copy_of(connections_.back());
}

LiveAudio::Connection LiveAudio::connection(uint32_t number) const {
  const std::lock_guard lock(mutex_);
  for (const Connection& connection : connections_)
    if (connection.number == number) return copy_of(connection);
  return {};
}

/// Returns the next packet of connection `number` and sets `place` to it; null if there is none. Call with
/// mutex_ locked.
const LiveAudio::Kept* LiveAudio::find(uint32_t number, uint64_t& place) const {
  for (place = std::max(place, first_place_); place - first_place_ < packets_.size(); ++place) {
    const Kept& kept = packets_[place - first_place_];
    if (kept.number == number) return &kept;
    if (kept.number > number) return nullptr;
  }
  return nullptr;
}

bool LiveAudio::next(AVPacket& out, uint32_t number, uint64_t& place) const {
  const std::lock_guard lock(mutex_);
  const Kept* kept = find(number, place);
  av_packet_unref(&out);
  if (!kept || av_packet_ref(&out, kept->packet.get()) < 0) return false;
  ++place;
  return true;
}

bool LiveAudio::take(AVPacket& out, uint32_t number, int64_t wait_ns) {
  std::unique_lock lock(mutex_);
  const uint64_t wakes = wakes_;
  const Kept* kept = nullptr;
  changed_.wait_for(lock, std::chrono::nanoseconds(wait_ns), [&] {
    kept = find(number, sound_place_);
    return kept || connections_.back().number != number || wakes_ != wakes;
  });
  if (!kept || connections_.back().number != number) return false;
  av_packet_unref(&out);
  if (av_packet_ref(&out, kept->packet.get()) < 0) return false;
  ++sound_place_;
  return true;
}

void LiveAudio::set_refused() noexcept {
  refused_until_ns_ = now_ns() + kRefusedNs;
}

bool LiveAudio::refused() const noexcept {
  return now_ns() < refused_until_ns_;
}

void LiveAudio::keep(int64_t ns) noexcept {
  const std::lock_guard lock(mutex_);
  keep_ns_ = std::max(keep_ns_, ns + kKeptNs);
}

uint64_t LiveAudio::place_since(int64_t ns) const {
  const std::lock_guard lock(mutex_);
  const int64_t since = now_ns() - ns;
  const auto first =
      std::ranges::find_if(packets_, [&](const Kept& kept) { return kept.arrival_ns >= since; });
  return first_place_ + static_cast<uint64_t>(first - packets_.begin());
}

bool LiveAudio::flows(uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return !packets_.empty() && packets_.back().number == number &&
         now_ns() - packets_.back().arrival_ns < kFlowsNs;
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

}  // namespace lensd
