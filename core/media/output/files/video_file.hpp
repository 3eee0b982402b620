// One video file: encoded packets in, a container out that plays whatever happens to the process.
//
//   packets of one encoder ── write() ──▶ [muxer] ──▶ OutputFile, whole parts of at most kPartSeconds
//
// A part is a fragment (mp4, mov) or a cluster (mkv, webm). It reaches the system in one go, so that a killed
// process loses at most the part at hand; where the disk is full the file is cut back to its last whole part.
// finish() adds the index. avi has no such parts and is as safe as avi is. Internal to core/media; belongs
// to one thread.
#pragma once

#include <memory>
#include <string>

#include "core/media/output/audio_copy.hpp"
#include "core/media/output/files/output_file.hpp"

namespace lensd {

/// Longest part, in seconds. With what the encoder may keep back (kRecordingDelay) it stays below a second.
inline constexpr double kPartSeconds = 0.5;
inline constexpr double kRecordingDelay = 0.35;

/// FFmpeg's name of the container of a video file's ending; empty: it is none.
std::string muxer_of(const std::string& path);
const AVOutputFormat& output_format_of(const std::string& muxer, const std::string& path);

class VideoFile {
 public:
  /// Makes the file and writes its header. `start` (encoder's time base) becomes time 0. `audio` may be null.
  /// Throws as OutputFile does.
  VideoFile(const std::string& path, const FileRules& rules, const std::string& muxer,
            const AVCodecContext& encoder, AudioCopy* audio, int64_t start, bool in_parts = true);
  /// Finishes the file where that was not done, without a word about errors.
  ~VideoFile();

  /// Times in the encoder's time base, unchanged afterwards. Throws Error(runtime_failure), for example when
  /// the disk is full; the file is complete up to its last whole part then.
  void write(const AVPacket& packet);
  /// Copies the audio up to `end` (encoder's time base), then completes the file.
  void finish(int64_t end);

  const std::string& path() const noexcept { return path_; }
  int64_t bytes() const noexcept { return file_.bytes(); }
  /// Given to the muxer; after a failure those that the file has.
  int64_t frames() const noexcept { return frames_; }
  OutputFile::Identity identity() const noexcept { return file_.identity(); }

 private:
  void set_parts(const std::string& muxer);
  void copy_audio(int64_t until);
  void note_whole(int64_t frames);
  void check(int error);
  [[noreturn]] void fail(int error);

  struct MuxerFree {
    void operator()(AVFormatContext* p) const noexcept {
      p->pb = nullptr;
      avformat_free_context(p);
    }
  };

  std::string path_;
  OutputFile file_;
  std::string place_;  ///< where it lies, with the folder that it is held below
  bool made_here_;     ///< exclusively
  std::unique_ptr<AVFormatContext, MuxerFree> muxer_;
  AVStream* stream_ = nullptr;
  AVRational time_base_;
  AudioCopy* audio_;
  int64_t start_, frames_ = 0, whole_bytes_ = 0, whole_frames_ = 0;
  ff::PacketPtr packet_ = ff::make_packet();
  bool open_ = false;
};

}  // namespace lensd
