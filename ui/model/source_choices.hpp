// Sources that can be opened, the progress of opening one, and the state of the source dialog.
//
//   SourceFinder ──▶ SourceChoices ──▶ dialog ──▶ SourceRequest ──▶ SourceOpener ──▶ SourceProgress
//
// Plain values, used by the UI thread. A published SourceChoices is immutable.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/image/view.hpp"
#include "core/media/cameras.hpp"
#include "core/media/media_folder.hpp"
#include "core/media/pipewire_nodes.hpp"

namespace lensd::ui {

struct RecentSource {
  std::string url;
  std::string problem;  ///< why it cannot be opened now; empty: no known problem
};

struct SourceChoices {
  FolderList files;
  std::vector<RecentSource> recent;                         ///< recent sources, newest first
  std::vector<std::pair<std::string, std::string>> places;  ///< labels and paths: "Home", …
  std::vector<Camera> cameras;
  std::vector<PipewireNode> pipewire;  ///< without those in `cameras`
  bool cameras_known = false;          ///< false: not queried yet
  std::string cameras_problem;         ///< why there are no cameras, if known
  std::string screen_problem;          ///< why the screen cannot be captured; empty: it can
  bool portal = false;                 ///< the desktop portal shares screens and windows
};

/// A source that the user wants to open.
struct SourceRequest {
  std::string text;    ///< path or URL; for typed text, the result of tidy_source()
  std::string format;  ///< cameras: value of [source] format; empty: the device's default
  Extent size;         ///< picture size; empty: the device's default
  double rate = 0;     ///< frames per second; 0: the device's default
  bool wait = false;   ///< wait for a live source that is down instead of failing
};
/// Returns a request with the source's default format, size and rate.
inline SourceRequest source_request(std::string text) {
  SourceRequest request;
  request.text = std::move(text);
  return request;
}

/// State of the newest request to open a source.
struct SourceProgress {
  std::string opening;    ///< short name of the source being opened; empty: none
  int64_t since_ns = 0;   ///< start of the attempt
  uint64_t failures = 0;  ///< number of failed attempts
  std::string problem;    ///< message of the last failure, one line
  SourceRequest failed;   ///< request of the last failure
  bool may_wait = false;  ///< the failed source is live and may come up later
};

/// State of the source dialog.
struct SourceState {
  bool ask = false;  ///< open the dialog in the next frame
  bool open = false;
  bool focus_box = false;  ///< set the keyboard focus to the text box
  bool refused = false;    ///< opening failed: typing replaces the text
  std::string text;        ///< text in the box
  int choice = -1;         ///< line that the arrow keys chose; -1: none
  std::string chosen;      ///< name in that line, which may move when the folder is listed again
  std::string select;      ///< file to choose in the list: its path; once the dialog is open, only its name
  bool scroll_to_choice = false;
  std::string folder;       ///< folder to list while the text names no folder
  std::string listed;       ///< listed folder, which SourceFinder reads
  std::string listed_part;  ///< part of the names that SourceFinder lists; empty: all
  std::string camera;       ///< path of the camera whose formats replace the list; empty: none
  bool all_recent = false;
  uint64_t pipeline = 0;   ///< ViewerModel::pipeline in the last frame
  bool requested = false;  ///< a source was chosen in the dialog, or dropped into the window
  bool opening = false;    ///< a source was being opened in the last frame
  uint64_t failures_seen = 0;
  std::string problem;  ///< message below the box
  bool may_wait = false;
};

}  // namespace lensd::ui
