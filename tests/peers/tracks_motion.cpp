#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <opencv2/video/tracking.hpp>

#include "tests/filters/motions.hpp"
#include "tests/peers/our_tracker.hpp"
#include "tests/peers/tracks.hpp"

namespace lensd::peers {
namespace {

constexpr Extent kExtent{640, 480};
constexpr unsigned kPairs = 6;  ///< pairs of pictures per motion, with independent noise
/// Random variation of the median of some thousand errors, in pixels.
constexpr double kChance = 0.0005;

struct Errors {
  std::vector<double> pixels;
  int lost = 0;

  double quantile(double part) {
    if (pixels.empty()) return 1e9;
    std::sort(pixels.begin(), pixels.end());
    return pixels[static_cast<size_t>(part * static_cast<double>(pixels.size() - 1))];
  }
};

PictureRef gray_picture(const Image& image) {
  PictureRef ref;
  ref.info.extent = image.format.extent;
  ref.info.format.model = ColourModel::gray;
  ref.info.colour.range = Range::full;
  ref.planes[0] = image.pixels.data();
  ref.pitch_bytes[0] = image.width();
  return ref;
}

cv::Mat view(const Image& image) {
  return {image.height(), image.width(), CV_8U, const_cast<uint8_t*>(image.pixels.data())};
}

/// Runs both trackers on one pair of pictures, from lensd's corners. Excludes points whose true position is
/// outside the second picture.
void compare_pair(const bench::Motion& motion, Backend backend, unsigned seed, Errors& ours, Errors& peer) {
  const Image before = bench::textured(kExtent, {}, {.noise = 2, .seed = 2 * seed});
  const Image after = bench::textured(kExtent, motion, {.noise = 2, .seed = 2 * seed + 1});
  OurTracker tracker(backend, std::string(kPeerSettings) + ":fb_threshold=0:min_distance=8");
  const std::vector<Track> first = tracker.run(gray_picture(before));
  tracker.set("min_distance", 0.0);  // keeps crowded tracks, like OpenCV
  const std::vector<Track> second = tracker.run(gray_picture(after));
  std::vector<cv::Point2f> from;
  std::vector<size_t> places;
  for (size_t i = 0; i < first.size(); ++i)
    if (is_alive(first[i].status)) from.push_back({first[i].x, first[i].y}), places.push_back(i);
  const PeerFlow flow = peer_flow(view(before), view(after), from);
  for (size_t k = 0; k < from.size(); ++k) {
    const bench::Point truth =
        motion.apply({static_cast<double>(from[k].x), static_cast<double>(from[k].y)}, kExtent);
    if (truth.x < 0 || truth.y < 0 || truth.x > kExtent.width - 1 || truth.y > kExtent.height - 1) continue;
    const auto add = [&truth](Errors& errors, bool found, float x, float y) {
      if (found)
        errors.pixels.push_back(
            std::hypot(static_cast<double>(x) - truth.x, static_cast<double>(y) - truth.y));
      else
        ++errors.lost;
    };
    const Track& track = second[places[k]];
    add(ours, is_alive(track.status), track.x, track.y);
    add(peer, flow.found[k] != 0, flow.to[k].x, flow.to[k].y);
  }
}

}  // namespace

PeerFlow peer_flow(const cv::Mat& before, const cv::Mat& after, const std::vector<cv::Point2f>& from) {
  PeerFlow flow;
  std::vector<float> error;
  if (from.empty()) return flow;
  cv::calcOpticalFlowPyrLK(before, after, from, flow.to, flow.found, error, {21, 21}, 3,
                           {cv::TermCriteria::COUNT | cv::TermCriteria::EPS, 30, 0.01}, 0, 1e-4);
  return flow;
}

void print_cells(const std::vector<std::string>& cells, const std::vector<int>& widths, bool markdown) {
  std::string line = markdown ? "|" : "";
  for (size_t i = 0; i < cells.size(); ++i)
    line += markdown ? fmt::format(" {} |", cells[i]) : fmt::format("{:<{}} ", cells[i], widths[i]);
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

void print_head(const std::vector<std::string>& cells, const std::vector<int>& widths, bool markdown) {
  fmt::print("\n");
  print_cells(cells, widths, markdown);
  if (!markdown) return;
  for (size_t i = 0; i < cells.size(); ++i) fmt::print("|---");
  fmt::print("|\n");
}

Verdicts compare_motion(const std::vector<Backend>& on, bool markdown) {
  Verdicts verdicts;
  const std::vector<int> widths{20, 5, 7, 12, 12, 12, 12, 10, 10, 8};
  print_head({"klt: known motion", "on", "points", "median px", "OpenCV's", "p95 px", "OpenCV's", "lost",
              "OpenCV's", "verdict"},
             widths, markdown);
  for (const bench::Motion& motion : bench::motions())
    for (const Backend backend : on) {
      Errors ours, peer;
      for (unsigned seed = 1; seed <= kPairs; ++seed) compare_pair(motion, backend, seed, ours, peer);
      const double median = ours.quantile(0.5), peer_median = peer.quantile(0.5);
      const double p95 = ours.quantile(0.95), peer_p95 = peer.quantile(0.95);
      const bool good =
          median <= peer_median + kChance && p95 <= peer_p95 + kChance && median <= 0.05 && p95 <= 0.15;
      verdicts.add(good);
      print_cells(
          {motion.name, name(backend), std::to_string(ours.pixels.size() + static_cast<size_t>(ours.lost)),
           fmt::format("{:.4f}", median), fmt::format("{:.4f}", peer_median), fmt::format("{:.4f}", p95),
           fmt::format("{:.4f}", peer_p95), std::to_string(ours.lost), std::to_string(peer.lost),
           good ? "passed" : "FAILED"},
          widths, markdown);
    }
  return verdicts;
}

}  // namespace lensd::peers
