// Encoder options from the [record] and [output] tables.
#pragma once

#include <optional>
#include <string>

#include "core/image/picture.hpp"
#include "core/media/hdr_metadata.hpp"

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
  /// this much video. 0: no limit, which compresses slightly better.
  double max_delay_s = 0;
  /// Bits per sample if the encoder supports both: 8 or 10. 0: 10 for PQ and HLG and for working images with
  /// 16 bits, else 8. For SDR in H.264, 0 means 8, because hardware decoders and browsers do not decode it
  /// with 10 bits. Decoded YUV and grey pictures keep their depth if the encoder has such a format; the value
  /// then has no effect.
  int depth = 0;
  bool dither = false;  ///< ordered dither instead of rounding if 16-bit working images are encoded with 8
  /// Matrix of the conversion from working images to YUV. Absent: BT.2020 for BT.2020 primaries, else the
  /// default for the size.
  std::optional<YuvMatrix> matrix;
  /// Metadata of the stream if it is PQ or HLG. Filters do not change it.
  HdrMetadata hdr;
};

}  // namespace lensd
