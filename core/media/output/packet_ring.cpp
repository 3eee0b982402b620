#include "core/media/output/packet_ring.hpp"

namespace lensd {

void PacketRing::push(const AVPacket& packet) {
  if (packets_.empty() && !ff::is_key(packet)) return;  // after clear(): wait for the next key frame
  ff::PacketPtr copy = ff::make_packet();
  ff::check_memory(av_packet_ref(copy.get(), &packet));
  bytes_ += packet.size;
  packets_.push_back(std::move(copy));
  for (size_t next = second_key(); next > 0; next = second_key()) {
    const bool enough = packet.pts - packets_[next]->pts >= max_ticks_;
    if (!enough && bytes_ <= max_bytes_) break;
    for (; next > 0; --next) {
      bytes_ -= packets_.front()->size;
      packets_.pop_front();
    }
  }
  if (bytes_ > max_bytes_) clear();
}

void PacketRing::clear() {
  packets_.clear();
  bytes_ = 0;
}

/// Returns the index of the second key frame; 0 if there is none.
size_t PacketRing::second_key() const {
  for (size_t i = 1; i < packets_.size(); ++i)
    if (ff::is_key(*packets_[i])) return i;
  return 0;
}

}  // namespace lensd
