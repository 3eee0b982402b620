// Tone mapping against an implementation in double precision that shares no code with the program, as colour
// differences ΔE2000 (CIE 142-2001, in the notation of Sharma, Wu, Dalal, "The CIEDE2000 color-difference
// formula", 2005).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "kernels/colour/colour.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

struct Triple {
  double v[3];
};

/// BT.2100, table 4: the luminance of a PQ signal in cd/m², and the inverse.
double pq_light(double signal) {
  const double p = std::pow(signal, 32.0 / 2523);
  return 10000 * std::pow(std::max(p - 107.0 / 128, 0.0) / (2413.0 / 128 - 2392.0 / 128 * p), 16384.0 / 2610);
}
double pq_signal(double light) {
  const double y = std::pow(light / 10000, 2610.0 / 16384);
  return std::pow((107.0 / 128 + 2413.0 / 128 * y) / (1 + 2392.0 / 128 * y), 2523.0 / 32);
}

/// BT.2100, table 5: the scene light of an HLG signal, from 0 to 1.
double hlg_scene(double signal) {
  const double a = 0.17883277, b = 1 - 4 * a, c = 0.5 - a * std::log(4 * a);
  return signal <= 0.5 ? signal * signal / 3 : (std::exp((signal - c) / a) + b) / 12;
}

/// BT.2390, section 5.4.1: the EETF from a display of `peak` cd/m² to one of 203, both with black at 0.
double shown_light(double light, double peak) {
  const double full = pq_signal(peak), most = pq_signal(203) / full, start = 1.5 * most - 0.5;
  const double e = std::min(pq_signal(light) / full, 1.0);
  if (peak <= 203 || e < start) return std::min(light, 203.0);
  const double t = (e - start) / (1 - start), t2 = t * t, t3 = t2 * t;
  const double p =
      (2 * t3 - 3 * t2 + 1) * start + (t3 - 2 * t2 + t) * (1 - start) + (-2 * t3 + 3 * t2) * most;
  return pq_light(p * full);
}

using ColourMatrix = double[3][3];

/// Sets `out` to the matrix from linear RGB with the primaries `xy` and white D65 to XYZ.
void rgb_to_xyz(const double (&xy)[3][2], ColourMatrix& out) {
  double columns[3][3];
  for (int i = 0; i < 3; ++i)
    columns[i][0] = xy[i][0] / xy[i][1], columns[i][1] = 1,
    columns[i][2] = (1 - xy[i][0] - xy[i][1]) / xy[i][1];
  const double white[3] = {0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290};
  const auto det = [](const double* a, const double* b, const double* c) {
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - b[0] * (a[1] * c[2] - a[2] * c[1]) +
           c[0] * (a[1] * b[2] - a[2] * b[1]);
  };
  const double all = det(columns[0], columns[1], columns[2]);
  const double scale[3] = {det(white, columns[1], columns[2]) / all, det(columns[0], white, columns[2]) / all,
                           det(columns[0], columns[1], white) / all};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) out[r][c] = columns[c][r] * scale[c];
}

Triple product_of(const ColourMatrix& m, const Triple& t) {
  Triple out{};
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) out.v[r] += m[r][c] * t.v[c];
  return out;
}

constexpr double kBt2020[3][2] = {{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}};
constexpr double kBt709[3][2] = {{0.640, 0.330}, {0.300, 0.600}, {0.150, 0.060}};

/// Solves m · x = t by Cramer's rule.
Triple solution_of(const ColourMatrix& m, const Triple& t) {
  const auto det = [](const ColourMatrix& a) {
    return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) -
           a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
           a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
  };
  Triple out{};
  for (int c = 0; c < 3; ++c) {
    ColourMatrix a;
    for (int r = 0; r < 3; ++r)
      for (int k = 0; k < 3; ++k) a[r][k] = k == c ? t.v[r] : m[r][k];
    out.v[c] = det(a) / det(m);
  }
  return out;
}

