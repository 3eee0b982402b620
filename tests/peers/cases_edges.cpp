#include <fmt/format.h>

#include <opencv2/imgproc.hpp>

#include "tests/peers/peers.hpp"
#include "tests/peers/references.hpp"

namespace lensd::peers {
namespace {

cv::Mat derivative(const cv::Mat& in, int dx, int dy, const std::string& border) {
  return with_border(in, border, 1, [&](const cv::Mat& picture, int rule) {
    cv::Mat out;
    cv::Sobel(picture, out, CV_64F, dx, dy, 3, 1, 0, rule);
    return out;
  });
}

PlaneFunction absolute(bool x, const std::string& border) {
  return [=](const cv::Mat& in) {
    return clamped(cv::abs(derivative(in, x ? 1 : 0, x ? 0 : 1, border)), white_of(in));
  };
}

PlaneFunction magnitude(const std::string& border) {
  return [=](const cv::Mat& in) {
    cv::Mat out;
    cv::magnitude(derivative(in, 1, 0, border), derivative(in, 0, 1, border), out);
    return clamped(out, white_of(in));
  };
}

struct CannyCase {
  int aperture;
  double low, high;
  bool every_frame = false;
};

void add_canny(Cases& cases, const CannyCase& c, bool l2) {
  const std::string params = fmt::format("low={}:high={}:aperture={}:l2={}", c.low, c.high, c.aperture, l2);
  const PlaneFunction canny = [=](const cv::Mat& in) {
    cv::Mat out;
    cv::Canny(in, out, c.low, c.high, c.aperture, l2);
    return out;
  };
  cases.push_back({"canny", params, "cv::Canny", {}, kGray, each_plane(canny), c.every_frame});
}

}  // namespace

void add_edge_cases(Cases& cases) {
  for (const std::string border : kBorders) {
    const auto add = [&](const std::string& output, const char* peer, Bound bound, PlaneFunction expected) {
      const std::string params = "output=" + output + ":border=" + border;
      add_at_both(cases, {"sobel", params, peer, bound, kGray, each_plane(std::move(expected))}, bound);
    };
    add("x", "cv::Sobel", {}, absolute(true, border));
    add("y", "cv::Sobel", {}, absolute(false, border));
    add("magnitude", "√ of cv::Sobel", {1, 0}, magnitude(border));
  }
  // Derivatives and therefore thresholds grow with the aperture; some thresholds are fractional.
  constexpr CannyCase kCanny[] = {{3, 50, 150, true}, {3, 0, 0},       {3, 3.7, 10.2},
                                  {3, 100, 100},      {3, 200, 60},    {5, 300, 900, true},
                                  {5, 40.5, 4000},    {7, 250, 20000}, {7, 3000, 9000, true}};
  for (const CannyCase& c : kCanny)
    for (const bool l2 : {false, true}) add_canny(cases, c, l2);
}

}  // namespace lensd::peers
