// Compares corners and tracks with OpenCV's by quality: accuracy for known motion, track lifetimes on clips.
#pragma once

#include <opencv2/core.hpp>
#include <string>
#include <vector>

#include "core/device/backend.hpp"
#include "core/image/tracks.hpp"

namespace lensd::peers {

struct Verdicts {
  int passed = 0, failed = 0;
  void add(bool good) { ++(good ? passed : failed); }
  void add(const Verdicts& more) { passed += more.passed, failed += more.failed; }
};

/// Compares the end-point errors for known motions, starting from the same corners. Prints a table.
Verdicts compare_motion(const std::vector<Backend>& on, bool markdown);
/// Compares corners on frames of the clips, and track lifetimes. Prints a table.
Verdicts compare_clips(const std::vector<Backend>& on, const std::vector<std::string>& clips, bool markdown);

/// Result of cv::calcOpticalFlowPyrLK with klt's defaults for window, levels and min_eigen.
struct PeerFlow {
  std::vector<cv::Point2f> to;
  std::vector<uchar> found;
};
PeerFlow peer_flow(const cv::Mat& before, const cv::Mat& after, const std::vector<cv::Point2f>& from);
/// klt's parameters that correspond to peer_flow(). New corners are detected only after a reset.
inline constexpr const char* kPeerSettings = "window=21:levels=3:iterations=30:epsilon=0.01:redetect_below=0";

/// Print a row or the header of a table, as text or as Markdown.
void print_cells(const std::vector<std::string>& cells, const std::vector<int>& widths, bool markdown);
void print_head(const std::vector<std::string>& cells, const std::vector<int>& widths, bool markdown);

}  // namespace lensd::peers
