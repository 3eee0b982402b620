#include "core/media/input/times/joined_parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <utility>

namespace lensd {
namespace {

constexpr int64_t kWholeBytes = 64 << 20;  ///< larger files are not read completely
constexpr int kPlaces = 64;
/// Ranges of at most this size are read completely. Before a join, this number of bytes is read, to find the
/// picture that is presented last.
constexpr int64_t kScanBytes = 4 << 20;
/// A picture is searched for in at most this number of bytes, because the rest of the file may have none: the
/// stream's pictures may end early, or the file may continue with another stream.
constexpr int64_t kSearchBytes = 16 << 20;
/// The smallest presentation time of a part is among this number of pictures at its start in the file.
constexpr int kReordered = 32;
/// Number of pictures that are read after a range, to confirm a part and to find its first picture.
constexpr int kMargin = 2 * kReordered;
/// Timestamps that go back by more than kJump begin another part, as in TimestampNormalizer. The next picture
/// must follow within kGap: a damaged timestamp begins no part. In files with such a part, a gap of more than
/// kGap begins another part, too.
constexpr int64_t kJump = kMpegRate, kGap = 10 * kMpegRate;
/// Times of a part may be up to this much before its first picture.
constexpr int64_t kBeforePart = 3600 * kMpegRate;
/// Sound that goes back by more than this belongs to the next part.
constexpr int64_t kUnordered = kMpegRate / 2;
constexpr int64_t kDefaultFrame = kMpegRate / 25;
constexpr int64_t kShortestFrame = 9;  ///< a shorter duration is the resolution of the timestamps

int64_t since(int64_t ticks, int64_t first) {
  return mpeg_difference(ticks, first, -kBeforePart);
}

int64_t nominal_duration(AVFormatContext& context, AVStream& video) {
  const AVRational rate = av_guess_frame_rate(&context, &video, nullptr);
  if (rate.num <= 0 || rate.den <= 0) return kDefaultFrame;
  const int64_t ticks = av_rescale(kMpegRate, rate.den, rate.num);
  return ticks < kShortestFrame ? kDefaultFrame : ticks;
}

}  // namespace

class JoinedParts::Finder {
 public:
  Finder(PesTimes& times, const StopFlags& stop) : times_(times), stop_(stop) {}

  /// Adds the pictures between two positions, and kMargin further ones. Ranges must be in the file's order.
  void read(int64_t begin, int64_t end) {
    begin = std::max<int64_t>(begin, 0);
    skipped_ = begin > position_;
    times_.seek(begin);
    PesTime time;
    const auto limit = [&] { return std::max(end, time.position) + kSearchBytes; };
    for (int after = 0; after < kMargin && !stop_.raised() && times_.next(time, limit());) {
      if (time.position >= end) ++after;
      add(time);
    }
  }
  /// Adds the pictures at the beginning, at the joins and at the end of a large file.
  void read_joins(int64_t bytes) {
    std::vector<PesTime> places;
    for (int i = 0; i <= kPlaces && !stop_.raised(); ++i) {
      const int64_t position = i < kPlaces ? bytes / kPlaces * i : bytes - kScanBytes;
      if (const auto time = at(position)) places.push_back(*time);
    }
    set_longest_step(places);
    read(0, 0);
    for (size_t i = 1; i < places.size(); ++i)
      if (unsteady(places[i - 1], places[i])) narrow(places[i - 1], places[i]);
    read(bytes - kScanBytes, bytes);
  }
  /// Returns the parts. Returns none if no part goes back: then all times of the file stay unchanged.
  std::vector<Part> take() && {
    return std::ranges::any_of(parts_, &Part::goes_back) ? std::move(parts_) : std::vector<Part>();
  }

 private:
  static int64_t step(const PesTime& from, const PesTime& to) { return mpeg_difference(to.dts, from.dts); }
  static bool jumps(const PesTime& from, const PesTime& to) {
    return step(from, to) < -kJump || step(from, to) > kGap;
  }

  std::optional<PesTime> at(int64_t position) {
    times_.seek(position);
    PesTime time;
    return times_.next(time, position + kSearchBytes) ? std::optional(time) : std::nullopt;
  }
  /// Sets the limit above which a step between two places may contain a gap, from the median step.
  void set_longest_step(const std::vector<PesTime>& places) {
    std::vector<int64_t> steps{0};
    for (size_t i = 1; i < places.size(); ++i) steps.push_back(step(places[i - 1], places[i]));
    const auto middle = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
    std::ranges::nth_element(steps, middle);
    longest_step_ = 4 * std::max<int64_t>(*middle, 0) + kGap;
  }
  bool unsteady(const PesTime& from, const PesTime& to) const {
    return step(from, to) < 0 || step(from, to) > longest_step_;
  }
  /// Finds the joins between two places by bisection and adds the pictures around them.
  void narrow(const PesTime& from, const PesTime& to) {
    if (stop_.raised()) return;
    const int64_t half = (to.position - from.position) / 2;
    const auto middle = 2 * half > kScanBytes ? at(from.position + half) : std::nullopt;
    if (!middle || middle->position >= to.position) return read(from.position - kScanBytes, to.position);
    if (unsteady(from, *middle)) narrow(from, *middle);
    if (unsteady(*middle, to)) narrow(*middle, to);
  }

