// What the [record] table says, as plain values.
#pragma once

#include <string>

#include "core/media/encoder_options.hpp"

namespace lensd {

struct RecordSettings {
  EncoderOptions encoder;
  std::string folder;                          ///< of files that are not named; empty: the current one
  std::string name = "rec-%Y%m%d-%H%M%S.mkv";  ///< for strftime, local time of the first frame
  double split_seconds = 0;                    ///< a new file after this time; 0: never
  double split_megabytes = 0;                  ///< a new file about this size (10⁶ bytes); 0: never
  double keep_minutes = 0;        ///< files with so much newer footage are deleted; 0: all are kept
  double keep_gigabytes = 0;      ///< the oldest beyond this size (10⁹ bytes) are; 0: any size
  double preroll_seconds = 0;     ///< a recording begins this long before it was asked for
  double preroll_megabytes = 64;  ///< memory for that, at most
};

}  // namespace lensd
