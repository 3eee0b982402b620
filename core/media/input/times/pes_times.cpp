#include "core/media/input/times/pes_times.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace lensd {
namespace {

constexpr size_t kChunkBytes = 64 * 1024;
constexpr size_t kPacketBytes = 188;
/// Distances of transport packets: alone, with a time code (Blu-ray), with a checksum (DVB).
constexpr std::array<size_t, 3> kDistances = {188, 192, 204};
constexpr uint8_t kPacketSync = 0x47;
/// Longest header of a PES packet up to its timestamps: 16 stuffing bytes of MPEG-1, buffer size, PTS, DTS.
constexpr size_t kHeaderBytes = 40;

/// Returns the 33 bits of a timestamp, or nullopt if its marker bits are missing.
std::optional<int64_t> timestamp(std::span<const uint8_t> p) {
  if (p.size() < 5 || !(p[0] & p[2] & p[4] & 1)) return std::nullopt;
  return (int64_t{p[0]} >> 1 & 7) << 30 | int64_t{p[1]} << 22 | int64_t{p[2]} >> 1 << 15 |
         int64_t{p[3]} << 7 | p[4] >> 1;
}

/// Sets the times of a PES packet. Returns false if it has none.
bool read_times(std::span<const uint8_t> p, PesTime& out) {
  if (p.size() < 9 || p[0] != 0 || p[1] != 0 || p[2] != 1) return false;
  size_t at = 9;
  bool has_dts = false;
  if ((p[6] & 0xC0) == 0x80) {
    if (!(p[7] & 0x80)) return false;
    has_dts = p[7] & 0x40;
  } else {  // MPEG-1
    at = 6;
    while (at < p.size() && p[at] == 0xFF) ++at;
    if (at < p.size() && (p[at] & 0xC0) == 0x40) at += 2;
    if (at >= p.size() || ((p[at] & 0xF0) != 0x20 && (p[at] & 0xF0) != 0x30)) return false;
    has_dts = p[at] & 0x10;
  }
  if (at > p.size()) return false;
  const auto pts = timestamp(p.subspan(at));
  const auto dts = has_dts && at + 5 <= p.size() ? timestamp(p.subspan(at + 5)) : pts;
  if (!pts || !dts) return false;
  out.pts = *pts, out.dts = *dts;
  return true;
}

}  // namespace

PesTimes::PesTimes(AVIOContext& io, const AVStream& stream, bool transport)
    : io_(io), transport_(transport), id_(transport ? stream.id : stream.id & 0xFF) {
  seek(0);
}

void PesTimes::seek(int64_t position) {
  begin_ = position, at_ = 0, in_step_ = false;
  buffer_.clear();
  avio_seek(&io_, position, SEEK_SET);
}

bool PesTimes::next(PesTime& out, int64_t end) {
  return transport_ ? next_transport(out, end) : next_program(out, end);
}

/// Removes the used bytes and appends the next bytes of the file. Returns false at the end of the file.
bool PesTimes::fill() {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(at_));
  begin_ += static_cast<int64_t>(at_), at_ = 0;
  const size_t kept = buffer_.size();
  buffer_.resize(kept + kChunkBytes);
  const int got = avio_read(&io_, buffer_.data() + kept, static_cast<int>(kChunkBytes));
  buffer_.resize(kept + static_cast<size_t>(std::max(got, 0)));
  return got > 0;
}

/// Finds the next position at which four transport packets follow each other. Returns false if there is none
/// in the buffer.
bool PesTimes::find_packets() {
  const auto fits = [&](size_t distance) {
    for (size_t i = 0; i < 4; ++i)
      if (at_ + i * distance >= buffer_.size() || buffer_[at_ + i * distance] != kPacketSync) return false;
    return true;
  };
  for (; at_ + 3 * kDistances.front() < buffer_.size(); ++at_)
    for (const size_t distance : kDistances) {
      if ((packet_ != 0 && distance != packet_) || !fits(distance)) continue;
      packet_ = distance;
      return in_step_ = true;
    }
  return false;
}

bool PesTimes::next_transport(PesTime& out, int64_t end) {
  while (position() < end) {
    while (rest().size() < kPacketBytes)
      if (!fill()) return false;
    if (in_step_ && buffer_[at_] != kPacketSync) in_step_ = false;
    if (!in_step_ && !find_packets()) {
      if (!fill()) return false;
      continue;
    }
    const auto packet = rest().first(kPacketBytes);
    const int64_t begin = position() + static_cast<int64_t>(kPacketBytes) - static_cast<int64_t>(packet_);
    at_ = std::min(at_ + packet_, buffer_.size());
    const bool starts = packet[1] & 0x40, payload = packet[3] & 0x10, adapts = packet[3] & 0x20;
    if (!starts || !payload || ((packet[1] & 0x1F) << 8 | packet[2]) != id_) continue;
    const size_t header = 4 + (adapts ? size_t{packet[4]} + 1 : 0);
    if (header >= kPacketBytes || !read_times(packet.subspan(header), out)) continue;
    out.position = begin;
    return true;
  }
  return false;
}

bool PesTimes::next_program(PesTime& out, int64_t end) {
  while (position() < end) {
    if (rest().size() < kHeaderBytes && !fill() && rest().size() < 9) return false;
    const auto bytes = rest();
    size_t i = 0;
    // A start code is 0, 0, 1, and the number of the stream.
    while (i + 9 <= bytes.size() &&
           (bytes[i] != 0 || bytes[i + 1] != 0 || bytes[i + 2] != 1 || bytes[i + 3] != id_))
      i += bytes[i + 2] > 1 ? 3 : 1;
    at_ += std::min(i, bytes.size());
    if (rest().size() < kHeaderBytes && fill()) continue;
    if (rest().size() < 9) return false;
    out.position = position();
    const bool timed = read_times(rest().first(std::min(rest().size(), kHeaderBytes)), out);
    at_ += 4;
    if (timed) return true;
  }
  return false;
}

}  // namespace lensd
