#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/common/lut.hpp"
#include "kernels/common/tally.hpp"

namespace lensd {

struct AutoContrastParams {
  double clip_low = 0, clip_high = 0;
  bool per_channel = false;
  double smooth = 0.9;
};

struct AutoContrastBlock {
  double kept, taken;                    ///< of the last ends and of the frame's own, together 1
  uint32_t clip_low_ppm, clip_high_ppm;  ///< millionths of the samples
  uint32_t per_channel;
  static AutoContrastBlock make(const AutoContrastParams& p) {
    return {p.smooth, 1 - p.smooth, static_cast<uint32_t>(std::lround(p.clip_low * 10000)),
            static_cast<uint32_t>(std::lround(p.clip_high * 10000)), p.per_channel ? 1u : 0u};
  }
};

/// The values that become 0 and 255, of each channel.
struct ContrastEnds {
  double low[3], high[3];
};

struct AutoContrastState {
  uint64_t seen;  ///< 0 before the first frame
  ContrastEnds ends;
};

/// Leads with the counters that the first pass adds to.
struct AutoContrastStats {
  Histogram histogram;
  ContrastEnds ends;
  uint64_t channels;
};

/// Samples that may lie beyond an end.
LENSD_HD constexpr uint64_t clip_limit(uint64_t samples, uint32_t ppm) {
  return samples * ppm / 1000000;
}

/// `v` is the low end: the lowest value with more than `limit` samples up to and including it.
LENSD_HD constexpr bool is_low_end(uint64_t up_to, uint64_t count, uint64_t limit) {
  return up_to > limit && up_to - count <= limit;
}
/// `v` is the high end: the highest value with more than `limit` samples from it upwards.
LENSD_HD constexpr bool is_high_end(uint64_t samples, uint64_t up_to, uint64_t count, uint64_t limit) {
  const uint64_t above = samples - up_to;
  return above + count > limit && above <= limit;
}

/// One step of the low-pass filter for channel `c`. A channel of one value asks for no change.
LENSD_HD inline void move_ends(const AutoContrastBlock& block, int low, int high, bool first, int c,
                               ContrastEnds& ends) {
  const double to_low = low < high ? low : 0, to_high = low < high ? high : 255;
  const double kept_low = block.kept * ends.low[c], kept_high = block.kept * ends.high[c];
  ends.low[c] = first ? to_low : kept_low + block.taken * to_low;
  ends.high[c] = first ? to_high : kept_high + block.taken * to_high;
}

/// Table entry of channel `c` for value `v`.
LENSD_HD inline uint8_t contrast_value(const ContrastEnds& ends, int c, int v) {
  const double stretched = (v - ends.low[c]) * 255 / (ends.high[c] - ends.low[c]) + 0.5;
  return static_cast<uint8_t>(stretched < 0 ? 0 : stretched > 255 ? 255 : static_cast<int>(stretched));
}

}  // namespace lensd
