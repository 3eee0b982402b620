#include <fmt/format.h>

#include <opencv2/imgproc.hpp>

#include "tests/peers/peers.hpp"
#include "tests/peers/references.hpp"

namespace lensd::peers {
namespace {

cv::Mat rgb_of(const Planes& planes) {
  cv::Mat rgb;
  cv::merge(planes.data(), 3, rgb);
  return rgb;
}

std::function<Planes(const Planes&)> luma(double r, double g, double b) {
  return [=](const Planes& in) {
    cv::Mat values;
    rgb_of(in).convertTo(values, CV_64F);
    cv::transform(values, values, cv::Matx13d(r, g, b));
    return Planes{values};
  };
}

PlaneFunction threshold(int level, int type) {
  return [=](const cv::Mat& in) {
    cv::Mat out;
    cv::threshold(in, out, level, 255, type);
    return out;
  };
}

}  // namespace

std::function<Planes(const Planes&)> each_plane(PlaneFunction function) {
  return [function](const Planes& in) {
    Planes out;
    for (const cv::Mat& plane : in) out.push_back(function(plane));
    return out;
  };
}

std::function<Planes(const Planes&)> each_colour(PlaneFunction function) {
  return [function](const Planes& in) {
    Planes out;
    for (size_t p = 0; p < in.size(); ++p) out.push_back(p < 3 ? function(in[p]) : in[p]);
    return out;
  };
}

void add_point_cases(Cases& cases) {
  cases.push_back({"grayscale", "", "cv::cvtColor", {1, 0}, kRgba, [](const Planes& in) {
                     Planes out(1);
                     cv::cvtColor(rgb_of(in), out[0], cv::COLOR_RGB2GRAY);
                     return out;
                   }});
  cases.push_back({"grayscale", "weights=bt601", "double", {1, 0}, kRgba, luma(0.299, 0.587, 0.114)});
  cases.push_back({"grayscale", "weights=bt709", "double", {1, 0}, kRgba, luma(0.2126, 0.7152, 0.0722)});
  cases.push_back({"grayscale", "weights=average", "double", {1, 0}, kRgba, luma(1.0 / 3, 1.0 / 3, 1.0 / 3)});
  cases.push_back({"invert", "", "cv::bitwise_not", {}, kBoth, each_colour([](const cv::Mat& in) {
                     cv::Mat out;
                     cv::bitwise_not(in, out);
                     return out;
                   })});
  for (const int level : {0, 1, 127, 128, 254, 255})
    cases.push_back({"threshold",
                     fmt::format("level={}", level),
                     "cv::threshold",
                     {},
                     kBoth,
                     each_colour(threshold(level, cv::THRESH_BINARY))});
  cases.push_back({"threshold",
                   "otsu=true",
                   "cv::threshold",
                   {},
                   kBoth,
                   each_colour(threshold(0, cv::THRESH_BINARY | cv::THRESH_OTSU))});
}

void add_colour_cases(Cases& cases) {
  cases.push_back(
      {"", "bt601 limited, 4:2:0", "cv::cvtColorTwoPlane", {2, 0}, {Kind::nv12_flat}, [](const Planes& in) {
         cv::Mat rgba;
         cv::cvtColorTwoPlane(in[0], in[1], rgba, cv::COLOR_YUV2RGBA_NV12);
         Planes out;
         cv::split(rgba, out);
         return out;
       }});
  cases.push_back({"",
                   "bt601 limited, chroma in blocks",
                   "cv::cvtColorTwoPlane",
                   {2, 0},
                   {Kind::yuv444_blocks},
                   [](const Planes& in) {
                     Planes halves(2);
                     for (size_t p : {size_t{0}, size_t{1}})
                       cv::resize(in[p + 1], halves[p], in[p + 1].size() / 2, 0, 0, cv::INTER_NEAREST);
                     cv::Mat chroma, rgba;
                     cv::merge(halves, chroma);
                     cv::cvtColorTwoPlane(in[0], chroma, rgba, cv::COLOR_YUV2RGBA_NV12);
                     Planes out;
                     cv::split(rgba, out);
                     return out;
                   }});
  cases.push_back({"", "bt601 full", "cv::cvtColor", {2, 0}, {Kind::yuv444_full}, [](const Planes& in) {
                     cv::Mat crossed, rgb;  // OpenCV expects Y, Cr, Cb
                     cv::merge(Planes{in[0], in[2], in[1]}, crossed);
                     cv::cvtColor(crossed, rgb, cv::COLOR_YCrCb2RGB);
                     Planes out;
                     cv::split(rgb, out);
                     out.push_back(cv::Mat(rgb.size(), CV_8U, cv::Scalar(255)));
                     return out;
                   }});
}

}  // namespace lensd::peers
