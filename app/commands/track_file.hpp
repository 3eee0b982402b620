// Writes all tracks of each frame as CSV or JSON Lines.
//
//   Frame::tracks() ── write() ──▶ file
//
// Numbers have a fixed number of decimals, so that equal tables produce equal bytes. Not thread-safe.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "core/base/whole_file.hpp"
#include "core/image/frame.hpp"
#include "core/image/tracks.hpp"

namespace lensd {

/// CSV columns and JSON keys: frame, pts (seconds), id, x, y (pixels; integers at pixel centres), age
/// (frames), residual (grey levels), fb_error (pixels, forward-backward), status (see name(TrackStatus)). In
/// the frame in which a track is lost, its status is the reason.
class TrackFile {
 public:
  /// Opens the file. Its extension, .csv or .jsonl, selects the format. Throws Error(usage) for any other
  /// extension, and as open_output() does.
  explicit TrackFile(const std::string& path, Existing existing = Existing::replace);

  /// Appends the frame's tracks in slot order. `table` may be null. Throws Error(runtime_failure) if the file
  /// cannot be written.
  void write(const TrackTable* table, const FrameInfo& frame);
  /// Closes the file. Throws Error(runtime_failure) if buffered data cannot be written.
  void finish();

 private:
  [[noreturn]] void fail() const;
  void flush();

  std::string path_;
  bool csv_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  std::string text_;
};

/// Throws Error(usage) unless the extension is .csv or .jsonl. Call before the run.
void check_track_path(const std::string& path);

}  // namespace lensd
