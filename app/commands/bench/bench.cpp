#include "app/commands/bench/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/commands/bench/bench_rig.hpp"
#include "app/commands/bench/klt_bench.hpp"
#include "core/base/contains.hpp"
#include "core/base/error.hpp"
#include "core/graph/catalogue.hpp"
#include "core/image/extent_text.hpp"
#include "kernels/registry.hpp"

namespace lensd::bench {
namespace {

/// Settings to measure in addition to each filter's defaults.
struct Setting {
  const char *filter, *param, *value;
};
constexpr Setting kSettings[] = {
    {"gaussian", "radius", "1"},        {"gaussian", "radius", "3"},   {"gaussian", "radius", "7"},
    {"gaussian", "radius", "15"},       {"gaussian", "radius", "31"},  {"median", "radius", "2"},
    {"median", "radius", "3"},          {"median", "radius", "7"},     {"median", "radius", "25"},
    {"mosaic", "block", "4"},           {"mosaic", "block", "64"},     {"convolve", "compose", "box(7)"},
    {"convolve", "compose", "box(15)"}, {"threshold", "otsu", "true"}, {"auto_contrast", "clip_low", "1"}};

/// Returns a picture's description: NV12 if `bits` is 8, P010 if `bits` is 10.
PictureInfo semi_planar(Extent extent, uint8_t bits) {
  const uint8_t bytes = bits > 8 ? 2 : 1, pair = 2 * bytes, unused = 8 * bytes - bits;
  PictureInfo info;
  info.extent = extent;
  PictureFormat& format = info.format;
  format.model = ColourModel::yuv;
  format.depth = bits;
  format.chroma_shift_x = format.chroma_shift_y = 1;
  format.plane_count = 2;
  format.components = {
      ComponentLayout{0, bytes, 0, unused}, {1, pair, 0, unused}, {1, pair, bytes, unused}, {}};
  return info;
}

PictureInfo in_hdr(PictureInfo info, Transfer transfer) {
  info.colour.matrix = YuvMatrix::bt2020;
  info.colour.transfer = transfer, info.colour.primaries = Primaries::bt2020, info.colour.peak = 1000;
  return info;
}

constexpr PixelFormat kFormats[] = {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16,
                                    PixelFormat::rgba16};

/// Calls `use(subject)` for the source conversion ("colour"), the scopes ("scopes") and each filter, in each
/// format and setting. `only`: names to measure; empty: all. Skips filters with several inputs, and klt.
template <class Use>
void for_each_subject(Extent extent, const std::vector<std::string>& only, Use use) {
  const auto wanted = [&](const std::string& name) { return only.empty() || contains(only, name); };
  const std::pair<const char*, PictureInfo> pictures[] = {
      {"nv12", semi_planar(extent, 8)},
      {"p010", semi_planar(extent, 10)},
      {"p010 pq", in_hdr(semi_planar(extent, 10), Transfer::pq)},
      {"p010 hlg", in_hdr(semi_planar(extent, 10), Transfer::hlg)}};
  if (wanted("colour"))
    for (const int precision : {8, 16})
      for (const auto& [name, info] : pictures)
        use(Subject{fmt::format("colour {}{}", name, precision == 8 ? "" : " to 16 bits"),
                    registry().make_source(),
                    {},
                    &info,
                    precision});
  if (wanted("scopes"))
    for (const ScopeKind kind :
         {ScopeKind::histogram, ScopeKind::waveform, ScopeKind::parade, ScopeKind::vectorscope})
      for (const PixelFormat format : kFormats)
        use(Subject{.label = fmt::format("{} {}", name(kind), lensd::name(format)),
                    .filter = registry().make_scope(kind),
                    .format = {format, extent},
                    .is_scope = true});
  for (const FilterEntry& entry : registry().filters) {
    const std::string& name = entry.schema().name;
    if (!wanted(name) || entry.min_inputs > 1 || entry.gives_tracks) continue;  // bench_klt() measures klt
    for (const PixelFormat format : kFormats) {
      if (entry.accepts == (is_gray(format) ? Accepts::rgba : Accepts::gray)) continue;
      Subject plain{fmt::format("{} {}", name, lensd::name(format)), entry.make(), {format, extent}};
      if (entry.needs_tracks) plain.tracks = circling_tracks(extent);
      use(std::move(plain));
      for (const Setting& setting : kSettings) {
        if (name != setting.filter) continue;
        Subject subject{fmt::format("{} {}={} {}", name, setting.param, setting.value, lensd::name(format)),
                        entry.make(),
                        {format, extent}};
        ParamValue value;
        entry.schema().find(setting.param)->parse(setting.value, value);
        subject.filter->set(setting.param, value);
        use(std::move(subject));
      }
    }
  }
}

/// Prints rows as tables or as JSON.
class Printer {
 public:
  explicit Printer(bool json) : json_(json) {}

  void head(const std::string& machine, const std::string& size, int threads) {
    machine_ = machine, size_ = size, threads_ = threads;
    if (json_) return;
    const std::string with = threads ? fmt::format(", {} thread{}", threads, threads == 1 ? "" : "s") : "";
    fmt::print("\n{}, {}{}\n{:<30}{:>10}{:>10}{:>9}{:>14}{:>14}\n", machine, size, with, "", "cold us",
               "warm us", "GB/s", "of copy cold", "of copy warm");
  }

