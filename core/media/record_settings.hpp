// Settings from the [record] table.
#pragma once

#include <string>

#include "core/media/encoder_options.hpp"

namespace lensd {

struct RecordSettings {
  EncoderOptions encoder;
  std::string folder;                          ///< folder of files named by `name`; empty: the current folder
  std::string name = "rec-%Y%m%d-%H%M%S.mkv";  ///< strftime template for the local time of the first frame
  /// Start a new file after this time; 0: never. If a keep limit but no split limit is set, lensd chooses the
  /// time.
  double split_seconds = 0;
  double split_megabytes = 0;     ///< start a new file at about this size (10⁶ bytes); 0: never
  double keep_minutes = 0;        ///< delete a file if the newer files have this much footage; 0: never
  double keep_gigabytes = 0;      ///< delete the oldest files beyond this total size (10⁹ bytes); 0: never
  std::string owner;              ///< id of the configuration; a ring never deletes another owner's files
  double preroll_seconds = 0;     ///< a recording starts this long before the request
  double preroll_megabytes = 64;  ///< memory limit of the pre-roll
  /// Wait for the reader of a pipe, and for the sync of files, without a timeout. Only for batch runs: it
  /// would delay a live recording.
  bool no_timeouts = false;
  /// Write the files on a separate thread; packets wait in memory while the disk is busy. For live sources,
  /// which cannot wait.
  bool own_writer = false;
};

}  // namespace lensd
