// Audio files for the sound tests, written sample by sample.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>

#include "core/media/sound/sound_format.hpp"

namespace lensd::test {

/// Returns a WAV file of 16 bits; `value(i)` is sample i of every channel, -1 to 1.
inline std::string wav(int rate, int channels, int64_t samples, const std::function<double(int64_t)>& value) {
  const auto bytes = static_cast<uint32_t>(samples * channels * 2);
  std::string out;
  const auto put = [&out](auto number) {
    char raw[sizeof number];
    std::memcpy(raw, &number, sizeof number);
    out.append(raw, sizeof number);
  };
  out += "RIFF", put(bytes + 36), out += "WAVEfmt ", put(uint32_t{16});
  put(uint16_t{1}), put(static_cast<uint16_t>(channels)), put(static_cast<uint32_t>(rate));
  put(static_cast<uint32_t>(rate * channels * 2)), put(static_cast<uint16_t>(channels * 2)),
      put(uint16_t{16});
  out += "data", put(bytes);
  for (int64_t i = 0; i < samples; ++i)
    for (int c = 0; c < channels; ++c) put(static_cast<int16_t>(std::lround(value(i) * 32767)));
  return out;
}

/// Returns sample i of a clip with `rate` samples per second: a beep of 50 ms at every full second.
inline double beeps(int64_t i, int rate) {
  const double t = static_cast<double>(i) / rate, in_second = t - std::floor(t);
  return in_second < 0.05 ? 0.5 * std::sin(2 * 3.14159265358979 * 1000 * t) : 0;
}

}  // namespace lensd::test
