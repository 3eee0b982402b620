// Reference results in double precision, for functions that OpenCV lacks or computes less exactly, and
// OpenCV's borders.
#pragma once

#include <functional>
#include <opencv2/core.hpp>
#include <string>

#include "core/image/view.hpp"

namespace lensd::peers {

inline const char* const kBorders[] = {"replicate", "reflect", "reflect101", "wrap", "constant"};

/// Returns peer(picture, number), with OpenCV's number of `border`. OpenCV's filters do not support `wrap`:
/// for it, `peer` gets a picture that is padded by `reach` wrapped pixels, and the result is cropped.
cv::Mat with_border(const cv::Mat& picture, const std::string& border, int reach,
                    const std::function<cv::Mat(const cv::Mat&, int)>& peer);
/// Does the same for peers with a fixed border rule: pads for all five rules.
cv::Mat with_padding(const cv::Mat& picture, const std::string& border, int reach,
                     const std::function<cv::Mat(const cv::Mat&)>& peer);

/// Returns the middle value of each window. `picture` is CV_16U. Border rule: replicate.
cv::Mat median_sorted(const cv::Mat& picture, int radius);
/// The results of this and the following functions are CV_64F and not rounded.
cv::Mat gaussian_double(const cv::Mat& picture, double sigma, int radius, const std::string& border);
cv::Mat convolve_double(const cv::Mat& picture, const cv::Mat& kernel, double bias,
                        const std::string& border);
/// Averages over a disc, with weights exp(−d² / 2σ²) for the distance and for the difference in value.
cv::Mat bilateral_double(const cv::Mat& picture, double sigma_space, double sigma_color, int radius,
                         const std::string& border);

struct ResizeDouble {
  std::string method;  ///< as in the schema
  bool align_corners = false;
};
/// Resizes rows, then columns, with the weights of the definition. Border rule: replicate.
cv::Mat resize_double(const cv::Mat& picture, cv::Size size, const ResizeDouble& how);

/// Returns the value of white in pictures of `picture`'s type: 255 or 65535.
double white_of(const cv::Mat& picture);
/// Returns the size of a step of 8 bits in pictures of `picture`'s type: 1 or 257. Parameters in sample units
/// are multiplied by it.
double step_of(const cv::Mat& picture);

/// Returns the values, clamped to 0 … `white`.
cv::Mat clamped(const cv::Mat& values, double white);

}  // namespace lensd::peers
