// Reference results in double precision, for functions that OpenCV lacks or computes less exactly, and
// OpenCV's borders.
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <string>

#include "core/image/view.hpp"

namespace lensd::peers {

inline const char* const kBorders[] = {"replicate", "reflect", "reflect101", "wrap", "constant"};

/// Calls `peer(picture, border)` with OpenCV's number of `border`. OpenCV's filters do not support `wrap`:
/// they get a picture that is padded by `reach` wrapped pixels, and the result is cropped.
cv::Mat with_border(const cv::Mat& picture, const std::string& border, int reach,
                    const std::function<cv::Mat(const cv::Mat&, int)>& peer);
/// The same for peers with a fixed border rule: pads for all five rules.
cv::Mat with_padding(const cv::Mat& picture, const std::string& border, int reach,
                     const std::function<cv::Mat(const cv::Mat&)>& peer);

/// CV_64F, not rounded.
cv::Mat gaussian_double(const cv::Mat& picture, double sigma, int radius, const std::string& border);
cv::Mat convolve_double(const cv::Mat& picture, const cv::Mat& kernel, double bias,
                        const std::string& border);
/// Over a disc, with weights exp(−d² / 2σ²) of distance and difference.
cv::Mat bilateral_double(const cv::Mat& picture, double sigma_space, double sigma_color, int radius,
                         const std::string& border);

struct ResizeDouble {
  std::string method;  ///< as in the schema
  bool align_corners = false;
};
/// Two separable sums with the weights of the definition; edges repeated.
cv::Mat resize_double(const cv::Mat& picture, cv::Size size, const ResizeDouble& how);

/// Clamped to 0 … 255.
cv::Mat clamped(const cv::Mat& values);

}  // namespace lensd::peers
