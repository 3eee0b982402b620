#include "core/media/live/mpegts/pes_flush.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace lensd {
namespace {

constexpr uint8_t kSync = 0x47;
constexpr int kRequiredPesAfterMistake = 200;
constexpr int kReadBytes = 32 * 1024;

/// Header of a transport packet; ISO/IEC 13818-1, 2.4.3.
struct TsHeader {
  explicit TsHeader(const uint8_t* p) noexcept
      : pid((p[1] & 0x1F) << 8 | p[2]),
        starts(p[1] & 0x40),
        adapted(p[3] & 0x20),
        usable(!(p[1] & 0x80) && !(p[3] & 0xC0) && (!adapted || p[4] < PesFlush::kPacket - 4)) {
    if (!usable) return;
    payload = !(p[3] & 0x10) ? PesFlush::kPacket : adapted ? 5u + p[4] : 4u;
    stuffed = adapted && p[4] > 0 ? bytes_used(p) < p[4] : adapted;
  }

  /// Returns the number of bytes in the adaptation field that are not stuffing.
  static int bytes_used(const uint8_t* p) noexcept {
    const uint8_t flags = p[5];
    int used = 1 + (flags & 0x10 ? 6 : 0) + (flags & 0x08 ? 6 : 0) + (flags & 0x04 ? 1 : 0);
    for (const int bit : {0x02, 0x01})  // private data, extension: each starts with its length
      if (flags & bit) used += used < p[4] ? 1 + p[5 + used] : 1;
    return used;
  }

  /// Returns true if a video PES packet without a length starts here.
  bool opens_video(const uint8_t* p) const noexcept {
    if (!starts || payload + 6 > PesFlush::kPacket) return false;
    const uint8_t* pes = p + payload;
    return pes[0] == 0 && pes[1] == 0 && pes[2] == 1 && (pes[3] & 0xF0) == 0xE0 && pes[4] == 0 && pes[5] == 0;
  }

  int pid;
  bool starts, adapted, usable, stuffed = false;  ///< usable: valid and not scrambled
  size_t payload = 0;                             ///< offset of the payload; kPacket: none
};

}  // namespace

void PesFlush::pass(std::span<const uint8_t> in, std::vector<uint8_t>& out) {
  if (!synced_ && !find_packets(in)) {
    out.insert(out.end(), in.begin(), in.end());
    return;
  }
  const size_t before = std::min(skip_, in.size());
  out.insert(out.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(before));
  skip_ -= before;
  for (in = in.subspan(before); !in.empty();) {
    const size_t part = std::min(kPacket - filled_, in.size());
    std::memcpy(packet_.data() + filled_, in.data(), part);
    out.insert(out.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(part));
    in = in.subspan(part);
    filled_ += part;
    if (filled_ < kPacket) return;
    filled_ = 0;
    if (packet_[0] != kSync) {
      synced_ = false;
      return pass(in, out);
    }
    if (programs_) programs_->put(packet_);
    if (inserts_ && ends_pes()) insert_end(out);
  }
}

/// Finds the first packet in `in`. Requires the sync bytes of two consecutive packets, or of three if `in` is
/// long enough, so that a data byte is not mistaken for one. Also accepts a datagram that is a single packet.
bool PesFlush::find_packets(std::span<const uint8_t> in) noexcept {
  const auto found_at = [this](size_t at) {
    skip_ = at, filled_ = 0, synced_ = true;
    pes_.fill(Pes::none);
    return true;
  };
  if (in.size() == kPacket && in[0] == kSync) return found_at(0);
  for (size_t at = 0; at < kPacket && at + kPacket < in.size(); ++at) {
    const bool third = at + 2 * kPacket >= in.size() || in[at + 2 * kPacket] == kSync;
    if (in[at] == kSync && in[at + kPacket] == kSync && third) return found_at(at);
  }
  return false;
}

/// Returns true if the current packet is the last of a PES packet and the sender's stuffing is reliable.
bool PesFlush::ends_pes() noexcept {
  const TsHeader header(packet_.data());
  if (!header.usable || header.payload >= kPacket) return false;
  Pes& pes = pes_[static_cast<size_t>(header.pid)];
  if (header.starts) {
    if (pes == Pes::ended) good_ = std::min(good_ + 1, required_good_);
    pes = header.opens_video(packet_.data()) ? Pes::open : Pes::none;
  } else if (pes == Pes::ended) {
    // The PES packet continues after stuffing, or the start of the next one was lost.
    good_ = 0, required_good_ = kRequiredPesAfterMistake;
    pes = Pes::none;
  }
  if (pes != Pes::open || !header.stuffed) return false;
  pes = Pes::ended;
  return good_ >= required_good_;
}

/// Inserts a packet that starts a PES packet and has one byte of payload. Its adaptation field signals a
/// discontinuity. It repeats the previous continuity counter, so that the next real packet has the expected
/// counter.
void PesFlush::insert_end(std::vector<uint8_t>& out) const {
  std::array<uint8_t, kPacket> end;
  end.fill(0xFF);
  end[0] = kSync;
  end[1] = static_cast<uint8_t>(0x40 | (packet_[1] & 0x1F));
  end[2] = packet_[2];
  end[3] = static_cast<uint8_t>(0x30 | (packet_[3] & 0x0F));
  end[4] = kPacket - 6;
  end[5] = 0x80;
  end[kPacket - 1] = 0;
  out.insert(out.end(), end.begin(), end.end());
}

TransportStreamIo::TransportStreamIo(AVIOContext* inner, bool flushes)
    : inner_(inner), flush_(&programs_, flushes), raw_(kReadBytes) {
  ready_.reserve(2 * kReadBytes);
  outer_ = ff::make_io(kReadBytes, this, read, nullptr, nullptr);
  // The demuxer would treat a jump of the position as a seek and drop the packet that it is reading.
  outer_->pos = avio_tell(inner_.get());
}

int TransportStreamIo::read(void* self, uint8_t* buffer, int size) noexcept {
  auto& io = *static_cast<TransportStreamIo*>(self);
  if (io.consumed_ == io.ready_.size()) {
    const int got = avio_read_partial(io.inner_.get(), io.raw_.data(), kReadBytes);
    if (got <= 0) return got < 0 ? got : AVERROR_EOF;
    io.ready_.clear(), io.consumed_ = 0;
    try {
      io.flush_.pass({io.raw_.data(), static_cast<size_t>(got)}, io.ready_);
    } catch (const std::bad_alloc&) {
      return AVERROR(ENOMEM);
    }
  }
  const size_t part = std::min(static_cast<size_t>(size), io.ready_.size() - io.consumed_);
  std::memcpy(buffer, io.ready_.data() + io.consumed_, part);
  io.consumed_ += part;
  return static_cast<int>(part);
}

}  // namespace lensd
