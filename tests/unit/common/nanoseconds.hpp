#pragma once
// Time units of the media code, in nanoseconds.

#include <cstdint>

namespace lensd {

inline constexpr int64_t msec = 1'000'000, sec = 1'000 * msec;

}  // namespace lensd
