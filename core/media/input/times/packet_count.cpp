#include "core/media/input/times/packet_count.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "core/base/clock.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {
namespace {

/// Times in Matroska and FLV files are rounded to milliseconds.
constexpr int64_t kRoundedNs = 1'100'000;

/// Returns the number of shown pictures before a packet. Returns nullopt if the index may be incomplete: that
/// of a fragmented MP4 grows with each fragment that is read.
std::optional<int64_t> pictures_before(AVStream& stream, const AVPacket& packet) {
  const int entries = avformat_index_get_entries_count(&stream);
  if (entries == 0 || entries > stream.nb_frames || packet.dts == AV_NOPTS_VALUE) return std::nullopt;
  int64_t shown = 0;
  for (int i = 0; i < entries; ++i) {
    const AVIndexEntry* entry = avformat_index_get_entry(&stream, i);
    if (entry->pos == packet.pos && entry->timestamp == packet.dts) return shown;
    if (!(entry->flags & AVINDEX_DISCARD_FRAME)) ++shown;
  }
  return std::nullopt;
}

}  // namespace

void PacketCount::restart(const AVFormatContext* context) {
  stop();
  // The index of an AVI file also lists omitted frames.
  active_ = first_ =
      context && context->iformat && std::string_view(context->iformat->name).starts_with("mov");
}

void PacketCount::stop() {
  active_ = false;
  earlier_.reset();
  times_ns_ = {};
}

void PacketCount::read(AVStream& stream, const AVPacket& packet) {
  if (!active_) return;
  if (std::exchange(first_, false)) earlier_ = pictures_before(stream, packet);
  if (!earlier_ || packet.pts == AV_NOPTS_VALUE) return stop();
  if (!(packet.flags & AV_PKT_FLAG_DISCARD)) times_ns_.push_back(ff::to_ns(packet.pts, stream.time_base));
}

std::optional<int64_t> PacketCount::before(int64_t stamp_ns) const {
  if (!earlier_) return std::nullopt;
  return *earlier_ + std::ranges::count_if(times_ns_, [&](int64_t time_ns) { return time_ns < stamp_ns; });
}

void RateWatch::add(int64_t pts_ns, bool follows) {
  const int64_t off_ns = std::abs(pts_ns - last_ns_ - nominal_ns_);
  if (follows && off_ns > std::max(nominal_ns_ / 4, kRoundedNs)) varies_ = true;
  last_ns_ = pts_ns;
}

void RateWatch::landed(int64_t pts_ns, double fps) {
  if (fps <= 0) return;
  const double frames = to_s(pts_ns) * fps;
  const auto off_ns = static_cast<int64_t>(std::abs(frames - std::round(frames)) * 1e9 / fps);
  if (off_ns > std::max(nominal_ns_ / 16, kRoundedNs)) varies_ = true;
}

double mean_rate(double fps, const AVStream& stream) {
  const AVRational rate = stream.avg_frame_rate;
  const double mean = rate.num > 0 && rate.den > 0 ? av_q2d(rate) : fps;
  return std::abs(mean - fps) > 0.02 * fps ? mean : fps;
}

}  // namespace lensd
