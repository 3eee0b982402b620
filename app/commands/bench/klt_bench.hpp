// klt by itself: it needs pictures that move, and its passes are worth knowing one by one.
#pragma once

#include <string>
#include <vector>

#include "core/device/backend.hpp"
#include "core/image/image.hpp"
#include "kernels/klt/klt.hpp"

namespace lensd::bench {

/// 1080p, 3300 features, window 21, 4 levels; what else is set.
struct KltSetting {
  const char* label;
  int64_t iterations;
  double epsilon, fb_threshold;
};
inline constexpr KltSetting kKltSettings[] = {{"30 steps, 0.01 px, no way back", 30, 0.01, 0},
                                              {"30 steps, 0.01 px", 30, 0.01, 1},
                                              {"10 steps, 0.03 px, no way back", 10, 0.03, 0}};
inline constexpr Extent kKltExtent{1920, 1080};

/// Two pictures of a texture that moves by a few pixels, with noise.
const std::vector<Image>& klt_pictures();
void set_up(Klt& klt, const KltSetting& setting);

/// Seconds of each pass: of a frame in which all corners are new, and of one in which they are followed.
struct KltTimes {
  std::vector<std::string> passes;
  std::vector<double> first, later;
  uint32_t found = 0, followed = 0;
};
KltTimes time_klt_cpu(const KltSetting& setting, int threads);
KltTimes time_klt_cuda(const KltSetting& setting);
/// Prints all of it, for the CPU and for the GPU where there is one.
void bench_klt(const CudaStatus& status, bool cpu, bool cuda);

}  // namespace lensd::bench
