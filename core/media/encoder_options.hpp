// Encoder options from the [record] and [output] tables.
#pragma once

#include <optional>
#include <string>

namespace lensd {

struct EncoderOptions {
  /// FFmpeg's name of an encoder or codec ("libx264", "h264_nvenc", "ffv1"). Empty or "auto": depends on the
  /// container. "hardware": the first NVENC encoder that starts, else as "auto".
  std::string codec;
  std::string preset;         ///< name of one of the encoder's presets; empty: lensd's choice
  std::optional<int> crf;     ///< constant quality, on the encoder's scale; absent: lensd's choice
  int bitrate_kbit = 0;       ///< 0: constant quality
  double key_interval_s = 5;  ///< maximum time between key frames
  /// Maximum delay of the encoder in seconds (look-ahead, reordering, frame threads). A crash loses up to
  /// this much video. 0: no limit, which compresses slightly better. libx265 ignores it.
  double max_delay_s = 0;
};

}  // namespace lensd