  void add(const PesTime& time) {
    if (time.position <= std::exchange(position_, std::max(position_, time.position))) return;
    const bool skipped = std::exchange(skipped_, false);
    if (parts_.empty()) return begin(time, false);
    const auto jumped = std::exchange(jumped_, std::nullopt);
    const PesTime& last = parts_.back().end;
    if (!jumps(last, time) || (skipped && step(last, time) > 0)) return append(time);
    if (!jumped || jumps(*jumped, time)) {
      jumped_ = time;
      return;
    }
    begin(*jumped, step(last, *jumped) < 0);
    append(time);
  }
  void begin(const PesTime& time, bool goes_back) {
    parts_.push_back(
        {.begin = time, .end = time, .first_pts = time.pts, .pictures = 1, .goes_back = goes_back});
  }
  void append(const PesTime& time) {
    Part& part = parts_.back();
    part.end = time;
    int64_t pts = since(time.pts, part.first_pts);
    if (++part.pictures <= kReordered && pts < 0) part.first_pts = time.pts, part.length -= pts, pts = 0;
    part.length = std::max(part.length, pts);
  }

  PesTimes& times_;
  const StopFlags& stop_;
  std::vector<Part> parts_;
  std::optional<PesTime> jumped_;  ///< a picture after a jump that is not confirmed yet
  int64_t position_ = -1;          ///< position of the newest picture
  bool skipped_ = false;           ///< pictures before the next one were not read
  int64_t longest_step_ = 0;
};

JoinedParts::JoinedParts(const AVStream& video, bool transport, std::vector<Part> parts, int64_t frame_ticks)
    : video_(video), transport_(transport), parts_(std::move(parts)), frame_ticks_(frame_ticks) {
  // FFmpeg may have added or subtracted 2^33 to undo a wrap.
  const int64_t first = parts_.front().first_pts;
  int64_t start = video.start_time == AV_NOPTS_VALUE
                      ? first
                      : video.start_time + mpeg_difference(first, video.start_time);
  for (Part& part : parts_) {
    part.start = start;
    start += part.length + frame_ticks_;
  }
}

std::unique_ptr<JoinedParts> JoinedParts::find(AVFormatContext& context, AVStream& video,
                                               const StopFlags& stop) {
  const std::string_view demuxer = context.iformat->name;
  const bool transport = demuxer == "mpegts";
  if (!transport && demuxer != "mpeg") return nullptr;
  AVIOContext& io = *context.pb;
  const int64_t kept = avio_tell(&io), bytes = avio_size(&io);
  PesTimes times(io, video, transport);
  Finder finder(times, stop);
  if (bytes <= kWholeBytes)
    finder.read(0, bytes);
  else
    finder.read_joins(bytes);
  avio_seek(&io, kept, SEEK_SET);
  std::vector<Part> parts = std::move(finder).take();
  if (parts.size() < 2 || stop.raised()) return nullptr;
  return std::unique_ptr<JoinedParts>(
      new JoinedParts(video, transport, std::move(parts), nominal_duration(context, video)));
}

/// For a packet between the last picture of `part` and the first one of `next`: returns true if it belongs to
/// `part`. Compares the time steps from the previous packet and selects the smaller one. After a move there
/// is no previous packet. Then returns true if the time is closer to the end of `part` than to the beginning
/// of `next`.
bool JoinedParts::fits_before_join(const Part& part, const Part& next, int64_t ticks) const noexcept {
  if (!last_)
    return std::abs(mpeg_difference(ticks, part.first_pts + part.length)) <=
           std::abs(mpeg_difference(ticks, next.first_pts));
  const int64_t step = part.start + since(ticks, part.first_pts) - *last_;
  const int64_t step_in_next = next.start + since(ticks, next.first_pts) - *last_;
  return step >= -kUnordered && std::abs(step) <= std::abs(step_in_next);
}

const JoinedParts::Part& JoinedParts::part_of(int64_t ticks) const noexcept {
  const auto next =
      std::ranges::upper_bound(parts_, packet_position_, {}, [](const Part& p) { return p.begin.position; });
  if (next == parts_.begin()) return *next;
  const auto part = std::prev(next);
  if (next == parts_.end() || packet_position_ <= part->end.position) return *part;
  return fits_before_join(*part, *next, ticks) ? *part : *next;
}

void JoinedParts::place(AVPacket& packet) noexcept {
  const int64_t ticks = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
  if (packet.pos >= 0)
    packet_position_ = packet.pos;  // FFmpeg's parsers do not set the position of every packet
  if (ticks == AV_NOPTS_VALUE) return;
  const Part& part = part_of(ticks);
  for (int64_t* time : {&packet.pts, &packet.dts})
    if (*time != AV_NOPTS_VALUE) *time = part.start + since(*time, part.first_pts);
  last_ = packet.dts != AV_NOPTS_VALUE ? packet.dts : packet.pts;
}

int64_t JoinedParts::move(AVIOContext& io, int64_t ticks) {
  const auto begins_later = [&](const Part& p) {
    return p.start + mpeg_difference(p.begin.dts, p.first_pts) > ticks;
  };
  auto part = std::ranges::find_if(parts_, begins_later);
  if (part != parts_.begin()) --part;
  PesTimes times(io, video_, transport_);
  PesTime time;
  const auto reached = [&] { return part->start + since(time.dts, part->first_pts) > ticks; };
  int64_t low = part->begin.position, high = part->end.position;
  while (high - low > kScanBytes) {
    times.seek(low + (high - low) / 2);
    if (times.next(time) && time.position < high && !reached())
      low = time.position;
    else
      high = low + (high - low) / 2;
  }
  last_.reset();
  times.seek(low);
  while (times.next(time) && time.position <= part->end.position && !reached()) low = time.position;
  return packet_position_ = low;
}

int64_t JoinedParts::duration() const noexcept {
  return parts_.back().start + parts_.back().length + frame_ticks_ - parts_.front().start;
}

}  // namespace lensd
