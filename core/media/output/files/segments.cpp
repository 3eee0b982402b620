#include "core/media/output/files/segments.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "core/base/log.hpp"

namespace lensd {
namespace {

constexpr int kMaxAttempts = 10000;
/// Maximum time between two pictures that counts as footage. A longer time is a pause or a jump of
/// timestamps.
constexpr double kMaxPictureSeconds = 1;
/// Interval at which the ring records the footage of an open file.
constexpr double kNoteSeconds = 10;
/// Maximum time that finish() waits for a sync. It is short, so that the program ends within a second.
constexpr auto kCloseTimeout = std::chrono::milliseconds(500), kStopPoll = std::chrono::milliseconds(20);

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
    : no_timeouts_(settings.no_timeouts),
      split_seconds_(split_of(settings)),
      split_bytes_(static_cast<int64_t>(settings.split_megabytes * 1e6)),
      rules_(target.rules),
      muxer_(recording_muxer(target.path)),
      path_(target.path),
      names_(target.path, split_seconds_ > 0 || split_bytes_ > 0, target.resumed, target.rules.beneath) {
  const FileRing::Limits limits{static_cast<int64_t>(settings.keep_minutes * 60e9),
                                static_cast<int64_t>(settings.keep_gigabytes * 1e9)};
  if (const std::string folder = fixed_folder(target.path);
      std::filesystem::path(target.path).parent_path() != folder)
    rules_.make_below = folder;
  if (!limits.any()) return;
  ring_.emplace(target.path, settings.owner, limits, rules_.beneath);
  rules_.make_room = [this] { return ring_->make_room(); };
}

Segments::~Segments() = default;

bool Segments::take_key_request(int64_t ticks, AVRational time_base) {
  if (split_seconds_ > 0) {
    const int64_t after = ticks + std::max<int64_t>(1, ticks_of(split_seconds_, time_base));
    int64_t next = 0;
    // The first frame starts the first file. Do not wait for its packet, which a slow disk may delay.
    if (!next_key_.compare_exchange_strong(next, after) && ticks >= next) {
      next_key_ = after;
      return true;
    }
  }
  return split_bytes_ > 0 && file_bytes_ >= split_bytes_ && !size_key_asked_.exchange(true);
}

bool Segments::due(const AVPacket& packet, AVRational time_base) const {
  if (!ff::is_key(packet)) return false;
  return (split_seconds_ > 0 && packet.pts - file_start_ >= ticks_of(split_seconds_, time_base)) ||
         (split_bytes_ > 0 && file_->bytes() >= split_bytes_);
}

/// If another program has deleted the file and a new one can begin with `packet`, warns and returns true.
bool Segments::is_deleted(const AVPacket& packet) const {
  if (!ff::is_key(packet) || !file_->deleted()) return false;
  log::warn("{}: was deleted by another program; the recording continues in a new file", file_->path());
  return true;
}

void Segments::write(const AVPacket& packet, const std::shared_ptr<const EncodedStream>& stream,
                     double age_s) {
  take_closed();
  if (!file_) stream_ = stream;
  count_footage(packet);
  if (file_ && (due(packet, stream_->format.time_base) || is_deleted(packet)))
    end_file(packet.pts, AudioEnd::video);
  if (!file_) open(packet, age_s);
  try {
    file_->write(packet);
  } catch (const Error&) {
    const std::unique_ptr<VideoFile> failed = std::move(file_);
    count_ended(*failed);
    if (ring_) ring_->closed(failed->path());
    throw;
  }
  file_bytes_ = file_->bytes();
}

/// Adds the duration of the picture before `packet`. Uses decoding times, because they always increase.
void Segments::count_footage(const AVPacket& packet) {
  const EncodedFormat& format = stream_->format;
  picture_ticks_ = std::max<int64_t>(1, av_rescale_q(1, av_inv_q(format.frame_rate), format.time_base));
  const int64_t longest = std::max(2 * picture_ticks_, ticks_of(kMaxPictureSeconds, format.time_base));
  const int64_t time = packet.dts == AV_NOPTS_VALUE ? packet.pts : packet.dts;
  const int64_t span = time - std::exchange(last_time_, time);
  footage_ticks_ += span > 0 && span <= longest ? span : picture_ticks_;
  if (!ring_ || !file_ || footage_ticks_ - noted_ticks_ < ticks_of(kNoteSeconds, format.time_base)) return;
  noted_ticks_ = footage_ticks_;
  ring_->grown(ff::to_ns(footage_ticks_, format.time_base));
}

void Segments::open(const AVPacket& packet, double age_s) {
  const EncodedFormat& format = stream_->format;
  time_base_ = format.time_base;
  if (ring_ && files_ == 0) names_.continue_numbers();
  names_.begin(std::time(nullptr) - static_cast<std::time_t>(age_s));
  for (int attempt = 1; !file_; ++attempt) {
    const std::string name = names_.next();
    FileRules rules = rules_;
    rules.overwrite = rules_.overwrite && names_.exact();
    try {
      file_ = std::make_unique<VideoFile>(name, rules, muxer_, format, stream_->audio.get(), packet.pts);
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
  // This is later than take_key_request() expected if files could not be opened for some time.
  const int64_t next = packet.pts + std::max<int64_t>(1, ticks_of(split_seconds_, time_base_));
  if (next_key_ < next || split_bytes_ > 0) next_key_ = next;
  size_key_asked_ = false;
  ++files_;
}

void Segments::end_file(int64_t end, AudioEnd audio_end) {
  if (!file_) return;
  std::unique_ptr<VideoFile> file = std::move(file_);
  try {
    file->complete(end, audio_end, rules_.stop);
  } catch (const Error&) {
    count_ended(*file);
    if (ring_) ring_->closed(file->path());
    throw;
  }
  count_ended(*file);
  closer_.close(std::move(file), rules_.stop);
  take_closed();
}

void Segments::count_ended(const VideoFile& file) {
  ended_bytes_ += file.bytes();
  ended_frames_ += file.frames();
  file_bytes_ = 0;
  if (ring_) ring_->ended(ff::to_ns(footage_ticks_, time_base_));
}

/// Updates the ring with the files that were closed. Throws Error(runtime_failure) if a file could not be
/// synced. Some file systems notice a full disk only then.
void Segments::take_closed() {
  while (const auto closed = closer_.take_closed()) {
    if (ring_) ring_->closed(closed->path);
    if (closed->error >= 0) continue;
    if (ring_ && (closed->error == AVERROR(ENOSPC) || closed->error == AVERROR(EDQUOT))) ring_->make_room();
    throw write_error(closed->path, AVUNERROR(closed->error));
  }
}

void Segments::finish() {
  // A file is still open only if the encoder, or the sync of an earlier file, has failed.
  if (file_) end_file(last_time_ + picture_ticks_, AudioEnd::video);
  const auto stopped = [this] { return rules_.stop && *rules_.stop; };
  if (no_timeouts_) {
    while (!closer_.wait(kStopPoll) && !stopped()) {
    }
  } else {
    closer_.wait(kCloseTimeout);
  }
  take_closed();
}

void Segments::end_stream(int64_t end, AudioEnd audio_end) {
  footage_ticks_ += picture_ticks_;
  end_file(end, audio_end);
  next_key_ = 0;
  stream_.reset();
}

}  // namespace lensd
