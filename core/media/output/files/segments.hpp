// The files of one recording: split by time or size at key frames, without gaps; old files are deleted.
//
//   packets ── write() ──▶ VideoFile 1 │ VideoFile 2 │ … ──▶ FileRing
//
// Internal to core/media; belongs to one thread.
#pragma once

#include <memory>
#include <optional>

#include "core/media/output/files/file_names.hpp"
#include "core/media/output/files/file_ring.hpp"
#include "core/media/output/files/video_file.hpp"
#include "core/media/record_settings.hpp"
#include "core/media/recording.hpp"

namespace lensd {

class Segments {
 public:
  /// Throws Error(usage) for an unknown ending.
  Segments(const RecordSettings& settings, const RecordTarget& target);
  /// The encoder's audio or null; used until end_stream().
  void set_audio(AudioCopy* audio) { audio_ = audio; }

  const std::string& muxer() const noexcept { return muxer_; }
  /// True if the picture at `ticks` should be a key frame that starts a new file. True once per file.
  bool wants_key(int64_t ticks, AVRational time_base);
  /// The first packet of an encoder must be a key frame. `age_s`: age of its picture. Throws as VideoFile
  /// does; do not call it afterwards.
  void write(const AVPacket& packet, const AVCodecContext& encoder, double age_s);
  /// Ends the current file at `end`. The next packet is another encoder's, with times from 0.
  void end_stream(int64_t end);

  /// Of the current or the last file.
  const std::string& path() const noexcept { return path_; }
  int64_t frames() const noexcept { return closed_frames_ + (file_ ? file_->frames() : 0); }
  int64_t bytes() const noexcept { return closed_bytes_ + (file_ ? file_->bytes() : 0); }
  int files() const noexcept { return files_; }

 private:
  bool due(const AVPacket& packet, AVRational time_base) const;
  void end_file(int64_t end);
  void open(const AVPacket& packet, const AVCodecContext& encoder, double age_s);
  void count_closed(const VideoFile& file, int64_t end);

  double split_seconds_;
  int64_t split_bytes_;
  FileRules rules_;
  std::string muxer_, path_;
  FileNames names_;
  AudioCopy* audio_ = nullptr;
  std::unique_ptr<VideoFile> file_;
  AVRational time_base_ = {1, 1};
  int64_t file_start_ = 0, next_key_ = 0, closed_frames_ = 0, closed_bytes_ = 0;
  bool size_key_asked_ = false;
  int files_ = 0;
  std::optional<FileRing> ring_;
};

}  // namespace lensd
