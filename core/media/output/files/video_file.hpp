// One video file that stays playable if the process is killed or the disk is full.
//
//   packets of one encoder ── write() ──▶ Muxer ──▶ OutputFile, in complete parts of at most kPartSeconds
//
// A part is a fragment (mp4, mov) or a cluster (mkv, webm). The muxer writes it at once, so that a killed
// process loses at most the current part. On a full disk the file is cut back to its last complete part.
// finish() adds the index. avi has no parts. Internal to core/media; belongs to one thread.
#pragma once

#include <string>

#include "core/media/output/files/output_file.hpp"
#include "core/media/output/muxer.hpp"

namespace lensd {

/// Longest part, in seconds. Together with the encoder's delay, a killed process loses less than a second.
inline constexpr double kPartSeconds = 0.5;
inline constexpr double kRecordingDelay = 0.35;

class VideoFile {
 public:
  /// Creates the file and writes its header. `start` (encoder's time base) becomes time 0. `audio` may be
  /// null. Throws as OutputFile does.
  VideoFile(const std::string& path, const FileRules& rules, const std::string& muxer,
            const AVCodecContext& encoder, AudioCopy* audio, int64_t start);
  /// Completes the file if finish() was not called; ignores errors.
  ~VideoFile();

  /// Times in the encoder's time base. Throws Error(runtime_failure), for example if the disk is full; the
  /// file is then complete up to its last complete part.
  void write(const AVPacket& packet);
  /// Copies the audio up to `end` (encoder's time base), then completes the file.
  void finish(int64_t end);

  const std::string& path() const noexcept { return file_.path(); }
  int64_t bytes() const noexcept { return file_.bytes(); }
  /// Frames written; after a failure, those in complete parts.
  int64_t frames() const noexcept { return frames_; }
  OutputFile::Identity identity() const noexcept { return file_.identity(); }

 private:
  void set_parts(const std::string& muxer);
  void note_complete_parts(int64_t frames);
  void check(int error);
  [[noreturn]] void fail(int error);

  OutputFile file_;
  bool exclusive_;  ///< created here, did not replace a file
  Muxer muxer_;
  int64_t frames_ = 0, complete_bytes_ = 0, complete_frames_ = 0;
  bool open_ = false;
};

}  // namespace lensd
