#pragma once
// Times in nanoseconds, as the media code counts them.

#include <cstdint>

namespace lensd {

inline constexpr int64_t msec = 1'000'000, sec = 1'000 * msec;

}  // namespace lensd
