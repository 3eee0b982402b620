// Recorders write processed frames to a video, an image, an image sequence or nowhere.
//
// Use a Recorder on one thread.
#pragma once

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "core/base/whole_file.hpp"
#include "core/image/frame.hpp"
#include "core/image/pixel_aspect.hpp"
#include "core/media/audio_source.hpp"
#include "core/media/encoder_options.hpp"

namespace lensd {

struct RecorderOptions : EncoderOptions {
  double fps = 25;
  AudioSource audio_from;
  /// Interrupts reading the audio of a network source, and the waits for late audio and for the reader of a
  /// pipe. May be null; must outlive the recorder.
  const std::atomic<bool>* stop = nullptr;
  bool overwrite = true;  ///< replace existing files
  PixelAspect pixel_aspect = {};
  ColourTags tags;     ///< colour tags of all frames
  bool still = false;  ///< a single frame is recorded: `.png` and `.jpg` names need no %d
};

class Recorder {
 public:
  /// Completes the file if finish() was not called; ignores errors.
  virtual ~Recorder() = default;
  /// Adds a frame in host memory. Its time in a video is its pts_ns minus the first frame's. If its serial
  /// has changed or pts_ns jumps back by more than a second, it follows the previous frame after one nominal
  /// frame time. Throws Error(runtime_failure) if the frame cannot be encoded or written, or if its size,
  /// format or tags are not the video's; the frames before it stay playable.
  virtual void write(ConstImageRef image, const FrameInfo& info) = 0;
  virtual void finish() = 0;
  /// Makes finish() copy the audio after the last frame too. Call if the source has no more frames.
  virtual void source_ended() {}
  virtual std::string path() const = 0;
  int64_t frames() const noexcept { return frames_; }

 protected:
  int64_t frames_ = 0;
};

/// Opens a recorder for `.png .jpg .jpeg .mp4 .mov .mkv .webm .avi` or `null:`. An image path with %d is a
/// sequence numbered from 1. Throws Error(usage) if the extension is unknown, if an image path has no %d and
/// `options.still` is false, if the codec is unknown or does not fit the file type, or if the file is in use;
/// Error(runtime_failure) if the encoder does not start or the file cannot be written.
std::unique_ptr<Recorder> open_recorder(const std::string& path, ImageFormat format,
                                        const RecorderOptions& options);

/// Writes one PNG or JPEG atomically (temporary file and rename). Throws Error(usage) for another extension,
/// exists_error() if `existing` is Existing::keep and the file exists, Error(runtime_failure) if the image
/// cannot be encoded or written.
void write_image(const std::string& path, ConstImageRef image, PixelAspect aspect = {},
                 Existing existing = Existing::replace);

/// Writes a text file with one line `index, pts_ns, sha256` per frame. Comment lines start with '#'.
class FrameHash {
 public:
  /// Throws like open_output().
  explicit FrameHash(const std::string& path, Existing existing = Existing::replace);
  void write(ConstImageRef image, const FrameInfo& info);
  void finish();
  /// Returns the SHA-256 of the rows without padding, as 64 hexadecimal digits.
  static std::string digest(ConstImageRef image);

 private:
  void put(const std::string& text);
  [[noreturn]] void fail() const;

  const std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  ImageFormat format_{PixelFormat::rgba8, {0, 0}};
};

}  // namespace lensd
