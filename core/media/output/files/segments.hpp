// The files of one recording: split by time or size at key frames, without gaps. If a limit is set, FileRing
// deletes the oldest files.
//
//   packets ── write() ──▶ VideoFile 1 │ VideoFile 2 │ … ──▶ FileCloser ──▶ FileRing
//
// Internal to core/media. Not thread-safe, except take_key_request().
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "core/media/output/files/file_closer.hpp"
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
  ~Segments();
  Segments(const Segments&) = delete;  // rules_ refers to this object
  Segments& operator=(const Segments&) = delete;

  const std::string& muxer() const noexcept { return muxer_; }
  /// Returns true, once per file, if the picture at `ticks` should be a key frame that starts a new file.
  /// May be called from another thread than the other functions.
  bool take_key_request(int64_t ticks, AVRational time_base);
  /// Writes a packet, in a new file if one is due. The first packet of an encoder must be a key frame.
  /// `age_s`: age of the packet's picture in seconds. Throws like VideoFile; do not call write() again after
  /// that.
  void write(const AVPacket& packet, const std::shared_ptr<const EncodedStream>& stream, double age_s);
  /// Ends the current file at `end` (in the encoder's time base). The next packet comes from another encoder,
  /// with times from 0.
  void end_stream(int64_t end, AudioEnd audio_end);
  /// Waits until the files are synced and closed, but not longer than half a second unless
  /// RecordSettings::no_timeouts is set. Errors of files that take longer are logged. Call it last.
  /// Throws Error(runtime_failure) if a file could not be synced.
  void finish();

  /// Returns the path of the current or the last file.
  const std::string& path() const noexcept { return path_; }
  int64_t frames() const noexcept { return ended_frames_ + (file_ ? file_->frames() : 0); }
  int64_t bytes() const noexcept { return ended_bytes_ + (file_ ? file_->bytes() : 0); }
  int files() const noexcept { return files_; }

 private:
  bool due(const AVPacket& packet, AVRational time_base) const;
  bool is_deleted(const AVPacket& packet) const;
  void end_file(int64_t end, AudioEnd audio_end);
  void open(const AVPacket& packet, double age_s);
  void count_footage(const AVPacket& packet);
  void count_ended(const VideoFile& file);
  void take_closed();

  const bool no_timeouts_;
  double split_seconds_;
  int64_t split_bytes_;
  FileRules rules_;
  std::string muxer_, path_;
  FileNames names_;
  std::shared_ptr<const EncodedStream> stream_;  // outlives file_, which uses its audio
  std::optional<FileRing> ring_;  // outlives file_: the journal stays locked until the file is complete
  FileCloser closer_;
  std::unique_ptr<VideoFile> file_;
  AVRational time_base_ = {1, 1};
  int64_t file_start_ = 0, ended_frames_ = 0, ended_bytes_ = 0;
  int64_t last_time_ = 0, picture_ticks_ = 0;    ///< time of the last packet; nominal duration of a picture
  int64_t footage_ticks_ = 0, noted_ticks_ = 0;  ///< footage of the file; last value passed to the ring
  int files_ = 0;
  // Shared with take_key_request().
  std::atomic<int64_t> next_key_{0};  ///< time of the next key frame for split_seconds_; 0: not yet known
  std::atomic<int64_t> file_bytes_{0};
  std::atomic<bool> size_key_asked_{false};
};

}  // namespace lensd
