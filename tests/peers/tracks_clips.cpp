#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <opencv2/imgproc.hpp>
#include <set>

#include "tests/peers/our_tracker.hpp"
#include "tests/peers/pictures.hpp"
#include "tests/peers/tracks.hpp"

namespace lensd::peers {
namespace {

constexpr int kPart = 60;  ///< frames between detections of new corners
constexpr int kMaxFrames = 600;
constexpr double kReturn = 1;  ///< forward-backward threshold of both trackers, in pixels

/// Statistics of one tracker's tracks.
struct Lives {
  int64_t begun = 0, frames = 0;       ///< number of tracks; sum of the frames in which each was followed
  int64_t checked = 0, came_back = 0;  ///< forward-backward checks; those that passed
  double mean_life() const {
    return begun > 0 ? static_cast<double>(frames) / static_cast<double>(begun) : 0;
  }
  double share() const {
    return checked > 0 ? static_cast<double>(came_back) / static_cast<double>(checked) : 1;
  }
};

/// OpenCV's flow forward and backward, as in its tracking example.
class PeerTracker {
 public:
  void begin(const cv::Mat& gray, std::vector<cv::Point2f> points) {
    last_ = gray.clone(), points_ = std::move(points);
    lives_.begun += static_cast<int64_t>(points_.size());
  }
  void run(const cv::Mat& gray) {
    const PeerFlow there = peer_flow(last_, gray, points_), back = peer_flow(gray, last_, there.to);
    std::vector<cv::Point2f> left;
    for (size_t i = 0; i < points_.size(); ++i) {
      const cv::Point2f& p = there.to[i];
      const bool inside = p.x >= 0 && p.y >= 0 && p.x <= static_cast<float>(gray.cols - 1) &&
                          p.y <= static_cast<float>(gray.rows - 1);
      if (!there.found[i] || !inside) continue;
      ++lives_.checked;
      if (!back.found[i] || cv::norm(back.to[i] - points_[i]) > kReturn) continue;
      ++lives_.came_back, ++lives_.frames;
      left.push_back(p);
    }
    last_ = gray.clone(), points_ = std::move(left);
  }
  const Lives& lives() const { return lives_; }

 private:
  cv::Mat last_;
  std::vector<cv::Point2f> points_;
  Lives lives_;
};

std::vector<cv::Point2f> living(const std::vector<Track>& tracks) {
  std::vector<cv::Point2f> points;
  for (const Track& t : tracks)
    if (is_alive(t.status)) points.push_back({t.x, t.y});
  return points;
}

void add(Lives& lives, const std::vector<Track>& tracks) {
  for (const Track& t : tracks) {
    if (t.status == TrackStatus::tracked) ++lives.checked, ++lives.came_back, ++lives.frames;
    if (t.status == TrackStatus::lost_return) ++lives.checked;
  }
}

/// Number of corners that lensd finds, that OpenCV finds, and that both find. Both find up to 1000 corners,
/// at least 8 pixels apart.
struct Corners {
  int64_t ours = 0, peers = 0, common = 0;

  void add(const cv::Mat& gray, const std::vector<cv::Point2f>& found) {
    std::vector<cv::Point2f> expected;
    cv::goodFeaturesToTrack(gray, expected, 1000, 0.01, 8);
    std::set<std::pair<float, float>> known;
    for (const cv::Point2f& p : expected) known.insert({p.x, p.y});
    for (const cv::Point2f& p : found) common += known.contains({p.x, p.y}) ? 1 : 0;
    ours += static_cast<int64_t>(found.size()), peers += static_cast<int64_t>(expected.size());
  }
  double share() const {
    return peers > 0 ? static_cast<double>(common) / static_cast<double>(std::max(ours, peers)) : 1;
  }
};

struct Clip {
  Lives ours, peer;
  Corners corners;
  int frames = 0;
};

Clip watch(const std::string& url, Backend backend) {
  Clip clip;
  OurTracker tracker(backend, fmt::format("{}:fb_threshold={}", kPeerSettings, kReturn));
  PeerTracker peer;
  for_each_frame(url, kMaxFrames, [&](int index, const Sample&, const Sample& gray) {
    const cv::Mat& picture = gray.memory[0];
    ++clip.frames;
    if (index % kPart != 0) {
      tracker.set("min_distance", 0.0);  // keeps crowded tracks, like OpenCV
      add(clip.ours, tracker.run(gray.ref()));
      peer.run(picture);
      return;
    }
    if (index > 0) tracker.cut(), tracker.set("min_distance", 8.0);
    const std::vector<cv::Point2f> found = living(tracker.run(gray.ref()));
    clip.corners.add(picture, found);
    clip.ours.begun += static_cast<int64_t>(found.size());
    peer.begin(picture, found);
  });
  clip.peer = peer.lives();
  return clip;
}

std::string percent(double share) {
  return fmt::format("{:.2f} %", 100 * share);
}

}  // namespace

Verdicts compare_clips(const std::vector<Backend>& on, const std::vector<std::string>& clips, bool markdown) {
  Verdicts verdicts;
  if (clips.empty()) return verdicts;
  const std::vector<int> widths{20, 5, 7, 8, 10, 11, 10, 10, 10, 8};
  print_head({"klt: clips", "on", "frames", "tracks", "mean life", "OpenCV's", "came back", "OpenCV's",
              "corners", "verdict"},
             widths, markdown);
  for (const std::string& url : clips)
    for (const Backend backend : on) {
      const Clip clip = watch(url, backend);
      const bool good = clip.ours.mean_life() >= clip.peer.mean_life() &&
                        clip.ours.share() >= clip.peer.share() && clip.corners.share() >= 0.99;
      verdicts.add(good);
      print_cells({std::filesystem::path(url).filename().string(), name(backend), std::to_string(clip.frames),
                   std::to_string(clip.ours.begun), fmt::format("{:.3f}", clip.ours.mean_life()),
                   fmt::format("{:.3f}", clip.peer.mean_life()), percent(clip.ours.share()),
                   percent(clip.peer.share()), percent(clip.corners.share()), good ? "passed" : "FAILED"},
                  widths, markdown);
    }
  return verdicts;
}

}  // namespace lensd::peers
