#include "app/commands/bench/klt_bench.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "app/commands/bench/bench_rig.hpp"
#include "app/commands/bench/motion.hpp"

namespace lensd::bench {
namespace {

constexpr int kRuns = 41;

std::vector<double> medians(std::vector<std::vector<double>> times) {
  std::vector<double> middle;
  for (auto& t : times) middle.push_back(median(std::move(t)));
  return middle;
}

void print(const std::string& title, const KltTimes& times) {
  fmt::print("\n{}\n{:<30}{:>12}{:>12}\n", title, "", "new us", "followed us");
  double first = 0, later = 0;
  for (size_t i = 0; i < times.passes.size(); ++i) {
    fmt::print("{:<30}{:>12.1f}{:>12.1f}\n", times.passes[i], times.first[i] * 1e6, times.later[i] * 1e6);
    first += times.first[i], later += times.later[i];
  }
  fmt::print("{:<30}{:>12.1f}{:>12.1f}\n", "all", first * 1e6, later * 1e6);
  fmt::print("{:<30}{:>12}{:>12}\n", "tracks", times.found, times.followed);
  std::fflush(stdout);
}

}  // namespace

const std::vector<Image>& klt_pictures(PixelFormat format) {
  const auto pair = [](PixelFormat of) {
    return std::vector<Image>{
        textured(kKltExtent, {}, {.noise = 2, .seed = 1, .format = of}),
        textured(kKltExtent, {.name = "", .x = 5.5, .y = -2.25}, {.noise = 2, .seed = 2, .format = of})};
  };
  static const std::vector<Image> narrow = pair(PixelFormat::gray8), deep = pair(PixelFormat::gray16);
  return format == PixelFormat::gray8 ? narrow : deep;
}

void set_up(Klt& klt, const KltSetting& setting) {
  auto& p = *static_cast<KltParams*>(klt.params());
  p.max_features = 3300, p.quality = 1e-4, p.min_distance = 8;
  p.window = 21, p.levels = 3, p.redetect_below = 0;
  p.iterations = static_cast<int>(setting.iterations), p.epsilon = setting.epsilon;
  p.fb_threshold = setting.fb_threshold;
}

KltTimes time_klt_cpu(const KltSetting& setting, int threads) {
  Klt klt;
  set_up(klt, setting);
  const ImageFormat format{setting.format, kKltExtent};
  CpuRun cpu(klt, {.images = {&format, 1}}, threads);
  // Runs frame 0 or 1 kRuns times. Returns the median time of each pass in seconds.
  const auto time = [&](uint32_t index) {
    const FrameBlock frame{.index = index, .state_index = index, .reset = index == 0 ? 1u : 0u};
    const ConstImageRef in = klt_pictures(setting.format)[index].ref();
    PassArgs args = cpu.args();
    args.in = {&in, 1}, args.frame = &frame;
    std::vector<std::vector<double>> times(cpu.layout.passes.size());
    for (int run = 0; run < kRuns; ++run) {
      const std::vector<double>& seconds = cpu.run(args);
      for (size_t pass = 0; pass < times.size(); ++pass) times[pass].push_back(seconds[pass]);
    }
    return medians(std::move(times));
  };
  const auto alive = [&] { return reinterpret_cast<const TrackTable*>(cpu.stats.data())->alive; };
  KltTimes times;
  for (const PassSpec& pass : cpu.layout.passes) times.passes.emplace_back(pass.name);
  times.first = time(0), times.found = alive();
  times.later = time(1), times.followed = alive();
  return times;
}

void bench_klt([[maybe_unused]] const CudaStatus& status, bool cpu, [[maybe_unused]] bool cuda) {
  for (const KltSetting& setting : kKltSettings) {
#if LENSD_CUDA
    if (cuda && status.available)
      print(fmt::format("klt, 1080p, {}: {}, driver {}", setting.label, status.device, status.driver),
            time_klt_cuda(setting));
#endif
    if (!cpu) continue;
    for (const int threads : {1, 2})
      print(fmt::format("klt, 1080p, {}: CPU, {} thread{}", setting.label, threads, threads == 1 ? "" : "s"),
            time_klt_cpu(setting, threads));
  }
}

}  // namespace lensd::bench
