// Measures each pass of klt on moving pictures.
#pragma once

#include <string>
#include <vector>

#include "core/device/backend.hpp"
#include "core/image/image.hpp"
#include "kernels/klt/klt.hpp"

namespace lensd::bench {

/// Settings to measure. All have 1080p, 3300 features, window 21 and 3 pyramid levels above the picture.
struct KltSetting {
  const char* label;
  int64_t iterations;
  double epsilon, fb_threshold;
  PixelFormat format = PixelFormat::gray8;
};
inline constexpr KltSetting kKltSettings[] = {
    {"30 steps, 0.01 px, no backward check", 30, 0.01, 0},
    {"30 steps, 0.01 px", 30, 0.01, 1},
    {"10 steps, 0.03 px, no backward check", 10, 0.03, 0},
    {"16 bits, 30 steps, 0.01 px", 30, 0.01, 1, PixelFormat::gray16}};
inline constexpr Extent kKltExtent{1920, 1080};

/// Returns two pictures of a texture that moves by a few pixels, with noise. `format`: Gray8 or Gray16.
const std::vector<Image>& klt_pictures(PixelFormat format);
void set_up(Klt& klt, const KltSetting& setting);

/// Median time of each pass in seconds. `first`: first frame, in which all tracks are new; `later`: second
/// frame. `found`, `followed`: number of tracks after these frames.
struct KltTimes {
  std::vector<std::string> passes;
  std::vector<double> first, later;
  uint32_t found = 0, followed = 0;
};
KltTimes time_klt_cpu(const KltSetting& setting, int threads);
KltTimes time_klt_cuda(const KltSetting& setting);
/// Times all settings on the selected backends and prints the tables.
void bench_klt(const CudaStatus& status, bool cpu, bool cuda);

}  // namespace lensd::bench
