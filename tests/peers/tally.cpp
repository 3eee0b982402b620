#include "tests/peers/tally.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace lensd::peers {
namespace {

double value_at(const cv::Mat& plane, cv::Point at) {
  if (plane.depth() == CV_64F) return plane.at<double>(at);
  return plane.depth() == CV_8U ? plane.at<uchar>(at) : plane.at<uint16_t>(at);
}

}  // namespace

void Tally::add(const Bound& bound, const Planes& expected, const Planes& actual, const std::string& where) {
  ++frames_;
  if (expected.size() != actual.size() || expected[0].size() != actual[0].size()) {
    miss(fmt::format("{}: {} planes of {}×{} instead of {} of {}×{}", where, actual.size(), actual[0].cols,
                     actual[0].rows, expected.size(), expected[0].cols, expected[0].rows));
    return;
  }
  int64_t values = 0, equal = 0;
  for (size_t p = 0; p < expected.size(); ++p) {
    cv::Mat ours, difference, rounded;
    actual[p].convertTo(ours, expected[p].depth());
    cv::absdiff(ours, expected[p], difference);
    expected[p].convertTo(rounded, actual[p].depth());
    double worst = 0;
    cv::Point at;
    cv::minMaxLoc(difference, nullptr, &worst, nullptr, &at);
    worst_ = std::max(worst_, worst);
    if (worst > bound.worst)
      miss(fmt::format("{}: plane {} x {} y {} is {} instead of {}", where, p, at.x, at.y,
                       value_at(actual[p], at), value_at(expected[p], at)));
    values += static_cast<int64_t>(difference.total());
    equal += static_cast<int64_t>(difference.total()) - cv::countNonZero(rounded != actual[p]);
  }
  const double share = static_cast<double>(equal) / static_cast<double>(values);
  if (values >= kEnough && share < bound.equal)
    miss(fmt::format("{}: {:.3f} % of the values are equal, {} % must be", where, share * 100,
                     bound.equal * 100));
  values_ += values, equal_ += equal;
}

bool Tally::passed(const Bound& bound) const {
  return frames_ > 0 && miss_.empty() && equal() >= bound.equal;
}

}  // namespace lensd::peers
