#include "kernels/colour/transfer.hpp"

#include <algorithm>
#include <cmath>

namespace lensd {
namespace {

constexpr double kM1 = 2610.0 / 16384, kM2 = 2523.0 / 32, kC1 = 3424.0 / 4096, kC2 = 2413.0 / 128,
                 kC3 = 2392.0 / 128;
constexpr double kPqPeak = 10000;
constexpr double kHlgA = 0.17883277, kHlgB = 1 - 4 * kHlgA;
constexpr double kOetfAlpha = 1.09929682680944, kOetfBeta = 0.018053968510807;

}  // namespace

double pq_to_luminance(double signal) {
  const double v = std::pow(signal, 1 / kM2);
  return kPqPeak * std::pow(std::max(0.0, v - kC1) / (kC2 - kC3 * v), 1 / kM1);
}

double luminance_to_pq(double luminance) {
  const double v = std::pow(luminance / kPqPeak, kM1);
  return std::pow((kC1 + kC2 * v) / (1 + kC3 * v), kM2);
}

double hlg_to_scene(double signal) {
  const double c = 0.5 - kHlgA * std::log(4 * kHlgA);
  return signal <= 0.5 ? signal * signal / 3 : (std::exp((signal - c) / kHlgA) + kHlgB) / 12;
}

double scene_to_bt2020(double light) {
  return light < kOetfBeta ? 4.5 * light : kOetfAlpha * std::pow(light, 0.45) - (kOetfAlpha - 1);
}

double bt2020_to_scene(double signal) {
  return signal < 4.5 * kOetfBeta ? signal / 4.5
                                  : std::pow((signal + (kOetfAlpha - 1)) / kOetfAlpha, 1 / 0.45);
}

double srgb_of_light(double light) {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

double light_of_srgb(double signal) {
  return signal <= 12.92 * 0.0031308 ? signal / 12.92 : std::pow((signal + 0.055) / 1.055, 2.4);
}

double bt1886_of_light(double light) {
  return std::pow(light, 1 / 2.4);
}

double tone_mapped(double luminance, double peak, double knee) {
  if (peak <= kSdrWhite) return std::min(luminance, kSdrWhite);
  const double source = luminance_to_pq(peak), most = luminance_to_pq(kSdrWhite) / source;
  const double signal = std::min(1.0, luminance_to_pq(luminance) / source);
  const double start = std::max(0.0, (1 + knee) * most - knee);
  if (signal < start) return luminance;
  const double t = (signal - start) / (1 - start), t2 = t * t, t3 = t2 * t;
  const double mapped =
      (2 * t3 - 3 * t2 + 1) * start + (t3 - 2 * t2 + t) * (1 - start) + (3 * t2 - 2 * t3) * most;
  return std::min(kSdrWhite, pq_to_luminance(mapped * source));
}

}  // namespace lensd
