// Writes snapshots to files and copies them to the clipboard, on other threads so that the window does not
// wait.
//
//   Image, path ── take() ──▶ PNG or JPEG, written atomically ──▶ notice with the path
//   Image ──────── copy() ──▶ clipboard ──▶ notice
//
// Call from the UI thread only. The destructor waits for pending writes and copies.
#pragma once

#include <deque>
#include <future>
#include <string>
#include <vector>

#include "core/base/notices.hpp"
#include "core/image/image.hpp"
#include "core/image/pixel_aspect.hpp"

namespace lensd {

/// Expands an mpv template: %F is the source's name without extension, %p the time as 00-00-00, %P the time
/// with milliseconds, %f the frame index, %tX strftime's %X, %% a percent sign. Keeps `%n` for unused_path().
/// Shortens %F so that each part of the path has at most 240 bytes.
std::string expand_template(const std::string& text, const std::string& source, int64_t pts_ns,
                            int64_t frame);

/// Returns the first path that does not exist, or cannot be examined, and is not in `taken`. Replaces %n with
/// 0001, 0002, …. Without %n, tries the path itself, then -2, -3, … before the extension.
std::string unused_path(const std::string& path, const std::vector<std::string>& taken = {});

/// Returns the pictures folder of the XDG user directories, else ~/Pictures, else the home folder.
std::string pictures_folder();
/// Returns the videos folder of the XDG user directories, else ~/Videos, else the home folder.
std::string videos_folder();

class Snapshots {
 public:
  /// Starts to write an image. Does not block.
  void take(Image image, PixelAspect aspect, std::string path);
  /// Starts to copy an image to the clipboard. Does not block.
  void copy(Image image, PixelAspect aspect);
  /// Returns the notices of finished writes and copies. Does not block.
  std::vector<Notice> poll();
  /// Returns the paths of the images that are being written.
  std::vector<std::string> unfinished() const;

 private:
  struct Task {
    std::string path;  ///< empty: a copy to the clipboard
    std::future<Notice> notice;
  };
  std::deque<Task> running_;
};

}  // namespace lensd
