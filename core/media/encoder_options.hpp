// What is asked of an encoder: plain values, from the [record] and [output] tables.
#pragma once

#include <optional>
#include <string>

namespace lensd {

struct EncoderOptions {
  /// An encoder or codec by FFmpeg's name ("libx264", "h264_nvenc", "ffv1"); empty or "auto": by the
  /// container; "hardware": the first of NVENC's that starts here, else as "auto".
  std::string codec;
  std::string preset;      ///< the encoder's own name of it; empty: lensd's choice
  std::optional<int> crf;  ///< constant quality, the encoder's scale; absent: lensd's choice
  int bitrate_kbit = 0;    ///< 0: constant quality
  double key_interval_s = 5;
  /// Keeps back at most this much video (look-ahead, reordering, frame threads), so that a crash loses no
  /// more; 0: as much as the encoder likes, which compresses a little better.
  double max_delay_s = 0;
};

}  // namespace lensd
