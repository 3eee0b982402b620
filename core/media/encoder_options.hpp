// Encoder options from the [record] and [output] tables.
#pragma once

#include <optional>
#include <string>

namespace lensd {

struct EncoderOptions {
  /// FFmpeg's name of an encoder or codec ("libx264", "h264_nvenc", "ffv1"). Empty or "auto": depends on the
  /// container. "hardware": the first NVENC encoder that starts, else as "auto".
  std::string codec;
  std::string preset;      ///< in the encoder's terms; empty: lensd's choice
  std::optional<int> crf;  ///< constant quality, on the encoder's scale; absent: lensd's choice
  int bitrate_kbit = 0;    ///< 0: constant quality
  double key_interval_s = 5;
  /// Limit of the encoder's delay (look-ahead, reordering, frame threads), which is also what a crash loses.
  /// 0: no limit, which compresses a little better.
  double max_delay_s = 0;
};

}  // namespace lensd
