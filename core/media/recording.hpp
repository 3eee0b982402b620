// Recording of a running pipeline's frames.
//
//   frames or decoded pictures ── write() ──▶ [encoder] ──▶ pre-roll in memory ── start() ──▶ files
//
// With a pre-roll the encoder also runs between recordings, and start() writes the pre-roll first. Without a
// pre-roll the encoder runs only during a recording. Use a Recording on one thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/notices.hpp"
#include "core/image/frame.hpp"
#include "core/image/picture.hpp"
#include "core/image/pixel_aspect.hpp"
#include "core/media/audio_source.hpp"
#include "core/media/record_settings.hpp"

namespace lensd {

/// Rules for creating files.
struct FileRules {
  bool overwrite = false;  ///< replace an existing file; for names from the command line
  bool next_free = false;  ///< add a number if the name is taken
  /// If not empty, the name comes from a control request. The path is then relative to this folder, may not
  /// leave it, and may not contain symbolic links.
  std::string beneath;
  /// Missing folders of the file below this folder are created; the folder must exist, so that a disk that is
  /// not mounted is noticed. Relative to `beneath`. Empty: no folder is created.
  std::string make_below = {};
  /// For pipes and devices: fail if there is no reader, or if it takes no data for this time. 0: wait for the
  /// reader until `stop`.
  int64_t reader_timeout_ns = 0;
  /// Ends the waits for a reader and for the sync of complete files. May be null; must outlive the file.
  const std::atomic<bool>* stop = nullptr;
  /// Called if the disk is full or the quota is used up. Returns true if it freed space; the write is then
  /// repeated. May be empty; must not throw.
  std::function<bool()> make_room = {};

  /// Returns `path` below the folder `beneath`, or `path` itself if `beneath` is empty.
  std::string full_path(const std::string& path) const;
};

struct RecordTarget {
  std::string path;  ///< file name, or a template for strftime
  FileRules rules;
  bool resumed = false;  ///< continues an earlier recording of this name: uses the next free name
};

/// Returns FFmpeg's name of the container for a path or template. Throws Error(usage) if the extension is
/// unknown.
std::string recording_muxer(const std::string& path);

/// Returns the folder of `path`, a file name or template, up to the first component with a conversion; "."
/// for the current folder. A recording creates only the folders that follow.
std::string recording_folder(const std::string& path);

/// Throws Error(usage) if the name is invalid, or if the codec is unknown or does not fit the container;
/// Error(runtime_failure) if FFmpeg has no encoder for the container.
void check_record_request(const RecordSettings& settings);
/// Throws Error(usage) if `path` is not a valid template, or if the extension is unknown.
void check_record_name(const std::string& path);
/// Like check_record_request(). Also throws Error(usage) if the name is not a valid template.
void check_record_settings(const RecordSettings& settings);
/// Throws Error(usage) if there is no encoder `codec`.
void check_record_codec(const std::string& codec);

class Recording {
 public:
  /// `stop` interrupts reading the audio of a network source and limits the wait for a slow disk; it may be
  /// null and must outlive this object.
  Recording(const RecordSettings& settings, double fps, const AudioSource& audio_from,
            const std::atomic<bool>* stop = nullptr);
  /// Stops the recording; ignores errors.
  ~Recording();

  /// Starts a recording, which begins with the pre-roll if there is one, else with the next frame. Stops the
  /// current recording first. Throws like stop() and write(). Also throws Error(usage) if the name is
  /// invalid.
  void start(const RecordTarget& target);
  /// Completes the file. Waits for its sync to the disk for half a second (without a limit if
  /// RecordSettings::no_timeouts is set); errors after that are logged. Throws Error(runtime_failure) if it
  /// cannot be written. Does nothing if not active.
  void stop();
  /// Makes stop() copy the audio after the last frame too. Call if the source has no more frames.
  void source_ended();

  /// Records a frame. If the encoder cannot adapt to a new size, format, aspect or tags, or if a live
  /// source's audio changes, continues the recording in a new file. Throws Error if the frame cannot be
  /// encoded or written. The recording is then stopped and keeps the frames written so far; start() may be
  /// called again.
  void write(ConstImageRef image, const FrameInfo& info, PixelAspect aspect = {});
  /// Records a decoded picture in host memory, in the same way as a frame.
  void write(const PictureRef& picture, const FrameInfo& info, PixelAspect aspect = {});

  /// Sets the frames per second that the next encoder announces. The running encoder keeps its rate.
  void set_rate(double fps) noexcept;

  bool active() const noexcept { return writer_ != nullptr; }
  struct Report {
    std::string path;
    int64_t frames = 0, bytes = 0;
    int files = 0;
  };
  /// Returns the report of the current or the last recording.
  Report report() const;
  /// Returns a new notice about the encoder; its text is empty if there is none. Files that continue
  /// the recording do not repeat it.
  Notice take_notice();

 private:
  struct Encoding;
  bool encodes() const noexcept;
  /// `fields`: field order of the picture as stored.
  void encode(const struct PixelsFormat& format, const struct Pixels& picture, const FrameInfo& info,
              FieldOrder fields);
  void write_packets();
  void end_encoder();
  void finish_files() noexcept;
  /// Runs `step`. If it throws, stops the recording, keeps its files and rethrows.
  template <class Step>
  void guarded(Step&& step);

  std::unique_ptr<Encoding> encoding_;
  std::unique_ptr<class SegmentWriter> writer_;
  Report last_;
};

}  // namespace lensd
