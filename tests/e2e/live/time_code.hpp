// A picture's creation time as bars along its upper edge. A sender draws the bars, and probes read them at
// later stages, so that one clock measures the whole latency.
//
//   ┌─ 52 bars over the width: light, dark, 48 bits (highest first), dark, light ─┐
//
// The code is two bar widths high. Its bits are the low 40 bits of CLOCK_MONOTONIC in microseconds, which
// wrap after 12 days, and their CRC-8.
#pragma once

#include <cstdint>
#include <optional>

namespace lensd::time_code {

constexpr int kBits = 48, kBars = kBits + 4;
constexpr uint64_t kWrap = uint64_t{1} << 40;

constexpr uint8_t checksum(uint64_t us) {
  uint8_t crc = 0x5A;
  for (int byte = 4; byte >= 0; --byte) {
    crc ^= static_cast<uint8_t>(us >> (8 * byte));
    for (int bit = 0; bit < 8; ++bit) crc = static_cast<uint8_t>((crc & 0x80) ? (crc << 1) ^ 0x07 : crc << 1);
  }
  return crc;
}

/// Returns true if bar `index` of the code for time `us` is light.
constexpr bool light(uint64_t us, int index) {
  if (index < 2) return index == 0;
  if (index >= kBits + 2) return index == kBars - 1;
  const uint64_t word = (us % kWrap) << 8 | checksum(us % kWrap);
  return (word >> (kBits + 1 - index)) & 1;
}

/// Returns the drawn time in microseconds, or nullopt if there is no valid code. level(bar) returns the
/// brightness, 0 to 255, in the middle of a bar.
template <class Level>
std::optional<uint64_t> read(Level&& level) {
  const int bright = level(0), dark = level(1);
  if (bright < dark + 40) return std::nullopt;
  const int middle = (bright + dark) / 2;
  if (level(kBars - 2) > middle || level(kBars - 1) < middle) return std::nullopt;
  uint64_t word = 0;
  for (int bit = 0; bit < kBits; ++bit) word = word << 1 | (level(2 + bit) > middle ? 1u : 0u);
  const uint64_t us = word >> 8;
  if (checksum(us) != (word & 0xFF)) return std::nullopt;
  return us;
}

/// Returns the age in milliseconds of time code `us` at time `now_us`.
constexpr double age_ms(uint64_t us, uint64_t now_us) {
  return static_cast<double>((now_us - us) % kWrap) * 1e-3;
}

}  // namespace lensd::time_code