/// Converts a PQ or HLG signal (BT.2020) to linear BT.709: tone-maps it with shown_light(), scales 203 cd/m²
/// to 1 and clamps to 0 … 1.
Triple shown(const Triple& signal, bool hlg, double peak) {
  Triple light{};
  for (int c = 0; c < 3; ++c) light.v[c] = hlg ? hlg_scene(signal.v[c]) : pq_light(signal.v[c]);
  if (hlg) {
    const double y = 0.2627 * light.v[0] + 0.6780 * light.v[1] + 0.0593 * light.v[2];
    for (double& v : light.v) v *= 1000 * std::pow(y, 0.2);
  }
  const double most = std::max({light.v[0], light.v[1], light.v[2]});
  for (double& v : light.v) v *= most > 0 ? shown_light(most, peak) / most / 203 : 0;
  ColourMatrix from, to;
  rgb_to_xyz(kBt2020, from), rgb_to_xyz(kBt709, to);
  Triple out = solution_of(to, product_of(from, light));
  for (double& v : out.v) v = std::clamp(v, 0.0, 1.0);
  return out;
}

/// Converts linear BT.709 to CIELAB with white D65.
Triple lab(const Triple& linear) {
  ColourMatrix m;
  rgb_to_xyz(kBt709, m);
  const Triple xyz = product_of(m, linear), white = product_of(m, {{1, 1, 1}});
  double f[3];
  for (int i = 0; i < 3; ++i) {
    const double t = xyz.v[i] / white.v[i];
    f[i] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  }
  return {{116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}};
}

double delta_e2000(const Triple& p, const Triple& q) {
  constexpr double kTurn = 2 * std::numbers::pi;
  const auto degrees = [](double d) { return d * kTurn / 360; };
  const double chroma = (std::hypot(p.v[1], p.v[2]) + std::hypot(q.v[1], q.v[2])) / 2;
  const double c7 = std::pow(chroma, 7), g = 0.5 * (1 - std::sqrt(c7 / (c7 + std::pow(25.0, 7))));
  const double a1 = (1 + g) * p.v[1], a2 = (1 + g) * q.v[1];
  const double c1 = std::hypot(a1, p.v[2]), c2 = std::hypot(a2, q.v[2]);
  const auto hue = [](double a, double b) {
    const double h = a == 0 && b == 0 ? 0 : std::atan2(b, a);
    return h < 0 ? h + kTurn : h;
  };
  const double h1 = hue(a1, p.v[2]), h2 = hue(a2, q.v[2]), dl = q.v[0] - p.v[0], dc = c2 - c1;
  double dh = c1 * c2 == 0 ? 0 : h2 - h1;
  if (dh > kTurn / 2) dh -= kTurn;
  if (dh < -kTurn / 2) dh += kTurn;
  const double dH = 2 * std::sqrt(c1 * c2) * std::sin(dh / 2);
  const double l = (p.v[0] + q.v[0]) / 2, c = (c1 + c2) / 2;
  double h = h1 + h2;
  if (c1 * c2 != 0) {
    if (std::abs(h1 - h2) > kTurn / 2) h += h < kTurn ? kTurn : -kTurn;
    h /= 2;
  }
  const double t = 1 - 0.17 * std::cos(h - degrees(30)) + 0.24 * std::cos(2 * h) +
                   0.32 * std::cos(3 * h + degrees(6)) - 0.20 * std::cos(4 * h - degrees(63));
  const double turn = degrees(30) * std::exp(-std::pow((h - degrees(275)) / degrees(25), 2));
  const double cm7 = std::pow(c, 7), rc = 2 * std::sqrt(cm7 / (cm7 + std::pow(25.0, 7)));
  const double l50 = (l - 50) * (l - 50);
  const double sl = 1 + 0.015 * l50 / std::sqrt(20 + l50), sc = 1 + 0.045 * c, sh = 1 + 0.015 * c * t;
  const double rt = -std::sin(2 * turn) * rc;
  return std::sqrt(std::pow(dl / sl, 2) + std::pow(dc / sc, 2) + std::pow(dH / sh, 2) +
                   rt * (dc / sc) * (dH / sh));
}

