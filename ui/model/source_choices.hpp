// What can be opened, what is being opened, and what the source dialog remembers.
//
//   app/source_finder ──▶ SourceChoices ──▶ dialog ──▶ SourceRequest ──▶ app/source_opener ──▶ SourceProgress
//
// Plain data, UI thread; SourceChoices never changes once it was made.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/image/view.hpp"
#include "core/media/cameras.hpp"
#include "core/media/media_folder.hpp"

namespace lensd::ui {

struct RecentSource {
  std::string url;
  std::string problem;  ///< why it cannot be opened now; empty: nothing is known against it
};

struct SourceChoices {
  FolderList files;
  std::vector<RecentSource> recent;                         ///< newest first
  std::vector<std::pair<std::string, std::string>> places;  ///< "Home" and its path, …
  std::vector<Camera> cameras;
  bool cameras_known = false;   ///< false: they were not asked for yet
  std::string cameras_problem;  ///< why there are none, where there is more to say than that
  std::string screen_problem;   ///< why the screen cannot be captured; empty: it can
};

/// A source that the user asks for.
struct SourceRequest {
  std::string text;    ///< as typed
  std::string format;  ///< cameras: as [source] format; empty: the device's own
  Extent size;         ///< empty: the device's own
  double rate = 0;     ///< 0: the device's own
  bool wait = false;   ///< a live source that is not up is shown as such, instead of being refused
};

/// How the newest wish fares.
struct SourceProgress {
  std::string opening;    ///< what is being opened, in short; empty: nothing
  int64_t since_ns = 0;   ///< since when
  uint64_t failures = 0;  ///< counts them
  std::string problem;    ///< of the last failure: one line
  SourceRequest failed;   ///< what was wished for then
  bool may_wait = false;  ///< it is a live source, which may come up later
};

/// The dialog's part of the interface's state.
struct SourceState {
  bool ask = false;      ///< it is to be opened
  bool open = false;     ///< it is there
  bool fresh = false;    ///< the box is to take the keyboard
  bool refused = false;  ///< what the box says could not be opened: typing writes something else
  std::string text;      ///< in the box
  int choice = -1;       ///< line of the list that Enter opens; -1: what was typed
  std::string folder;    ///< that is listed while none is typed
  std::string listed;    ///< that the list shows: what app/source_finder has to read
  std::string camera;    ///< path of the camera whose formats are shown instead of the list; empty: none
  bool all_recent = false;
  uint64_t pipeline = 0;  ///< that ran when the dialog was opened
  uint64_t failures_seen = 0;
  std::string problem;  ///< shown below the box
  bool may_wait = false;
};

}  // namespace lensd::ui
