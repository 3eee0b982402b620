#include "core/media/output/packet_ring.hpp"

namespace lensd {
namespace {

bool is_key(const AVPacket& packet) {
  return (packet.flags & AV_PKT_FLAG_KEY) != 0;
}

}  // namespace

void PacketRing::push(const AVPacket& packet) {
  if (packets_.empty() && !is_key(packet)) return;  // of a group whose beginning did not fit
  ff::PacketPtr copy = ff::make_packet();
  if (av_packet_ref(copy.get(), &packet) < 0)
    throw Error(ExitCode::runtime_failure, "recorder", "out of memory");
  bytes_ += packet.size;
  packets_.push_back(std::move(copy));
  for (size_t next = second_key(); next > 0; next = second_key()) {
    const bool enough = packet.pts - packets_[next]->pts >= max_ticks_;
    if (!enough && bytes_ <= max_bytes_) break;
    drop_front(next);
  }
  if (bytes_ > max_bytes_) clear();
}

void PacketRing::clear() {
  packets_.clear();
  bytes_ = 0;
}

/// Where the second group of pictures begins; 0: there is one only.
size_t PacketRing::second_key() const {
  for (size_t i = 1; i < packets_.size(); ++i)
    if (is_key(*packets_[i])) return i;
  return 0;
}

void PacketRing::drop_front(size_t count) {
  for (; count > 0; --count) {
    bytes_ -= packets_.front()->size;
    packets_.pop_front();
  }
}

}  // namespace lensd
