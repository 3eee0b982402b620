#include "tests/filters/motion.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace lensd::test {
namespace {

constexpr double kPi = std::numbers::pi;

struct Wave {
  double x, y, phase, height;
};

const std::vector<Wave>& waves() {
  static const std::vector<Wave> all = [] {
    std::mt19937 random(20261121);
    const auto uniform = [&random](double from, double to) {
      return from + (to - from) * static_cast<double>(random()) / 4294967296.0;
    };
    std::vector<Wave> some;
    for (int i = 0; i < 48; ++i) {
      const double length = 6 * std::pow(100.0 / 6, uniform(0, 1)), angle = uniform(0, 2 * kPi);
      some.push_back({2 * kPi * std::cos(angle) / length, 2 * kPi * std::sin(angle) / length,
                      uniform(0, 2 * kPi), 4 + 9 * std::sqrt(length / 100)});
    }
    return some;
  }();
  return all;
}

double texture(Point p) {
  double sum = 128;
  for (const Wave& w : waves()) sum += w.height * std::sin(w.x * p.x + w.y * p.y + w.phase);
  return sum;
}

Point turned(Point p, Extent extent, double degrees, double zoom) {
  const double x = (extent.width - 1) / 2.0, y = (extent.height - 1) / 2.0, angle = degrees * kPi / 180;
  const double c = zoom * std::cos(angle), s = zoom * std::sin(angle);
  return {x + c * (p.x - x) - s * (p.y - y), y + s * (p.x - x) + c * (p.y - y)};
}

}  // namespace

Point Motion::apply(Point p, Extent extent) const {
  const Point q = turned(p, extent, degrees, zoom);
  return {q.x + x, q.y + y};
}

Point Motion::undo(Point p, Extent extent) const {
  return turned({p.x - x, p.y - y}, extent, -degrees, 1 / zoom);
}

Motion Motion::times(double n) const {
  return {name, x * n, y * n, degrees * n, std::pow(zoom, n)};
}

const std::vector<Motion>& motions() {
  static const std::vector<Motion> all{{.name = "shift 0.3, 0.7", .x = 0.3, .y = 0.7},
                                       {.name = "shift 5.5, -2.25", .x = 5.5, .y = -2.25},
                                       {.name = "shift -20, 0", .x = -20},
                                       {.name = "shift 12, 16", .x = 12, .y = 16},
                                       {.name = "turn 1 deg", .degrees = 1},
                                       {.name = "turn -0.5 deg", .degrees = -0.5},
                                       {.name = "zoom 1.02", .zoom = 1.02},
                                       {.name = "zoom 0.985", .zoom = 0.985}};
  return all;
}

Image textured(Extent extent, const Motion& motion, const Exposure& exposure) {
  std::mt19937 random(exposure.seed);
  const auto uniform = [&random] { return (static_cast<double>(random()) + 0.5) / 4294967296.0; };
  Image image({PixelFormat::gray8, extent});
  for (int y = 0; y < extent.height; ++y)
    for (int x = 0; x < extent.width; ++x) {
      const Point p = motion.undo({static_cast<double>(x), static_cast<double>(y)}, extent);
      double v = exposure.gain * texture(p) + exposure.bias;
      if (exposure.noise > 0)  // Box and Muller's
        v += exposure.noise * std::sqrt(-2 * std::log(uniform())) * std::cos(2 * kPi * uniform());
      image.at(x, y) = static_cast<uint8_t>(std::clamp(std::lround(v), 0l, 255l));
    }
  return image;
}

}  // namespace lensd::test
