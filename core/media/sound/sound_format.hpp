// The format of all decoded sound: interleaved float stereo at 48 kHz.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace lensd {

inline constexpr int kSoundRate = 48000, kSoundChannels = 2;

/// Returns the duration of `frames` in nanoseconds. A frame has one sample of each channel.
inline int64_t sound_ns(double frames) noexcept {
  return std::llround(frames * (1e9 / kSoundRate));
}
/// Returns the number of frames in `ns`, rounded.
inline int64_t sound_frames(int64_t ns) noexcept {
  return std::llround(static_cast<double>(ns) * (kSoundRate / 1e9));
}

}  // namespace lensd
