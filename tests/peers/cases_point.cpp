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

/// Converts full-range YCbCr with the matrix of BT.601 to RGBA.
Planes rgb_double(const Planes& in) {
  cv::Mat y, cb, cr;
  in[0].convertTo(y, CV_64F);
  const double center = (white_of(in[0]) + 1) / 2, red = 0.299, blue = 0.114, green = 1 - red - blue;
  in[1].convertTo(cb, CV_64F, 1, -center);
  in[2].convertTo(cr, CV_64F, 1, -center);
  Planes out{y + 2 * (1 - red) * cr,
             y - 2 * (1 - blue) * blue / green * cb - 2 * (1 - red) * red / green * cr,
             y + 2 * (1 - blue) * cb};
  for (cv::Mat& plane : out) plane = clamped(plane, white_of(in[0]));
  out.push_back(cv::Mat(y.size(), CV_64F, cv::Scalar(white_of(in[0]))));
  return out;
}

PlaneFunction threshold(int level, int type) {
  return [=](const cv::Mat& in) {
    cv::Mat out;
    cv::threshold(in, out, level * step_of(in), white_of(in), type);
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

void add_at_both(Cases& cases, const Case& c, Bound deep) {
  cases.push_back(c);
  Case more = c;
  more.bound = deep;
  for (Kind& kind : more.kinds)
    kind = kind == Kind::gray ? Kind::gray16 : kind == Kind::rgba ? Kind::rgba16 : Kind::yuv444_full16;
  cases.push_back(std::move(more));
}

void add_point_cases(Cases& cases) {
  const auto grey = [&](const std::string& params, const char* peer, Bound deep,
                        std::function<Planes(const Planes&)> expected) {
    add_at_both(cases, {"grayscale", params, peer, {1, 0}, kRgba, std::move(expected)}, deep);
  };
  grey("", "cv::cvtColor", {2, 0}, [](const Planes& in) {
    Planes out(1);
    cv::cvtColor(rgb_of(in), out[0], cv::COLOR_RGB2GRAY);
    return out;
  });
  grey("weights=bt601", "double", {1, 0}, luma(0.299, 0.587, 0.114));
  grey("weights=bt709", "double", {1, 0}, luma(0.2126, 0.7152, 0.0722));
  grey("weights=average", "double", {1, 0}, luma(1.0 / 3, 1.0 / 3, 1.0 / 3));
  const PlaneFunction inverted = [](const cv::Mat& in) {
    cv::Mat out;
    cv::bitwise_not(in, out);
    return out;
  };
  add_at_both(cases, {"invert", "", "cv::bitwise_not", {}, kBoth, each_colour(inverted)}, {});
  for (const int level : {0, 1, 127, 128, 254, 255})
    add_at_both(cases,
                {"threshold",
                 fmt::format("level={}", level),
                 "cv::threshold",
                 {},
                 kBoth,
                 each_colour(threshold(level, cv::THRESH_BINARY))},
                {});
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
  const auto full = [](const Planes& in) {
    cv::Mat crossed, rgb;  // OpenCV expects Y, Cr, Cb
    cv::merge(Planes{in[0], in[2], in[1]}, crossed);
    cv::cvtColor(crossed, rgb, cv::COLOR_YCrCb2RGB);
    Planes out;
    cv::split(rgb, out);
    out.push_back(cv::Mat(rgb.size(), rgb.depth(), cv::Scalar(white_of(rgb))));
    return out;
  };
  add_at_both(cases, {"", "bt601 full", "cv::cvtColor", {2, 0}, {Kind::yuv444_full}, full}, {40, 0});
  add_at_both(cases, {"", "bt601 full", "double", {1, 0}, {Kind::yuv444_full}, rgb_double}, {1, 0});
}

}  // namespace lensd::peers
