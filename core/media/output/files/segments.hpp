// The files of one recording: split by time or size at key frames, without gaps. If a limit is set, FileRing
// deletes the oldest files.
//
//   packets ── write() ──▶ VideoFile 1 │ VideoFile 2 │ … ──▶ FileRing
//
// Internal to core/media. Not thread-safe.
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
  /// Throws Error(usage) if the extension is unknown or the name has a control character.
  Segments(const RecordSettings& settings, const RecordTarget& target);
  Segments(const Segments&) = delete;  // rules_ refers to this object
  Segments& operator=(const Segments&) = delete;
  /// Sets the encoder's audio, which may be null. It is used until end_stream().
  void set_audio(AudioCopy* audio) { audio_ = audio; }

  const std::string& muxer() const noexcept { return muxer_; }
  /// Returns true, once per file, if the picture at `ticks` should be a key frame that starts a new file.
  bool wants_key(int64_t ticks, AVRational time_base);
  /// Writes a packet, in a new file if one is due. The first packet of an encoder must be a key frame.
  /// `age_s`: age of the packet's picture in seconds. Throws as VideoFile does; do not call write() again
  /// after that.
  void write(const AVPacket& packet, const VideoEncoder& encoder, double age_s);
  /// Ends the current file at `end` (in the encoder's time base). The next packet comes from another encoder,
  /// with times from 0.
  void end_stream(int64_t end, AudioEnd audio_end);

  /// Returns the path of the current or the last file.
  const std::string& path() const noexcept { return path_; }
  int64_t frames() const noexcept { return closed_frames_ + (file_ ? file_->frames() : 0); }
  int64_t bytes() const noexcept { return closed_bytes_ + (file_ ? file_->bytes() : 0); }
  int files() const noexcept { return files_; }

 private:
  bool due(const AVPacket& packet, AVRational time_base) const;
  void end_file(int64_t end, AudioEnd audio_end);
  void open(const AVPacket& packet, const VideoEncoder& encoder, double age_s);
  void count_footage(const AVPacket& packet, const AVCodecContext& encoder);
  void count_closed(const VideoFile& file);

  double split_seconds_;
  int64_t split_bytes_;
  FileRules rules_;
  std::string muxer_, path_;
  FileNames names_;
  AudioCopy* audio_ = nullptr;
  std::optional<FileRing> ring_;  // outlives file_: the journal stays locked until the file is complete
  std::unique_ptr<VideoFile> file_;
  AVRational time_base_ = {1, 1};
  int64_t file_start_ = 0, next_key_ = 0, closed_frames_ = 0, closed_bytes_ = 0;
  int64_t last_time_ = 0, picture_ticks_ = 0;    ///< time of the last packet; nominal duration of a picture
  int64_t footage_ticks_ = 0, noted_ticks_ = 0;  ///< footage of the file; last value passed to the ring
  bool size_key_asked_ = false;
  int files_ = 0;
};

}  // namespace lensd
