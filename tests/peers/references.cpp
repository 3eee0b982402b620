#include "tests/peers/references.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <opencv2/imgproc.hpp>
#include <vector>

namespace lensd::peers {
namespace {

int border_of(const std::string& name) {
  if (name == "replicate") return cv::BORDER_REPLICATE;
  if (name == "reflect") return cv::BORDER_REFLECT;
  if (name == "reflect101") return cv::BORDER_REFLECT_101;
  return name == "wrap" ? cv::BORDER_WRAP : cv::BORDER_CONSTANT;
}

cv::Mat in_double(const cv::Mat& picture) {
  cv::Mat values;
  picture.convertTo(values, CV_64F);
  return values;
}

/// An input sample and its weight in an output sample.
struct Weight {
  int sample;
  double weight;
};
using Taps = std::vector<Weight>;

double sinc(double x) {
  return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}

double kernel_value(const std::string& method, double x) {
  x = std::abs(x);
  if (method == "bilinear") return std::max(0.0, 1 - x);
  if (method == "lanczos3") return x < 3 ? sinc(x) * sinc(x / 3) : 0;
  constexpr double a = -0.75;  // bicubic, as cv::INTER_CUBIC
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? a * (((x - 5) * x + 8) * x - 4) : 0;
}

Taps area_taps(int n, int m, int i) {
  const double begin = static_cast<double>(i) * n / m, end = static_cast<double>(i + 1) * n / m;
  Taps taps;
  for (int s = static_cast<int>(begin); s < std::min(n, static_cast<int>(std::ceil(end))); ++s)
    taps.push_back({s, std::max(0.0, std::min(end, s + 1.0) - std::max(begin, static_cast<double>(s)))});
  return taps;
}

Taps taps_of(const ResizeDouble& how, int n, int m, int i) {
  Taps taps;
  if (how.method == "area") {
    taps = area_taps(n, m, i);
  } else {
    double at = (i + 0.5) * n / m - 0.5;
    if (how.align_corners) at = m == 1 ? 0 : static_cast<double>(i) * (n - 1) / (m - 1);
    const int first = static_cast<int>(std::floor(at)) - 2;
    for (int s = first; s < first + 6; ++s)
      taps.push_back({std::clamp(s, 0, n - 1), kernel_value(how.method, at - s)});
  }
  double sum = 0;
  for (const Weight& w : taps) sum += w.weight;
  for (Weight& w : taps) w.weight /= sum;
  return taps;
}

/// Resizes each row of `in` (CV_64F) to `width` columns.
cv::Mat resize_rows(const cv::Mat& in, int width, const ResizeDouble& how) {
  cv::Mat out(in.rows, width, CV_64F);
  for (int x = 0; x < width; ++x) {
    const Taps taps = taps_of(how, in.cols, width, x);
    for (int y = 0; y < in.rows; ++y) {
      double sum = 0;
      for (const Weight& w : taps) sum += w.weight * in.at<double>(y, w.sample);
      out.at<double>(y, x) = sum;
    }
  }
  return out;
}

}  // namespace

cv::Mat with_padding(const cv::Mat& picture, const std::string& border, int reach,
                     const std::function<cv::Mat(const cv::Mat&)>& peer) {
  cv::Mat padded;
  cv::copyMakeBorder(picture, padded, reach, reach, reach, reach, border_of(border));
  return peer(padded)(cv::Rect(reach, reach, picture.cols, picture.rows)).clone();
}

cv::Mat with_border(const cv::Mat& picture, const std::string& border, int reach,
                    const std::function<cv::Mat(const cv::Mat&, int)>& peer) {
  if (border != "wrap") return peer(picture, border_of(border));
  return with_padding(picture, border, reach,
                      [&](const cv::Mat& padded) { return peer(padded, cv::BORDER_REPLICATE); });
}

cv::Mat median_sorted(const cv::Mat& picture, int radius) {
  return with_padding(picture, "replicate", radius, [&](const cv::Mat& in) {
    cv::Mat out(in.size(), CV_16U);
    std::vector<uint16_t> window;
    for (int y = radius; y < in.rows - radius; ++y)
      for (int x = radius; x < in.cols - radius; ++x) {
        window.clear();
        for (int dy = -radius; dy <= radius; ++dy)
          window.insert(window.end(), in.ptr<uint16_t>(y + dy) + x - radius,
                        in.ptr<uint16_t>(y + dy) + x + radius + 1);
        std::nth_element(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2),
                         window.end());
        out.at<uint16_t>(y, x) = window[window.size() / 2];
      }
    return out;
  });
}

