// Sample rates and channel counts of AAC, by their index in the stream (ISO/IEC 14496-3, tables 1.18 and
// 1.19).
#pragma once

namespace lensd {

inline constexpr int kAacRates[] = {96000, 88200, 64000, 48000, 44100, 32000, 24000,
                                    22050, 16000, 12000, 11025, 8000,  7350};

/// Returns the number of channels of a channel configuration. Returns 0 if the stream describes the channels
/// separately.
constexpr int aac_channels(int configuration) {
  return configuration == 7 ? 8 : configuration < 7 ? configuration : 0;
}

}  // namespace lensd
