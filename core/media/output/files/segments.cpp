#include "core/media/output/files/segments.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/media/output/encoders/video_encoder.hpp"

namespace lensd {
namespace {

constexpr int kMaxAttempts = 10000;
/// Maximum time between two pictures that counts as footage. A longer time is a pause or a jump of
/// timestamps.
constexpr double kMaxPictureSeconds = 1;
/// Interval at which the ring records the footage of an open file.
constexpr double kNoteSeconds = 10;

int64_t ticks_of(double seconds, AVRational time_base) {
  return std::llround(seconds / av_q2d(time_base));
}

/// Returns the maximum length of a file in seconds; 0: no limit. A ring needs several files: if no length or
/// size is configured, the length is a tenth of keep_minutes, from 0.1 to 60 s. It is 60 s if only
/// keep_gigabytes is set.
double split_of(const RecordSettings& settings) {
  const bool ring = settings.keep_minutes > 0 || settings.keep_gigabytes > 0;
  if (settings.split_seconds > 0 || settings.split_megabytes > 0 || !ring) return settings.split_seconds;
  return settings.keep_minutes > 0 ? std::clamp(settings.keep_minutes * 60 / 10, 0.1, 60.0) : 60;
}

}  // namespace

Segments::Segments(const RecordSettings& settings, const RecordTarget& target)
    : split_seconds_(split_of(settings)),
      split_bytes_(static_cast<int64_t>(settings.split_megabytes * 1e6)),
      rules_(target.rules),
      muxer_(recording_muxer(target.path)),
      path_(target.path),
      names_(target.path, split_seconds_ > 0 || split_bytes_ > 0, target.resumed) {
  const FileRing::Limits limits{static_cast<int64_t>(settings.keep_minutes * 60e9),
                                static_cast<int64_t>(settings.keep_gigabytes * 1e9)};
  if (const std::string folder = fixed_folder(target.path); std::filesystem::path(target.path).parent_path() != folder)
    rules_.make_below = folder;
  if (!limits.any()) return;
  ring_.emplace(rules_.full_path(target.path), settings.owner, limits);
  rules_.make_room = [this] { return ring_->make_room(); };
}

bool Segments::wants_key(int64_t ticks, AVRational time_base) {
  if (split_seconds_ > 0 && next_key_ > 0 && ticks >= next_key_) {
    next_key_ = ticks + ticks_of(split_seconds_, time_base);
    return true;
  }
  if (split_bytes_ > 0 && file_ && file_->bytes() >= split_bytes_ && !size_key_asked_)
    return size_key_asked_ = true;
  return false;
}

bool Segments::due(const AVPacket& packet, AVRational time_base) const {
  if (!ff::is_key(packet)) return false;
  return (split_seconds_ > 0 && packet.pts - file_start_ >= ticks_of(split_seconds_, time_base)) ||
         (split_bytes_ > 0 && file_->bytes() >= split_bytes_);
}

void Segments::write(const AVPacket& packet, const VideoEncoder& encoder, double age_s) {
  count_footage(packet, encoder.context());
  if (file_ && due(packet, encoder.context().time_base)) end_file(packet.pts, AudioEnd::video);
  if (!file_) open(packet, encoder, age_s);
  try {
    file_->write(packet);
  } catch (const Error&) {
    count_closed(*file_);
    file_.reset();
    throw;
  }
}

/// Adds the duration of the picture before `packet`. Uses decoding times, because they always increase.
void Segments::count_footage(const AVPacket& packet, const AVCodecContext& encoder) {
  picture_ticks_ = std::max<int64_t>(1, av_rescale_q(1, av_inv_q(encoder.framerate), encoder.time_base));
  const int64_t longest = std::max(2 * picture_ticks_, ticks_of(kMaxPictureSeconds, encoder.time_base));
  const int64_t time = packet.dts == AV_NOPTS_VALUE ? packet.pts : packet.dts;
  const int64_t span = time - std::exchange(last_time_, time);
  footage_ticks_ += span > 0 && span <= longest ? span : picture_ticks_;
  if (!ring_ || !file_ || footage_ticks_ - noted_ticks_ < ticks_of(kNoteSeconds, encoder.time_base)) return;
  noted_ticks_ = footage_ticks_;
  ring_->grown(ff::to_ns(footage_ticks_, encoder.time_base));
}

void Segments::open(const AVPacket& packet, const VideoEncoder& encoder, double age_s) {
  time_base_ = encoder.context().time_base;
  names_.begin(std::time(nullptr) - static_cast<std::time_t>(age_s));
  for (int attempt = 1; !file_; ++attempt) {
    const std::string name = names_.next();
    FileRules rules = rules_;
    rules.overwrite = rules_.overwrite && names_.exact();
    try {
      file_ = std::make_unique<VideoFile>(name, rules, muxer_, encoder, audio_, packet.pts);
    } catch (const Error& error) {
      // `usage`: the name is taken. Try the next one, unless the user chose exactly this one.
      const bool fixed = names_.exact() && !rules_.next_free;
      if (error.code() != ExitCode::usage || fixed || attempt == kMaxAttempts) throw;
    }
  }
  path_ = file_->path();
  if (ring_) ring_->opened(path_, file_->identity());
  file_start_ = packet.pts;
  footage_ticks_ = noted_ticks_ = 0;
  if (next_key_ == 0 || split_bytes_ > 0)
    next_key_ = packet.pts + std::max<int64_t>(1, ticks_of(split_seconds_, encoder.context().time_base));
  size_key_asked_ = false;
  ++files_;
}

void Segments::end_file(int64_t end, AudioEnd audio_end) {
  if (!file_) return;
  const std::unique_ptr<VideoFile> file = std::move(file_);
  try {
    file->finish(end, audio_end);
  } catch (const Error&) {
    count_closed(*file);
    throw;
  }
  count_closed(*file);
}

void Segments::count_closed(const VideoFile& file) {
  closed_bytes_ += file.bytes();
  closed_frames_ += file.frames();
  if (ring_) ring_->closed(ff::to_ns(footage_ticks_, time_base_));
}

void Segments::end_stream(int64_t end, AudioEnd audio_end) {
  footage_ticks_ += picture_ticks_;
  end_file(end, audio_end);
  next_key_ = 0;
  audio_ = nullptr;
}

}  // namespace lensd
