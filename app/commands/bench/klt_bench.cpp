#include "app/commands/bench/klt_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "app/commands/bench/motion.hpp"
#include "core/base/clock.hpp"
#include "core/device/memory.hpp"
#include "core/device/workers.hpp"

namespace lensd::bench {
namespace {

constexpr int kRuns = 41;

/// The passes' memory; two frames, the second one as often as wanted.
class KltRun {
 public:
  KltRun(const KltSetting& setting, int threads) : workers_(threads) {
    set_up(klt_, setting);
    const ImageFormat format{PixelFormat::gray8, kKltExtent};
    layout_ = klt_.configure({.images = {&format, 1}});
    stride_ = align_up(layout_.worker_bytes, 256);
    worker_ = MemoryBlock(MemoryKind::host, stride_ * static_cast<size_t>(threads));
    state_stride_ = align_up(layout_.state_bytes, 256);
    state_ = MemoryBlock(MemoryKind::host, 2 * state_stride_);
    stats_ = MemoryBlock(MemoryKind::host, layout_.stats_bytes);
    std::memset(state_.data(), 0, state_.size());
    for (const size_t bytes : layout_.scratch_bytes) {
      scratch_.emplace_back(MemoryKind::host, bytes);
      scratch_pointers_.push_back(scratch_.back().data());
    }
    block_.resize(klt_.block_bytes());
    klt_.fill_block(block_.data());
  }

  /// Runs frame 0 or 1 and adds what each pass took.
  void frame(uint32_t index, std::vector<std::vector<double>>& times) {
    const FrameBlock frame{.index = index, .state_index = index, .reset = index == 0 ? 1u : 0u};
    const ConstImageRef in = klt_pictures()[index].ref();
    std::memset(stats_.data(), 0, stats_.size());
    args_ = {};
    args_.in = {&in, 1}, args_.block = args_.host_block = block_.data(), args_.scratch = scratch_pointers_;
    args_.frame = &frame;
    args_.state = state_.data(), args_.state_bytes = state_stride_, args_.stats = stats_.data();
    times.resize(layout_.passes.size());
    for (size_t pass = 0; pass < layout_.passes.size(); ++pass) {
      args_.pass = static_cast<int>(pass);
      const int64_t begin = now_ns();
      workers_.run(layout_.passes[pass].items, layout_.passes[pass].grain, &KltRun::band, this);
      times[pass].push_back(static_cast<double>(now_ns() - begin) * 1e-9);
    }
  }
  const Layout& layout() const { return layout_; }
  uint32_t alive() const { return reinterpret_cast<const TrackTable*>(stats_.data())->alive; }

 private:
  static void band(void* opaque, Band band, int worker) {
    const auto& self = *static_cast<const KltRun*>(opaque);
    PassArgs args = self.args_;
    args.worker = self.worker_.data() + self.stride_ * static_cast<size_t>(worker);
    run_pass(self.klt_, self.layout_, static_cast<size_t>(args.pass), args, band);
  }

  Klt klt_;
  Workers workers_;
  Layout layout_;
  size_t stride_ = 0, state_stride_ = 0;
  MemoryBlock worker_, state_, stats_;
  std::vector<MemoryBlock> scratch_;
  std::vector<uint8_t*> scratch_pointers_;
  std::vector<uint8_t> block_;
  PassArgs args_;
};

std::vector<double> medians(std::vector<std::vector<double>>& times) {
  std::vector<double> middle;
  for (auto& t : times) {
    std::nth_element(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(t.size() / 2), t.end());
    middle.push_back(t[t.size() / 2]);
  }
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

const std::vector<Image>& klt_pictures() {
  static const std::vector<Image> pictures{
      textured(kKltExtent, {}, {.noise = 2, .seed = 1}),
      textured(kKltExtent, {.name = "", .x = 5.5, .y = -2.25}, {.noise = 2, .seed = 2})};
  return pictures;
}

void set_up(Klt& klt, const KltSetting& setting) {
  auto& p = *static_cast<KltParams*>(klt.params());
  p.max_features = 3300, p.quality = 1e-4, p.min_distance = 8;
  p.window = 21, p.levels = 3, p.redetect_below = 0;
  p.iterations = static_cast<int>(setting.iterations), p.epsilon = setting.epsilon;
  p.fb_threshold = setting.fb_threshold;
}

KltTimes time_klt_cpu(const KltSetting& setting, int threads) {
  KltRun run(setting, threads);
  KltTimes times;
  for (const PassSpec& pass : run.layout().passes) times.passes.emplace_back(pass.name);
  std::vector<std::vector<double>> first, later;
  for (int i = 0; i < kRuns; ++i) run.frame(0, first);
  times.found = run.alive();
  for (int i = 0; i < kRuns; ++i) run.frame(1, later);
  times.followed = run.alive();
  times.first = medians(first), times.later = medians(later);
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
