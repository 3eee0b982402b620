// lensd_peers [--filter NAME] [--markdown] [CLIP…]: prints the table, ends with 'N passed, N failed'.
// Exit codes: 0 all passed · 1 failures · 2 usage · otherwise an Error's code, such as 4 for an unreadable
// clip.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <memory>
#include <opencv2/core/utility.hpp>

#include "core/base/error.hpp"
#include "core/device/backend.hpp"
#include "tests/peers/ours.hpp"
#include "tests/peers/pictures.hpp"
#include "tests/peers/tally.hpp"
#include "tests/peers/tracks.hpp"

namespace lensd::peers {
namespace {

/// Frames of a clip that all cases use: every kStride-th frame, at most kOfEachClip frames.
constexpr int kStride = 60, kOfEachClip = 4;

struct Options {
  std::string filter;
  bool markdown = false;
  std::vector<std::string> clips;
};

std::vector<Backend> backends() {
  const CudaStatus cuda = probe_cuda();
  fmt::print("OpenCV {}; backends: cpu, {}\n\n", cv::getVersionString(),
             cuda.available ? "cuda (" + cuda.device + ")" : "no cuda: " + cuda.reason);
  if (!cuda.available) return {Backend::cpu};
  return {Backend::cpu, Backend::cuda};
}

/// A case, its executors, and its result.
struct Entry {
  Case what;
  std::vector<Backend> on;
  std::vector<std::unique_ptr<Ours>> ours;
  std::vector<Tally> tallies;

  Entry(Case c, const std::vector<Backend>& backends)
      : what(std::move(c)), on(backends), tallies(on.size()) {}
  bool takes(const Sample& sample) const {
    const int64_t pixels = int64_t{sample.extent().width} * sample.extent().height;
    return std::find(what.kinds.begin(), what.kinds.end(), sample.kind) != what.kinds.end() &&
           pixels <= what.most_pixels;
  }
  void compare(const Sample& sample) {
    if (!takes(sample)) return;
    if (ours.empty())
      for (const Backend backend : on)
        ours.push_back(std::make_unique<Ours>(backend, what.filter, what.filter.empty() ? "" : what.params));
    const Planes expected = what.expected(sample.planes());
    for (size_t b = 0; b < ours.size(); ++b)
      tallies[b].add(what.bound, expected, ours[b]->run(sample.ref()), sample.name);
  }
};

class Table {
 public:
  explicit Table(bool markdown) : markdown_(markdown) {
    row("filter", "parameters", "bits", "peer", "on", "bound", "frames", "worst", "equal", "verdict");
    if (markdown_) fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
  }

  void add(const Case& c, Backend backend, const Tally& tally) {
    const bool passed = tally.passed(c.bound);
    ++(passed ? passed_ : failed_);
    std::string bound = c.bound.worst == 0 ? "equal" : fmt::format("±{}", c.bound.worst);
    if (c.bound.equal > 0) bound += fmt::format(", {} %", c.bound.equal * 100);
    row(c.filter.empty() ? "(source)" : c.filter, shortened(c.params), bits_of(c.kinds.front()), c.peer,
        name(backend), bound, std::to_string(tally.frames()), fmt::format("{:.3g}", tally.worst()),
        fmt::format("{:.3f} %", tally.equal() * 100), passed ? "passed" : "FAILED");
    if (!passed)
      fmt::print("    {}\n",
                 tally.miss().empty() ? "nothing compared, or too few values equal" : tally.miss());
    std::fflush(stdout);
  }
  int finish(const Verdicts& more) {
    passed_ += more.passed, failed_ += more.failed;
    fmt::print("\n{} passed, {} failed\n", passed_, failed_);
    return failed_ == 0 ? 0 : 1;
  }

 private:
  template <class... Cells>
  void row(const Cells&... cells) const {
    fmt::print(fmt::runtime(markdown_ ? "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n"
                                      : "{:<10} {:<56} {:>4} {:<20} {:<4} {:<9} {:>6} {:>6} {:>10}  {}\n"),
               cells...);
  }
  /// Returns the parameters, with the size instead of the values of large kernels.
  static std::string shortened(const std::string& params) {
    const size_t begin = params.find("kernel=") + 7, end = params.find(':', begin);
    if (!params.starts_with("kernel=") || end - begin < 20) return params;
    const auto kernel = params.substr(begin, end - begin);
    const auto rows = std::count(kernel.begin(), kernel.end(), ';') + 1;
    const auto values = std::count(kernel.begin(), kernel.end(), ' ') + rows;
    return fmt::format("kernel of {}×{}{}", rows, values / rows, params.substr(end));
  }

  bool markdown_;
  int passed_ = 0, failed_ = 0;
};

std::vector<Entry> entries(const std::string& filter, const std::vector<Backend>& on) {
  Cases cases;
  add_colour_cases(cases);
  add_point_cases(cases);
  add_median_cases(cases);
  add_window_cases(cases);
  add_edge_cases(cases);
  add_geometry_cases(cases);
  std::vector<Entry> all;
  for (Case& c : cases)
    if (filter.empty() || c.filter == filter) all.emplace_back(std::move(c), on);
  return all;
}

int compare(const Options& options) {
  const std::vector<Backend> on = backends();
  std::vector<Entry> all = entries(options.filter, on);
  std::vector<Sample> samples = noise_samples();
  for (Sample& s : generated_samples()) samples.push_back(std::move(s));
  for (const std::string& clip : options.clips) {
    for_each_frame(clip, std::numeric_limits<int>::max(),
                   [&](int index, const Sample& rgba, const Sample& gray) {
                     const bool kept = index % kStride == 0 && index / kStride < kOfEachClip;
                     if (kept) add_with_16_bits(samples, rgba), add_with_16_bits(samples, gray);
                     for (Entry& entry : all)
                       if (entry.what.every_frame && !kept) entry.compare(rgba), entry.compare(gray);
                   });
  }
  Table table(options.markdown);
  for (Entry& entry : all) {
    for (const Sample& sample : samples) entry.compare(sample);
    for (size_t b = 0; b < on.size(); ++b) table.add(entry.what, on[b], entry.tallies[b]);
    entry.ours.clear();
  }
  Verdicts tracks;
  if (options.filter.empty() || options.filter == "klt") {
    tracks.add(compare_motion(on, options.markdown));
    tracks.add(compare_clips(on, options.clips, options.markdown));
  }
  return table.finish(tracks);
}

}  // namespace
}  // namespace lensd::peers

int main(int argc, char** argv) {
  lensd::peers::Options options;
  CLI::App app("Compares lensd's filters with OpenCV and with double precision");
  app.add_option("--filter", options.filter, "only this filter");
  app.add_flag("--markdown", options.markdown, "the table as Markdown");
  app.add_option("clips", options.clips,
                 "video files; canny sees all of their frames, the other filters a few");
  try {
    app.parse(argc, argv);
    return lensd::peers::compare(options);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const lensd::Error& error) {
    fmt::print(stderr, "lensd_peers: {}\n", error.what());
    return static_cast<int>(error.code());
  }
}
