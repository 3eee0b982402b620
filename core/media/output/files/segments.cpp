#include "core/media/output/files/segments.hpp"

#include <algorithm>
#include <cmath>

namespace lensd {
namespace {

constexpr int kMaxAttempts = 10000;

int64_t ticks_of(double seconds, AVRational time_base) {
  return std::llround(seconds / av_q2d(time_base));
}

/// A ring needs several files: without a configured length, one file is a tenth of it.
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
  if (limits.any()) ring_.emplace(rules_.full_path(target.path), limits);
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

void Segments::write(const AVPacket& packet, const AVCodecContext& encoder, double age_s) {
  if (file_ && due(packet, encoder.time_base)) end_file(packet.pts);
  if (!file_) open(packet, encoder, age_s);
  try {
    file_->write(packet);
  } catch (const Error&) {
    count_closed(*file_, packet.pts);
    file_.reset();
    throw;
  }
}

void Segments::open(const AVPacket& packet, const AVCodecContext& encoder, double age_s) {
  time_base_ = encoder.time_base;
  names_.begin(std::time(nullptr) - static_cast<std::time_t>(age_s));
  for (int attempt = 1; !file_; ++attempt) {
    const std::string name = names_.next();
    FileRules rules = rules_;
    rules.overwrite = rules_.overwrite && names_.exact();
    try {
      file_ = std::make_unique<VideoFile>(name, rules, muxer_, encoder, audio_, packet.pts);
    } catch (const Error& error) {
      // `usage`: the name is taken. Try the next one, unless the user chose exactly this one.
      if (error.code() != ExitCode::usage || names_.exact() || attempt == kMaxAttempts) throw;
    }
  }
  path_ = file_->path();
  if (ring_) ring_->opened(path_, file_->identity());
  file_start_ = packet.pts;
  if (next_key_ == 0 || split_bytes_ > 0)
    next_key_ = packet.pts + std::max<int64_t>(1, ticks_of(split_seconds_, encoder.time_base));
  size_key_asked_ = false;
  ++files_;
}

void Segments::end_file(int64_t end) {
  if (!file_) return;
  const std::unique_ptr<VideoFile> file = std::move(file_);
  try {
    file->finish(end);
  } catch (const Error&) {
    count_closed(*file, end);
    throw;
  }
  count_closed(*file, end);
}

void Segments::count_closed(const VideoFile& file, int64_t end) {
  closed_bytes_ += file.bytes();
  closed_frames_ += file.frames();
  if (ring_) ring_->closed(path_, file.identity(), ff::to_ns(end - file_start_, time_base_), file.bytes());
}

void Segments::end_stream(int64_t end) {
  end_file(end);
  next_key_ = 0;
  audio_ = nullptr;
}

}  // namespace lensd
