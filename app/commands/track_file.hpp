// Tracks on disk: every track of every frame, as CSV or JSON Lines.
//
//   Frame::tracks() ── write() ──▶ file
//
// The numbers have fixed decimals, so that equal tables give equal bytes. One thread at a time.
#pragma once

#include <memory>
#include <string>

#include "core/image/frame.hpp"
#include "core/image/tracks.hpp"

namespace lensd {

/// Columns of CSV and keys of JSON Lines: frame, pts (seconds), id, x, y (pixels; centres are integers), age
/// (frames), residual (grey levels), fb_error (pixels, forward-backward), status (see name(TrackStatus)). A
/// lost track has one line with the reason as its status.
class TrackFile {
 public:
  /// `.csv` or `.jsonl` by the path's end. Throws Error(usage) for another one, Error(runtime_failure) when
  /// the file cannot be written.
  explicit TrackFile(const std::string& path);
  ~TrackFile();

  /// Appends the frame's tracks in the order of their places; `table` may be null.
  void write(const TrackTable* table, const FrameInfo& frame);
  /// Closes the file and reports what the system kept back until then.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Checks the ending only, so that a bad name is refused before anything runs. Throws Error(usage).
void check_track_path(const std::string& path);

}  // namespace lensd
