#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

#include "core/base/param.hpp"
#include "kernels/registry.hpp"
#include "tests/peers/peers.hpp"
#include "tests/peers/references.hpp"

namespace lensd::peers {
namespace {

constexpr int64_t kMegapixel = 1'000'000, kFewPixels = 10'000;
constexpr int kMaxDeepMedianRadius = 2;  ///< the largest radius of cv::medianBlur with 16 bits

PlaneFunction median(int radius) {
  return [radius](const cv::Mat& in) {
    cv::Mat out;
    cv::medianBlur(in, out, 2 * radius + 1);
    return out;
  };
}

void add_gaussian(Cases& cases, double sigma, int radius, const std::string& border) {
  const std::string params = fmt::format("sigma={}:radius={}:border={}", sigma, radius, border);
  const int reach = radius > 0 ? radius : std::clamp(static_cast<int>(std::ceil(3 * sigma)), 1, 31);
  const PlaneFunction peer = [=](const cv::Mat& in) {
    return with_border(in, border, reach, [&](const cv::Mat& picture, int rule) {
      cv::Mat out;
      cv::GaussianBlur(picture, out, {2 * reach + 1, 2 * reach + 1}, sigma, sigma, rule);
      return out;
    });
  };
  const PlaneFunction exact = [=](const cv::Mat& in) { return gaussian_double(in, sigma, reach, border); };
  add_at_both(cases, {"gaussian", params, "cv::GaussianBlur", {2, 0}, kBoth, each_colour(peer)}, {4, 0});
  add_at_both(cases, {"gaussian", params, "double", {1, 0.99}, kBoth, each_colour(exact)}, {1, 0.99});
}

void add_box(Cases& cases, int radius, const std::string& border) {
  const PlaneFunction peer = [=](const cv::Mat& in) {
    return with_border(in, border, radius, [&](const cv::Mat& picture, int rule) {
      cv::Mat out;
      cv::blur(picture, out, {2 * radius + 1, 2 * radius + 1}, {-1, -1}, rule);
      return out;
    });
  };
  add_at_both(cases,
              {"box",
               fmt::format("radius={}:border={}", radius, border),
               "cv::blur",
               {1, 0},
               kBoth,
               each_colour(peer)},
              {1, 0});
}

struct ConvolveCase {
  Matrix kernel;
  double bias = 0;
  std::string border = "reflect101";
};

/// Returns a kernel as on the command line: "1 2 1;2 4 2;1 2 1".
std::string text_of(const Matrix& m) {
  std::string text;
  for (size_t i = 0; i < m.values.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i % static_cast<size_t>(m.cols) == 0 ? ";" : " ", m.values[i]);
  return text;
}

void add_convolve(Cases& cases, const ConvolveCase& c) {
  const cv::Mat kernel = cv::Mat(c.kernel.values).reshape(1, c.kernel.rows).clone();
  const std::string params = fmt::format("kernel={}:bias={}:border={}", text_of(c.kernel), c.bias, c.border);
  const PlaneFunction peer = [=](const cv::Mat& in) {
    const int reach = std::max(kernel.rows, kernel.cols) / 2;
    return with_border(in, c.border, reach, [&](const cv::Mat& picture, int rule) {
      cv::Mat out;
      cv::filter2D(picture, out, -1, kernel, {-1, -1}, c.bias * step_of(in), rule);
      return out;
    });
  };
  const PlaneFunction exact = [=](const cv::Mat& in) {
    return convolve_double(in, kernel, c.bias, c.border);
  };
  add_at_both(cases, {"convolve", params, "cv::filter2D", {1, 0}, kBoth, each_colour(peer)}, {1, 0});
  add_at_both(cases, {"convolve", params, "double", {1, 0}, kBoth, each_colour(exact), false, kMegapixel},
              {1, 0});
}

/// Returns a kernel that is not separable. Its weights have many magnitudes and both signs, and add up to
/// about `sum`.
Matrix irregular(int rows, int cols, double sum) {
  Matrix m{rows, cols, {}};
  double total = 0;
  for (int i = 0; i < rows * cols; ++i)
    m.values.push_back((i * 37 % 23 - 7) * 0.01), total += m.values.back();
  for (double& v : m.values) v = std::round((v + (sum - total) / (rows * cols)) * 1e4) / 1e4;
  return m;
}

void add_bilateral(Cases& cases, double sigma_space, double sigma_color, int radius,
                   const std::string& border) {
  const std::string params = fmt::format("sigma_space={}:sigma_color={}:radius={}:border={}", sigma_space,
                                         sigma_color, radius, border);
  const PlaneFunction exact = [=](const cv::Mat& in) {
    return bilateral_double(in, sigma_space, sigma_color, radius, border);
  };
  add_at_both(cases, {"bilateral", params, "double", {1, 0}, kBoth, each_colour(exact), false, kMegapixel},
              {1, 0});
}

}  // namespace

void add_median_cases(Cases& cases) {
  const int most = static_cast<int>(registry().find("median")->schema().find("radius")->max);
  for (int radius = 1; radius <= most; ++radius) {
    const bool everywhere = radius <= 3 || radius == 7 || radius == most;
    const Case c{"median",
                 fmt::format("radius={}", radius),
                 "cv::medianBlur",
                 {},
                 kBoth,
                 each_colour(median(radius)),
                 false,
                 everywhere ? Case{}.most_pixels : kMegapixel};
    if (radius <= kMaxDeepMedianRadius)
      add_at_both(cases, c, {});
    else
      cases.push_back(c);
  }
  for (const int radius : {3, 4, 7, most})
    cases.push_back({"median",
                     fmt::format("radius={}", radius),
                     "sorted windows",
                     {},
                     {Kind::gray16, Kind::rgba16},
                     each_colour([=](const cv::Mat& in) { return median_sorted(in, radius); }),
                     false,
                     kFewPixels});
  for (const std::string border : kBorders)
    for (const int radius : {1, std::min(5, most)})
      cases.push_back({"median",
                       fmt::format("radius={}:border={}", radius, border),
                       "cv::medianBlur",
                       {},
                       kBoth,
                       each_colour([=](const cv::Mat& in) {
                         // Twice the radius, as OpenCV's own border rule affects the rim of the padded
                         // picture.
                         return with_padding(in, border, 2 * radius, median(radius));
                       }),
                       false,
                       kMegapixel});
}

void add_window_cases(Cases& cases) {
  for (const double sigma : {0.3, 0.8, 1.6, 3.0, 5.5, 10.0}) add_gaussian(cases, sigma, 0, "reflect101");
  for (const std::string border : kBorders) add_gaussian(cases, 2.2, 5, border);
  for (const int radius : {0, 1, 2, 7, 20, 127}) add_box(cases, radius, "reflect101");
  for (const std::string border : kBorders) add_box(cases, 3, border);
  add_convolve(cases, {{3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}}});
  add_convolve(cases, {{3, 3, {-2, -1, 0, -1, 1, 1, 0, 1, 2}}, 128});
  add_convolve(cases, {{1, 5, {0.1, 0.2, 0.4, 0.2, 0.1}}});
  for (const std::string border : kBorders) add_convolve(cases, {irregular(5, 3, 1), 3.5, border});
  add_convolve(cases, {irregular(7, 7, 1)});
  add_convolve(cases, {irregular(15, 15, 1), -20});
  add_bilateral(cases, 1, 30, 2, "reflect101");
  add_bilateral(cases, 3, 25, 5, "reflect101");
  add_bilateral(cases, 3, 3, 5, "replicate");
  add_bilateral(cases, 8, 120, 10, "wrap");
}

}  // namespace lensd::peers
