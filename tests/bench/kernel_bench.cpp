// lensd_kernel_bench [FILTER…]: what each kernel costs by itself, next to copying the bytes it must move.
//
// A row: median time of a frame, cold (over buffers of more than twice the cache) and warm (one frame again
// and again), GB/s of the fewest bytes, and the share of the rate at which the same bytes are copied in this
// run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "core/base/error.hpp"
#include "kernels/registry.hpp"
#include "tests/bench/bench_rig.hpp"
#include "tests/bench/klt_bench.hpp"

namespace lensd::bench {
namespace {

/// Settings beside each filter's defaults.
struct Setting {
  const char *filter, *param;
  int64_t value;
};
constexpr Setting kSettings[] = {
    {"gaussian", "radius", 1},  {"gaussian", "radius", 3},  {"gaussian", "radius", 7},
    {"gaussian", "radius", 15}, {"gaussian", "radius", 31}, {"median", "radius", 2},
    {"median", "radius", 3},    {"median", "radius", 7},    {"median", "radius", 25},
    {"mosaic", "block", 4},     {"mosaic", "block", 64}};

struct Size {
  const char* name;
  Extent extent;
};

PictureInfo nv12(Extent extent) {
  PictureInfo info;
  info.extent = extent;
  info.format = {
      ColourModel::yuv, 8, 1, 1, false, 2, {ComponentLayout{0, 1, 0, 0}, {1, 2, 0, 0}, {1, 2, 1, 0}, {}}};
  return info;
}
PictureInfo p010(Extent extent) {
  PictureInfo info;
  info.extent = extent;
  info.format = {
      ColourModel::yuv, 10, 1, 1, false, 2, {ComponentLayout{0, 2, 0, 6}, {1, 4, 0, 6}, {1, 4, 2, 6}, {}}};
  return info;
}

/// Calls `use(subject)` for every filter, setting and format at this size.
template <class Use>
void for_each_subject(Extent extent, const std::vector<std::string>& only, Use use) {
  const auto wanted = [&](const std::string& name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  const std::pair<const char*, PictureInfo> pictures[] = {{"nv12", nv12(extent)}, {"p010", p010(extent)}};
  if (wanted("colour"))
    for (const auto& [name, info] : pictures)
      use(Subject{fmt::format("colour {}", name), registry().make_source(), {}, &info});
  for (const FilterEntry& entry : registry().filters) {
    const std::string& name = entry.schema().name;
    if (!wanted(name) || entry.min_inputs > 1 || entry.gives_tracks) continue;  // trackers: bench_klt()
    for (const PixelFormat format : {PixelFormat::gray8, PixelFormat::rgba8}) {
      if (entry.accepts == (format == PixelFormat::gray8 ? Accepts::rgba8 : Accepts::gray8)) continue;
      Subject plain{fmt::format("{} {}", name, lensd::name(format)), entry.make(), {format, extent}};
      if (entry.needs_tracks) plain.tracks = circling_tracks(extent);
      use(std::move(plain));
      for (const Setting& setting : kSettings) {
        if (name != setting.filter) continue;
        Subject subject{fmt::format("{} {}={} {}", name, setting.param, setting.value, lensd::name(format)),
                        entry.make(),
                        {format, extent}};
        subject.filter->set(setting.param, setting.value);
        use(std::move(subject));
      }
    }
  }
}

void print_row(const std::string& label, const Timing& t, const Timing& copy, const char* note) {
  fmt::print("{:<30}{:>10.1f}{:>10.1f}{:>9.1f}{:>8.0f} %{:>8.0f} %  {}\n", label, t.cold * 1e6, t.warm * 1e6,
             t.bytes / t.cold * 1e-9, 100 * copy.cold / t.cold, 100 * copy.warm / t.warm, note);
  std::fflush(stdout);
}

void print_head(const std::string& title) {
  fmt::print("\n{}\n{:<30}{:>10}{:>10}{:>9}{:>10}{:>10}\n", title, "", "cold us", "warm us", "GB/s",
             "of copy", "warm");
}

/// Copies of so many bytes, measured once each.
template <class Measure>
const Timing& copy_of(std::map<double, Timing>& known, double bytes, Measure measure) {
  const auto found = known.find(bytes);
  return found != known.end() ? found->second : known.emplace(bytes, measure()).first->second;
}

void bench_cpu(const std::vector<std::string>& only) {
  constexpr size_t kCache = size_t{64} << 20;
  for (const int threads : {1, 2}) {
    print_head(fmt::format("CPU, 1080p, {} thread{}", threads, threads == 1 ? "" : "s"));
    std::map<double, Timing> copies;
    for_each_subject({1920, 1080}, only, [&](Subject subject) {
      const Timing t = time_cpu(subject, threads, kCache);
      print_row(subject.label, t,
                copy_of(copies, t.bytes, [&] { return time_cpu_copy(t.bytes, threads, kCache); }), "");
    });
  }
}

#if LENSD_CUDA
void bench_cuda(const CudaStatus& status, const std::vector<std::string>& only) {
  for (const Size& size : {Size{"1080p", {1920, 1080}}, Size{"4K", {3840, 2160}}, Size{"8K", {7680, 4320}}}) {
    print_head(fmt::format("{}, driver {}, {}", status.device, status.driver, size.name));
    std::map<double, Timing> copies;
    for_each_subject(size.extent, only, [&](Subject subject) {
      bool equal = false;
      const Timing t = time_cuda(subject, status.l2_bytes, equal);
      const Timing& copy = copy_of(copies, t.bytes, [&] { return time_cuda_copy(t.bytes, status.l2_bytes); });
      print_row(subject.label, t, copy, equal ? "" : "OUTPUT DIFFERS FROM THE CPU'S");
    });
  }
}
#endif

}  // namespace
}  // namespace lensd::bench

int main(int argc, char** argv) {
  using namespace lensd;
  const std::vector<std::string> only(argv + 1, argv + argc);
  try {
    const CudaStatus status = probe_cuda();
#if LENSD_CUDA
    if (status.available) bench::bench_cuda(status, only);
#endif
    if (!status.available) fmt::print("CUDA: {}\n", status.reason);
    bench::bench_cpu(only);
    if (only.empty() || std::find(only.begin(), only.end(), "klt") != only.end()) bench::bench_klt(status);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
