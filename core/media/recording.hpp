// Recording of a running pipeline's frames.
//
//   frames or decoded pictures ── write() ──▶ [encoder] ──▶ pre-roll in memory ── start() ──▶ files
//
// With a pre-roll the encoder always runs, and start() writes the pre-roll first. Without one it runs from
// start() on. A recording belongs to one thread.
#pragma once

#include <memory>
#include <string>

#include "core/image/frame.hpp"
#include "core/image/picture.hpp"
#include "core/media/record_settings.hpp"

namespace lensd {

/// How new files may be created.
struct FileRules {
  bool overwrite = false;  ///< replace an existing file, which the user named on the command line
  /// Not empty: the name comes from a control request. The path is relative to this folder, may not leave it,
  /// and may not contain symbolic links.
  std::string beneath;

  /// `path` with the folder `beneath`.
  std::string full_path(const std::string& path) const;
};

struct RecordTarget {
  std::string path;  ///< a name, or a template for strftime
  FileRules rules;
  bool resumed = false;  ///< continues a recording of this name: adds a number if the name is taken
};

/// FFmpeg's name of the container for a path or template. Throws Error(usage) if it is not a video file.
std::string recording_muxer(const std::string& path);

/// Throws Error(usage) if the name is invalid or the codec does not fit its container.
void check_record_settings(const RecordSettings& settings);

class Recording {
 public:
  /// `audio_from`: source file whose audio is copied; may be empty.
  Recording(const RecordSettings& settings, double fps, const std::string& audio_from);
  /// Stops; ignores errors.
  ~Recording();

  /// Starts a recording with the next frame, and with the pre-roll before it. Stops the current one first.
  /// Throws as write() does.
  void start(const RecordTarget& target);
  /// Completes the file. Throws Error(runtime_failure).
  void stop();

  /// A change of size or format continues in another file. Throws Error if the file cannot be written; the
  /// recording is then stopped, keeps what was written, and may be started again.
  void write(ConstImageRef image, const FrameInfo& info);
  void write(const PictureRef& picture, const FrameInfo& info);

  bool active() const noexcept { return segments_ != nullptr; }
  struct Report {
    std::string path;
    int64_t frames = 0, bytes = 0;
    int files = 0;
  };
  /// Of the current or the last recording.
  Report report() const;
  /// A new message about the encoder, or empty.
  std::string take_notice();

 private:
  struct Encoding;
  bool encodes() const noexcept;
  void encode(const struct PixelsFormat& format, const struct Pixels& picture, const FrameInfo& info);
  void write_packets();
  void end_encoder();
  /// Runs `step`; if it throws, keeps the files as complete as they are and stops.
  template <class Step>
  void guarded(Step&& step);

  std::unique_ptr<Encoding> encoding_;
  std::unique_ptr<class Segments> segments_;
  Report last_;
};

}  // namespace lensd
