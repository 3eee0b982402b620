// Thumbnails of a file for the seek bar.
//
//   find() ── position ──▶ own thread: key frame at or before it, shrunk on the CPU ──▶ wake(), find()
//
// The thread has its own source and the lowest priority, so that it does not slow playback down. It starts
// with the first request. It decodes only the newest request and discards older ones.
//
// Call from the UI thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/owned_thread.hpp"
#include "core/image/image.hpp"

namespace lensd {

/// Largest size of a thumbnail in pixels. A thumbnail has the aspect ratio of the displayed picture.
inline constexpr Extent kThumbnailSize{240, 160};

class ThumbnailLoader {
 public:
  /// `wake` is called on the loader's thread when a requested thumbnail is ready or has failed.
  explicit ThumbnailLoader(std::function<void()> wake);
  ~ThumbnailLoader();

  /// Replaces the file and discards all thumbnails. If `path` is empty or the duration is 0, the file has no
  /// thumbnails.
  void open(const std::string& path, int64_t duration_ns, int video_track = 0);
  /// Returns false if the file has no thumbnails or cannot be decoded.
  bool available() const;
  /// Returns the thumbnail (RGBA8) at a position. Returns null if it is not ready or cannot be decoded.
  /// Requests a thumbnail that is not ready. Does not block: while the loader's thread holds the mutex,
  /// find() requests nothing and can only repeat its last result. So call it in every display frame.
  std::shared_ptr<const Image> find(int64_t position_ns);

 private:
  struct Shared;
  void close(std::chrono::nanoseconds timeout);
  bool start();

  std::function<void()> wake_;
  std::shared_ptr<Shared> shared_;  // shared with the thread; null: no thumbnails
  OwnedThread thread_;
  bool started_ = false;
  int64_t last_position_ = -1;         // position of last_, in units of Shared::spacing_ns
  std::shared_ptr<const Image> last_;  // the last result of find() that was ready
};

}  // namespace lensd