cv::Mat gaussian_double(const cv::Mat& picture, double sigma, int radius, const std::string& border) {
  cv::Mat taps(1, 2 * radius + 1, CV_64F);
  for (int k = -radius; k <= radius; ++k)
    taps.at<double>(k + radius) = std::exp(-0.5 * k * k / (sigma * sigma));
  taps /= cv::sum(taps)[0];
  return with_border(in_double(picture), border, radius, [&](const cv::Mat& in, int rule) {
    cv::Mat out;
    cv::sepFilter2D(in, out, CV_64F, taps, taps, {-1, -1}, 0, rule);
    return out;
  });
}

cv::Mat convolve_double(const cv::Mat& picture, const cv::Mat& kernel, double bias,
                        const std::string& border) {
  const int reach = std::max(kernel.rows, kernel.cols) / 2;
  return with_padding(in_double(picture), border, reach, [&](const cv::Mat& in) {
    cv::Mat out(in.size(), CV_64F, cv::Scalar(bias * step_of(picture)));
    const cv::Rect inside(reach, reach, in.cols - 2 * reach, in.rows - 2 * reach);
    cv::Mat sum = out(inside);
    for (int j = 0; j < kernel.rows; ++j)
      for (int i = 0; i < kernel.cols; ++i)
        sum += kernel.at<double>(j, i) * in(inside + cv::Point(i - kernel.cols / 2, j - kernel.rows / 2));
    return clamped(out, white_of(picture));
  });
}

cv::Mat bilateral_double(const cv::Mat& picture, double sigma_space, double sigma_color, int radius,
                         const std::string& border) {
  std::vector<double> near(static_cast<size_t>(white_of(picture)) + 1);
  const double sigma = sigma_color * step_of(picture);
  for (size_t d = 0; d < near.size(); ++d)
    near[d] = std::exp(-static_cast<double>(d) * static_cast<double>(d) / (2 * sigma * sigma));
  return with_padding(in_double(picture), border, radius, [&](const cv::Mat& in) {
    cv::Mat sum(in.size(), CV_64F, cv::Scalar(0)), weights(in.size(), CV_64F, cv::Scalar(0));
    for (int dy = -radius; dy <= radius; ++dy)
      for (int dx = -radius; dx <= radius; ++dx) {
        if (dx * dx + dy * dy > radius * radius) continue;
        const double space = std::exp(-(dx * dx + dy * dy) / (2 * sigma_space * sigma_space));
        for (int y = radius; y < in.rows - radius; ++y)
          for (int x = radius; x < in.cols - radius; ++x) {
            const double value = in.at<double>(y + dy, x + dx);
            const double weight = space * near[static_cast<size_t>(std::abs(value - in.at<double>(y, x)))];
            sum.at<double>(y, x) += weight * value, weights.at<double>(y, x) += weight;
          }
      }
    return cv::Mat(sum / weights);  // 0/0 in the border, which is cropped
  });
}

cv::Mat resize_double(const cv::Mat& picture, cv::Size size, const ResizeDouble& how) {
  cv::Mat columns = resize_rows(in_double(picture), size.width, how).t();
  return clamped(resize_rows(columns, size.height, how).t(), white_of(picture));
}

double white_of(const cv::Mat& picture) {
  return picture.depth() == CV_16U ? 65535 : 255;
}

double step_of(const cv::Mat& picture) {
  return white_of(picture) / 255;
}

cv::Mat clamped(const cv::Mat& values, double white) {
  cv::Mat out;
  cv::min(values, white, out);
  cv::max(out, 0.0, out);
  return out;
}

}  // namespace lensd::peers