TEST(ColourDifference, HasTheValuesOfItsPaper) {
  // Pairs 1, 7, 13, 17 and 25 of table 1.
  EXPECT_NEAR(delta_e2000({{50, 2.6772, -79.7751}}, {{50, 0, -82.7485}}), 2.0425, 1e-4);
  EXPECT_NEAR(delta_e2000({{50, 0, 0}}, {{50, -1, 2}}), 2.3669, 1e-4);
  EXPECT_NEAR(delta_e2000({{50, -0.0010, 2.4900}}, {{50, 0.0011, -2.4900}}), 4.7461, 1e-4);
  EXPECT_NEAR(delta_e2000({{50, 2.5, 0}}, {{73, 25, -18}}), 27.1492, 1e-4);
  EXPECT_NEAR(delta_e2000({{60.2574, -34.0099, 36.2677}}, {{60.4626, -34.1751, 39.4387}}), 1.2644, 1e-4);
}

double linear_of_srgb(double v) {
  return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
}

struct Differences {
  double mean, p99, worst;
};

/// Compares a chart of 21³ colours at `precision` bits with shown().
Differences chart_differences(Transfer transfer, uint16_t peak, int precision) {
  constexpr int kSteps = 21;
  PictureInfo info;
  info.extent = {kSteps * kSteps, kSteps};
  info.format = {.model = ColourModel::rgb, .depth = 12, .plane_count = 1};
  for (uint8_t c = 0; c < 3; ++c) info.format.components[c] = {0, 6, static_cast<uint8_t>(2 * c), 0};
  info.colour = {.range = Range::full, .transfer = transfer, .primaries = Primaries::bt2020, .peak = peak};
  const auto code = [](int step) { return static_cast<uint16_t>(4095 * step / (kSteps - 1)); };
  std::vector<uint16_t> samples;
  for (int b = 0; b < kSteps; ++b)
    for (int i = 0; i < kSteps * kSteps; ++i)
      for (const int step : {i % kSteps, i / kSteps, b}) samples.push_back(code(step));
  PictureRef picture{.info = info};
  picture.planes[0] = reinterpret_cast<const uint8_t*>(samples.data());
  picture.pitch_bytes[0] = kSteps * kSteps * 6;
  Colour filter;
  const Image image =
      make_cpu_rig(filter, {.images = {}, .picture = &info, .precision = precision}, kAligned, 1)
          ->run({}, &picture)
          .image;
  std::vector<double> all;
  double sum = 0;
  for (int y = 0; y < kSteps; ++y)
    for (int x = 0; x < kSteps * kSteps; ++x) {
      const Triple signal{{code(x % kSteps) / 4095.0, code(x / kSteps) / 4095.0, code(y) / 4095.0}};
      Triple got{};
      for (int c = 0; c < 3; ++c)
        got.v[c] =
            linear_of_srgb(image.sample(x, y, c) / static_cast<double>(max_sample(image.format.format)));
      all.push_back(delta_e2000(lab(shown(signal, transfer == Transfer::hlg, peak)), lab(got)));
      sum += all.back();
    }
  std::sort(all.begin(), all.end());
  return {sum / static_cast<double>(all.size()), all[all.size() * 99 / 100], all.back()};
}

TEST(ColourDifference, ToneMappingIsThatOfTheRecommendations) {
  struct Case {
    const char* name;
    Transfer transfer;
    uint16_t peak;
  };
  for (const Case& c : {Case{"PQ, 1000 cd/m²", Transfer::pq, 1000},
                        {"PQ, 4000 cd/m²", Transfer::pq, 4000},
                        {"PQ, 203 cd/m²", Transfer::pq, 203},
                        {"HLG", Transfer::hlg, 1000}})
    for (const int precision : {8, 16}) {
      const Differences d = chart_differences(c.transfer, c.peak, precision);
      std::printf("%s, %d bits: mean %.3f, p99 %.3f, worst %.3f\n", c.name, precision, d.mean, d.p99,
                  d.worst);
      EXPECT_LE(d.mean, 0.3) << c.name << " " << precision;
      EXPECT_LE(d.p99, 1) << c.name << " " << precision;
    }
}

}  // namespace
}  // namespace lensd::test
