#include <fmt/format.h>

#include <algorithm>
#include <opencv2/imgproc.hpp>

#include "tests/peers/peers.hpp"
#include "tests/peers/references.hpp"

namespace lensd::peers {
namespace {

void add_exact(Cases& cases) {
  struct {
    const char* name;
    int code;
  } constexpr kFlips[] = {{"horizontal", 1}, {"vertical", 0}, {"both", -1}},
              kTurns[] = {{"90", cv::ROTATE_90_CLOCKWISE},
                          {"180", cv::ROTATE_180},
                          {"270", cv::ROTATE_90_COUNTERCLOCKWISE}};
  const auto add = [&](const char* filter, const std::string& params, const char* peer,
                       PlaneFunction expected) {
    add_at_both(cases, {filter, params, peer, {}, kBoth, each_plane(std::move(expected))}, {});
  };
  for (const auto& flip : kFlips)
    add("flip", fmt::format("mode={}", flip.name), "cv::flip", [=](const cv::Mat& in) {
      cv::Mat out;
      cv::flip(in, out, flip.code);
      return out;
    });
  for (const auto& turn : kTurns)
    add("rotate", fmt::format("angle={}", turn.name), "cv::rotate", [=](const cv::Mat& in) {
      cv::Mat out;
      cv::rotate(in, out, turn.code);
      return out;
    });
  for (const cv::Rect rect : {cv::Rect(0, 0, 16, 9), cv::Rect(7, 5, 33, 21), cv::Rect(300, 200, 5000, 5000)})
    add("crop", fmt::format("x={}:y={}:width={}:height={}", rect.x, rect.y, rect.width, rect.height),
        "cv::Mat(Rect)", [=](const cv::Mat& in) {
          // If the rectangle starts outside the picture, crop moves its corner to the last pixel.
          const cv::Point corner(std::min(rect.x, in.cols - 1), std::min(rect.y, in.rows - 1));
          return in(cv::Rect(corner, rect.size()) & cv::Rect({}, in.size())).clone();
        });
}

/// The requested size, by scale or in pixels.
struct Target {
  double scale = 0;
  int width = 0, height = 0;

  std::string params() const {
    return scale > 0 ? fmt::format("scale={}", scale) : fmt::format("width={}:height={}", width, height);
  }
  cv::Size size(const cv::Mat& in) const {
    if (scale == 0) return {width, height};
    return {std::max(1, static_cast<int>(in.cols * scale + 0.5)),
            std::max(1, static_cast<int>(in.rows * scale + 0.5))};
  }
};

struct Method {
  std::string name;
  int code;
  Bound bound, deep;
};

void add_resize(Cases& cases, const Method& method, const Target& target) {
  const PlaneFunction expected = [=](const cv::Mat& in) {
    cv::Mat out;
    cv::resize(in, out, target.size(in), 0, 0, method.code);
    return out;
  };
  add_at_both(cases,
              {"resize", fmt::format("{}:method={}", target.params(), method.name), "cv::resize",
               method.bound, kBoth, each_plane(expected)},
              method.deep);
}

void add_resize_double(Cases& cases, const ResizeDouble& how, const Target& target) {
  add_at_both(cases,
              {"resize",
               fmt::format("{}:method={}{}", target.params(), how.method,
                           how.align_corners ? ":align_corners=true" : ""),
               "double",
               {1, 0},
               kBoth,
               each_plane([=](const cv::Mat& in) { return resize_double(in, target.size(in), how); }),
               false,
               1'000'000},
              {1, 0});
}

}  // namespace

void add_geometry_cases(Cases& cases) {
  add_exact(cases);
  const Target shrinking[] = {{0.5}, {0.37}, {0.25}}, growing[] = {{1.7}, {2}},
               other[] = {{0, 200, 150}, {0, 33, 301}};
  for (const Method& method :
       {Method{"nearest", cv::INTER_NEAREST, {}, {}}, Method{"bilinear", cv::INTER_LINEAR, {1, 0}, {8, 0}},
        Method{"bicubic", cv::INTER_CUBIC, {1, 0}, {8, 0}}}) {
    for (const Target& target : shrinking) add_resize(cases, method, target);
    for (const Target& target : growing) add_resize(cases, method, target);
    for (const Target& target : other) add_resize(cases, method, target);
  }
  // Shrinking only: cv::INTER_AREA interpolates enlarged sides, whereas lensd always computes the mean.
  for (const Target& target : shrinking) add_resize(cases, {"area", cv::INTER_AREA, {1, 0}, {1, 0}}, target);
  for (const char* method : {"bilinear", "bicubic", "area", "lanczos3"})
    for (const Target& target : {shrinking[1], growing[0], other[1]}) {
      add_resize_double(cases, {method, false}, target);
      if (method != std::string("area")) add_resize_double(cases, {method, true}, target);
    }
}

}  // namespace lensd::peers
