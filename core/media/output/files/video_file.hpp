// One video file that stays playable if the process is killed or the disk is full.
//
//   packets of one encoder ── write() ──▶ Muxer ──▶ OutputFile, in complete parts of at most kPartSeconds
//
// A part is a fragment (mp4, mov) or a cluster (mkv, webm). The muxer writes each part when it is complete,
// so that a killed process loses at most the current part. If the disk is full, the file is truncated to its
// last complete part. complete() adds the index. avi has no parts. Internal to core/media. Not thread-safe.
#pragma once

#include <string>

#include "core/media/output/files/output_file.hpp"
#include "core/media/output/muxer.hpp"

namespace lensd {

/// Maximum length of a part and maximum delay of the encoder, in seconds. A killed process loses at most
/// about their sum.
inline constexpr double kPartSeconds = 0.5;
inline constexpr double kRecordingDelay = 0.35;

class VideoFile {
 public:
  /// Creates the file and writes its header. `start` (in the encoder's time base) becomes time 0. `audio` may
  /// be null. Throws Error(usage) if the file exists and must not be replaced, Error(runtime_failure) if it
  /// cannot be written.
  VideoFile(const std::string& path, const FileRules& rules, const std::string& muxer,
            const EncodedFormat& format, AudioCopy* audio, int64_t start);
  /// Completes the file if finish() was not called; ignores errors.
  ~VideoFile();

  /// Writes a packet with times in the encoder's time base. Throws Error(runtime_failure) if it cannot be
  /// written, for example if the disk is full. The file is then closed and playable up to its last complete
  /// part.
  void write(const AVPacket& packet);
  /// Copies the audio up to `end` (in the encoder's time base), or all of it with AudioEnd::source. Then
  /// writes the rest of the file. Call close() after it, on any thread. Throws Error(runtime_failure) if it
  /// cannot be written. `stop`, which may be null, ends the wait for late audio.
  void complete(int64_t end, AudioEnd audio_end, const std::atomic<bool>* stop = nullptr);
  /// Syncs a complete file to the disk, which may take seconds, and closes it. Returns 0 or an AVERROR.
  int close() noexcept { return file_.close(); }
  /// Calls complete() and close(). Throws Error(runtime_failure) if one of them fails, or if the file was
  /// deleted.
  void finish(int64_t end, AudioEnd audio_end, const std::atomic<bool>* stop);

  const std::string& path() const noexcept { return file_.path(); }
  int64_t bytes() const noexcept { return file_.bytes(); }
  /// Returns the number of frames written; after a failure, the number of frames in complete parts.
  int64_t frames() const noexcept { return frames_; }
  const FileIdentity& identity() const noexcept { return file_.identity(); }
  /// Returns true if another program has deleted the file.
  bool deleted() const noexcept { return file_.deleted(); }

 private:
  void set_parts(const std::string& muxer);
  void write_late_beginning(const AVPacket& packet);
  void note_complete_parts(int64_t frames);
  void check(int error);
  [[noreturn]] void fail(int error);

  OutputFile file_;
  Muxer muxer_;
  int64_t start_ = 0, frames_ = 0, complete_bytes_ = 0, complete_frames_ = 0;
  AVRational time_base_;
  bool begun_ = false;  ///< a part was written
  bool open_ = false;
};

}  // namespace lensd
