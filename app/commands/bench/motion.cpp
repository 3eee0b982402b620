#include "app/commands/bench/motion.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>

namespace lensd::bench {
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

/// Adds the texture at points `from`, `from` + `step`, … to `row`. Each step rotates the phasor of each wave
/// by a constant angle.
void add_texture(Point from, Point step, std::vector<double>& row) {
  for (const Wave& w : waves()) {
    const std::complex<double> turn = std::polar(1.0, w.x * step.x + w.y * step.y);
    std::complex<double> now = std::polar(w.height, w.x * from.x + w.y * from.y + w.phase);
    for (double& v : row)
      v += now.imag(), now = {now.real() * turn.real() - now.imag() * turn.imag(),
                              now.real() * turn.imag() + now.imag() * turn.real()};
  }
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

Image textured(Extent extent, const Motion& motion, const Exposure& exposure) {
  std::mt19937 random(exposure.seed);
  const auto uniform = [&random] { return (static_cast<double>(random()) + 0.5) / 4294967296.0; };
  Image image({exposure.format, extent});
  const long white = max_sample(exposure.format);
  std::vector<double> row(static_cast<size_t>(extent.width));
  for (int y = 0; y < extent.height; ++y) {
    const Point from = motion.undo({0, static_cast<double>(y)}, extent);
    const Point next = motion.undo({1, static_cast<double>(y)}, extent);
    std::fill(row.begin(), row.end(), 128.0);
    add_texture(from, {next.x - from.x, next.y - from.y}, row);
    for (int x = 0; x < extent.width; ++x) {
      double v = exposure.gain * row[static_cast<size_t>(x)] + exposure.bias;
      if (exposure.noise > 0)  // Box-Muller transform
        v += exposure.noise * std::sqrt(-2 * std::log(uniform())) * std::cos(2 * kPi * uniform());
      const long sample = std::lround(v * static_cast<double>(white) / 255);
      image.set_sample(x, y, 0, static_cast<int>(std::clamp(sample, 0l, white)));
    }
  }
  return image;
}

}  // namespace lensd::bench