  void row(const std::string& label, const Timing& t, const Timing& copy, bool equal) {
    all_equal_ = all_equal_ && equal;
    if (json_) {
      const nlohmann::ordered_json row = {{"machine", machine_},
                                          {"size", size_},
                                          {"threads", threads_},
                                          {"kernel", label},
                                          {"cold_us", t.cold * 1e6},
                                          {"warm_us", t.warm * 1e6},
                                          {"bytes", t.bytes},
                                          {"copy_cold_us", copy.cold * 1e6},
                                          {"copy_warm_us", copy.warm * 1e6},
                                          {"equals_cpu", equal}};
      fmt::print("{}\n", row.dump());
    } else {
      fmt::print("{:<30}{:>10.1f}{:>10.1f}{:>9.1f}{:>12.0f} %{:>12.0f} %{}\n", label, t.cold * 1e6,
                 t.warm * 1e6, t.bytes / t.cold * 1e-9, 100 * copy.cold / t.cold, 100 * copy.warm / t.warm,
                 equal ? "" : "  OUTPUT DIFFERS FROM THE CPU'S");
    }
    std::fflush(stdout);
  }
  bool all_equal() const { return all_equal_; }

 private:
  const bool json_;
  bool all_equal_ = true;
  std::string machine_, size_;
  int threads_ = 0;
};

/// Returns the time of a copy of `bytes`; measures each size once.
template <class Measure>
const Timing& copy_of(std::map<double, Timing>& known, double bytes, Measure measure) {
  const auto found = known.find(bytes);
  return found != known.end() ? found->second : known.emplace(bytes, measure()).first->second;
}

std::vector<Size> sizes(const Options& options, std::initializer_list<const char*> defaults) {
  if (!options.sizes.empty()) return options.sizes;
  std::vector<Size> all;
  for (const char* size : defaults) all.push_back(parse_size(size));
  return all;
}

void bench_cpu(const Options& options, Printer& printer) {
  constexpr size_t kCache = size_t{64} << 20;
  std::vector<int> threads = options.threads;
  if (threads.empty()) {
    threads.push_back(1);
    if (const int cores = static_cast<int>(std::thread::hardware_concurrency()); cores > 1)
      threads.push_back(cores);
  }
  for (const Size& size : sizes(options, {"1080p"})) {
    for (const int count : threads) {
      printer.head("CPU", size.name, count);
      std::map<double, Timing> copies;
      for_each_subject(size.extent, options.filters, [&](Subject subject) {
        const Timing t = time_cpu(subject, count, kCache);
        printer.row(subject.label, t,
                    copy_of(copies, t.bytes, [&] { return time_cpu_copy(t.bytes, count, kCache); }), true);
      });
    }
  }
}

#if LENSD_CUDA
void bench_cuda(const CudaStatus& status, const Options& options, Printer& printer) {
  for (const Size& size : sizes(options, {"1080p", "4k", "8k"})) {
    printer.head(fmt::format("{}, driver {}", status.device, status.driver), size.name, 0);
    std::map<double, Timing> copies;
    for_each_subject(size.extent, options.filters, [&](Subject subject) {
      bool equal = false;
      const Timing t = time_cuda(subject, status.l2_bytes, equal);
      const Timing& copy = copy_of(copies, t.bytes, [&] { return time_cuda_copy(t.bytes, status.l2_bytes); });
      printer.row(subject.label, t, copy, equal);
    });
  }
}
#endif

void check_names(const std::vector<std::string>& filters) {
  for (const std::string& name : filters)
    if (name != "colour" && name != "scopes" && !registry().find(name))
      throw Error(ExitCode::invalid_config, "bench", unknown_filter(name, registry()));
}

}  // namespace

Size parse_size(const std::string& text) {
  constexpr struct {
    const char* name;
    Extent extent;
  } kNames[] = {{"720p", {1280, 720}}, {"1080p", {1920, 1080}}, {"4k", {3840, 2160}}, {"8k", {7680, 4320}}};
  for (const auto& known : kNames)
    if (text == known.name) return {text, known.extent};
  if (const auto extent = parse_extent(text)) return {text, *extent};
  throw Error(ExitCode::usage, "bench", fmt::format("'{}' is not a size", text),
              "720p, 1080p, 4k, 8k or 640x480, up to 16384 each way");
}

void run(const Options& options) {
  check_names(options.filters);
  const CudaStatus status = probe_cuda(options.device);
  Printer printer(options.json);
#if LENSD_CUDA
  if (options.cuda && status.available) bench_cuda(status, options, printer);
#endif
  if (options.cuda && !status.available)
    fmt::print(stderr, "CUDA: {}{}\n", status.reason, status.hint.empty() ? "" : " (" + status.hint + ")");
  if (options.cpu) bench_cpu(options, printer);
  const auto& only = options.filters;
  if (!options.json && options.sizes.empty() && (only.empty() || contains(only, "klt")))
    bench_klt(status, options.cpu, options.cuda);
  if (!printer.all_equal())
    throw Error(ExitCode::runtime_failure, "bench", "an output differs from the CPU's",
                "please report it with the machine and the driver");
}

}  // namespace lensd::bench
