#include <fmt/format.h>

#include <opencv2/imgproc.hpp>

#include "tests/peers/peers.hpp"
#include "tests/peers/references.hpp"

namespace lensd::peers {
namespace {

cv::Mat derivative(const cv::Mat& in, int dx, int dy, const std::string& border) {
  return with_border(in, border, 1, [&](const cv::Mat& picture, int rule) {
    cv::Mat out;
    cv::Sobel(picture, out, CV_16S, dx, dy, 3, 1, 0, rule);
    return out;
  });
}

PlaneFunction absolute(bool x, const std::string& border) {
  return [=](const cv::Mat& in) {
    cv::Mat out;
    cv::convertScaleAbs(derivative(in, x ? 1 : 0, x ? 0 : 1, border), out);
    return out;
  };
}

PlaneFunction magnitude(const std::string& border) {
  return [=](const cv::Mat& in) {
    cv::Mat dx, dy, out;
    derivative(in, 1, 0, border).convertTo(dx, CV_64F);
    derivative(in, 0, 1, border).convertTo(dy, CV_64F);
    cv::magnitude(dx, dy, out);
    return clamped(out);
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
    cases.push_back(
        {"sobel", "output=x:border=" + border, "cv::Sobel", {}, kGray, each_plane(absolute(true, border))});
    cases.push_back(
        {"sobel", "output=y:border=" + border, "cv::Sobel", {}, kGray, each_plane(absolute(false, border))});
    cases.push_back({"sobel",
                     "output=magnitude:border=" + border,
                     "√ of cv::Sobel",
                     {1, 0},
                     kGray,
                     each_plane(magnitude(border))});
  }
  // Derivatives and therefore thresholds grow with the aperture; some thresholds are fractional.
  constexpr CannyCase kCanny[] = {{3, 50, 150, true}, {3, 0, 0},       {3, 3.7, 10.2},
                                  {3, 100, 100},      {3, 200, 60},    {5, 300, 900, true},
                                  {5, 40.5, 4000},    {7, 250, 20000}, {7, 3000, 9000, true}};
  for (const CannyCase& c : kCanny)
    for (const bool l2 : {false, true}) add_canny(cases, c, l2);
}

}  // namespace lensd::peers
