// Recorders: where processed frames go, as video, image, image sequence or nowhere.
//
// A Recorder belongs to one thread (the writer). finish() completes the file; a recorder destroyed without
// finish() still leaves a playable file where the container allows it.
#pragma once

#include <memory>
#include <string>

#include "core/image/frame.hpp"
#include "core/media/encoder_options.hpp"

namespace lensd {

struct RecorderOptions : EncoderOptions {
  double fps = 25;
  std::string audio_from;  ///< source file whose audio is copied along; empty: none
  bool still = false;      ///< the source is one image: `.png` and `.jpg` write one file without numbers
  /// `.mp4` only: write in fragments, so that the file plays even when the process is killed or the disk is
  /// full. Such files carry no total frame count before FFmpeg 7.1.
  bool crash_safe = true;
};

class Recorder {
 public:
  virtual ~Recorder() = default;
  /// Adds a frame in host memory. Its time is info.pts_ns counted from the first frame written; where times
  /// jump back (loops, seeks) the file continues at the nominal rate. Throws Error(runtime_failure), for
  /// example when the disk is full; what was written before stays playable.
  virtual void write(ConstImageRef image, const FrameInfo& info) = 0;
  virtual void finish() = 0;
  /// Frames written and where they went, for the closing message.
  virtual int64_t frames() const = 0;
  virtual std::string path() const = 0;
};

/// `.png .jpg` (with %d a sequence, numbered from 1), `.mp4 .mov .mkv .webm .avi`, or `null:`. The file is
/// opened at once.
/// Throws Error(usage) for an unknown ending, Error(runtime_failure) when it cannot be written.
std::unique_ptr<Recorder> open_recorder(const std::string& path, ImageFormat format,
                                        const RecorderOptions& options);

/// Writes one image as PNG or JPEG, whole or not at all (temporary file and rename). Throws Error.
void write_image(const std::string& path, ConstImageRef image);

/// Writes `index, pts_ns, sha256` lines, comments beginning with '#'. The hash is of the rows without
/// padding.
class FrameHash {
 public:
  /// Throws Error(runtime_failure) when the file cannot be written.
  explicit FrameHash(const std::string& path);
  ~FrameHash();
  void write(ConstImageRef image, const FrameInfo& info);
  void finish();
  /// SHA-256 of the rows without padding, as 64 hexadecimal digits.
  static std::string digest(ConstImageRef image);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lensd
