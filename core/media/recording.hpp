// Recording of what a pipeline shows, while it runs.
//
//   frames or decoded pictures ── write() ──▶ [encoder] ──▶ pre-roll in memory ── start() ──▶ files
//
// With a pre-roll the encoder always runs and start() begins with what is in memory; without one nothing is
// done until start(). A recording belongs to one thread (its writer).
#pragma once

#include <memory>
#include <string>

#include "core/image/frame.hpp"
#include "core/image/picture.hpp"
#include "core/media/record_settings.hpp"

namespace lensd {

/// How a new file may be made.
struct FileRules {
  bool overwrite = false;  ///< replace a file of that name: it was named on the command line
  /// Not empty: the name comes from a control request; the path is taken as one below this folder and may
  /// not leave it, nor pass through a symbolic link.
  std::string beneath;
};

struct RecordTarget {
  std::string path;  ///< a name, or a template for strftime
  FileRules rules;
  bool resumed = false;  ///< goes on with a recording of this name: a plain one that is taken gets a number
};

/// FFmpeg's name of the container for a path or template. Throws Error(usage) where it is no video file.
std::string recording_muxer(const std::string& path);

/// Whether files of this name can be made of this codec, and the name is one. Throws Error(usage).
void check_record_settings(const RecordSettings& settings);

class Recording {
 public:
  /// `audio_from`: the source file whose audio is copied along, or empty.
  Recording(const RecordSettings& settings, double fps, const std::string& audio_from);
  /// Completes the file, where finish() was not called, without a word about errors.
  ~Recording();

  /// Asks for a recording from the next frame on, with the pre-roll before it. One that runs ends first.
  /// Throws as write() does.
  void start(const RecordTarget& target);
  /// Completes the file. Throws Error(runtime_failure) when that failed.
  void stop();

  /// Throws Error when the file cannot be written; the recording has stopped then with what was written
  /// before, and may be started again. A change of size or format goes on in another file.
  void write(ConstImageRef image, const FrameInfo& info);
  void write(const PictureRef& picture, const FrameInfo& info);

  bool active() const noexcept { return segments_ != nullptr; }
  /// Of the recording at hand, or of the last one.
  struct Report {
    std::string path;
    int64_t frames = 0, bytes = 0;
    int files = 0;
  };
  Report report() const;
  /// What should be told about the encoder, once; or empty.
  std::string take_notice();

 private:
  struct Machine;
  std::unique_ptr<Machine> machine_;
  bool wanted() const noexcept;
  void feed(const struct PixelsFormat& format, const struct Pixels& picture, const FrameInfo& info);
  void drain();
  void end_encoder();
  void abandon() noexcept;

  std::unique_ptr<class Segments> segments_;
  Report last_;
};

}  // namespace lensd
