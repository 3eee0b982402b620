// Pictures written from the window, on a thread of their own so that the window goes on.
//
//   Image, name template ── take() ──▶ PNG or JPEG, whole or not at all ──▶ notice where it went
//
// UI thread only; the destructor waits for what is being written.
#pragma once

#include <deque>
#include <future>
#include <string>
#include <vector>

#include "core/image/image.hpp"

namespace lensd {

struct SnapshotNotice {
  bool problem = false;
  std::string text;
};

/// Expands mpv's template signs: %F the source's name without its ending, %p time as 00:00:00, %P with
/// milliseconds, %f the frame's index, %tX strftime's %X, %% a percent sign. `%n` is left for a number.
std::string expand_template(const std::string& text, const std::string& source, int64_t pts_ns,
                            int64_t frame);

/// The first of the names with %n replaced by 1, 2, … that does not exist; without %n, the name itself or,
/// where it exists, with -2, -3, … before its ending.
std::string unused_path(const std::string& path);

/// Where the user keeps pictures and videos (XDG user directories), else the home folder.
std::string pictures_folder();
std::string videos_folder();

class Snapshots {
 public:
  void take(Image image, std::string path);
  std::vector<SnapshotNotice> poll();

 private:
  std::deque<std::future<SnapshotNotice>> running_;
};

}  // namespace lensd
