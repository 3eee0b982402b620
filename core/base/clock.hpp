// Monotonic time. Every *_ns in the project is an int64 number of nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>

namespace lensd {

/// Returns nanoseconds on the monotonic clock, unrelated to wall-clock time. Thread-safe.
inline int64_t now_ns() noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

constexpr double to_ms(int64_t ns) noexcept {
  return static_cast<double>(ns) / 1e6;
}
constexpr double to_s(int64_t ns) noexcept {
  return static_cast<double>(ns) / 1e9;
}

/// Returns true for times within ±73 years. The sum or difference of two such times does not overflow.
constexpr bool plausible(int64_t ns) noexcept {
  return ns > -(INT64_MAX / 4) && ns < INT64_MAX / 4;
}

}  // namespace lensd
