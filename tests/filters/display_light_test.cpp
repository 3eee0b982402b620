// HDR and wide-gamut pictures: oracle == CPU == CUDA, the oracle against double precision, known values.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>

#include "kernels/colour/colour.hpp"
#include "kernels/colour/transfer.hpp"
#include "tests/filters/harness.hpp"
#include "tests/filters/instruction_set.hpp"
#include "tests/filters/pictures.hpp"

namespace lensd::test {
namespace {

struct NamedLight {
  const char* name;
  ColourSpec colour;
  ColourSettings settings = {};
};

constexpr ColourSpec light_spec(Transfer transfer, Primaries primaries, uint16_t peak) {
  return {.matrix = YuvMatrix::bt2020,
          .range = Range::limited,
          .siting = ChromaSiting::left,
          .transfer = transfer,
          .primaries = primaries,
          .peak = peak};
}

const NamedLight kLights[] = {
    {"pq_1000", light_spec(Transfer::pq, Primaries::bt2020, 1000)},
    {"pq_203", light_spec(Transfer::pq, Primaries::bt2020, 203)},
    {"pq_10000", light_spec(Transfer::pq, Primaries::bt2020, 10000)},
    {"pq_p3", light_spec(Transfer::pq, Primaries::p3, 4000)},
    {"pq_709", light_spec(Transfer::pq, Primaries::bt709, 600)},
    {"hlg", light_spec(Transfer::hlg, Primaries::bt2020, 0)},
    {"sdr_2020", light_spec(Transfer::sdr, Primaries::bt2020, 0)},
    {"sdr_p3", light_spec(Transfer::sdr, Primaries::p3, 0)},
    {"srgb_p3", light_spec(Transfer::srgb, Primaries::p3, 0)},
    {"sdr_525", light_spec(Transfer::sdr, Primaries::bt601_525, 0), {.bt601 = true}},
    {"sdr_625", light_spec(Transfer::sdr, Primaries::bt601_625, 0), {.bt601 = true}},
    {"pq_525", light_spec(Transfer::pq, Primaries::bt601_525, 1000)},
    {"pq_set_peak", light_spec(Transfer::pq, Primaries::bt2020, 4000), {.peak = 500}},
    {"pq_vivid", light_spec(Transfer::pq, Primaries::bt2020, 1000), {.knee = 1.3, .saturation = 2}},
    {"pq_709_dull", light_spec(Transfer::pq, Primaries::bt709, 1000), {.knee = 2, .saturation = 0.4}},
    {"hlg_bt1886", light_spec(Transfer::hlg, Primaries::bt2020, 0), {.display = DisplayTransfer::bt1886}},
    {"linear", light_spec(Transfer::linear, Primaries::bt709, 0)},
    {"linear_2020", light_spec(Transfer::linear, Primaries::bt2020, 0)},
};

class ColourLight : public testing::TestWithParam<NamedLight> {
 protected:
  std::mt19937 random_{20261123};
};

TEST_P(ColourLight, BothBackendsEqualOracle) {
  constexpr Extent kLightSizes[] = {{1, 1}, {5, 3}, {66, 20}, {131, 35}};
  for (const NamedFormat& format : picture_formats())
    for (const Extent extent : kLightSizes)
      for (int variant = 0; variant < 4; ++variant) {
        const bool turned = variant % 2 == 1;
        const int precision = variant < 2 ? 8 : 16;
        PictureInfo info{
            .format = format.format, .extent = extent, .colour = GetParam().colour, .orientation = {}};
        info.orientation = {turned, turned, false};
        SCOPED_TRACE(std::string(format.name) + " " + describe(info));
        HostPicture picture = random_picture(info, random_);
        // RGB pictures: black, where the tone curve must not divide by 0.
        if (turned && format.format.model == ColourModel::rgb)
          for (auto& plane : picture.planes) std::fill(plane.begin(), plane.end(), uint8_t{0});
        const ColourSettings& settings = GetParam().settings;
        const Image oracle = colour_reference(picture.ref, precision, settings);
        Colour filter;
        for (const int64_t set : instruction_sets()) {
          const InstructionSet only(set);
          const auto rig = make_cpu_rig(
              filter, {.images = {}, .picture = &info, .precision = precision, .colour = settings}, kOdd, 2);
          const RunOutput output = rig->run({}, &picture.ref);
          ASSERT_EQ(difference(oracle, output.image), "") << hwy::TargetName(set);
          ASSERT_TRUE(output.guards_untouched) << hwy::TargetName(set);
        }
        if (!cuda_unavailable().empty()) continue;
        const auto cuda = make_cuda_rig(filter,
                                        {.images = {},
                                         .picture = &info,
                                         .precision = precision,
                                         .colour = settings,
                                         .backend = Backend::cuda},
                                        kOdd);
        const RunOutput on_gpu = cuda->run({}, &picture.ref);
        ASSERT_EQ(difference(oracle, on_gpu.image), "") << "CUDA";
        ASSERT_TRUE(on_gpu.guards_untouched) << "CUDA";
      }
}

using Colours = std::array<double, 3>;

using Matrix3 = std::array<std::array<double, 3>, 3>;

Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 out{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j)
      for (size_t k = 0; k < 3; ++k) out[i][j] += a[i][k] * b[k][j];
  return out;
}

Matrix3 inverse(const Matrix3& m) {
  const auto minor = [&](size_t i, size_t j) {
    const size_t r = (i + 1) % 3, s = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
    return m[r][c] * m[s][d] - m[r][d] * m[s][c];
  };
  const double determinant = m[0][0] * minor(0, 0) + m[0][1] * minor(0, 1) + m[0][2] * minor(0, 2);
  Matrix3 out{};
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < 3; ++j) out[j][i] = minor(i, j) / determinant;
  return out;
}

/// Returns the matrix from linear R, G and B with white D65 to XYZ (SMPTE RP 177).
Matrix3 to_xyz(Primaries primaries) {
  using Chromaticities = std::array<std::array<double, 2>, 3>;
  const Chromaticities xy =
      primaries == Primaries::bt2020      ? Chromaticities{{{0.708, 0.292}, {0.170, 0.797}, {0.131, 0.046}}}
      : primaries == Primaries::p3        ? Chromaticities{{{0.680, 0.320}, {0.265, 0.690}, {0.150, 0.060}}}
      : primaries == Primaries::bt601_525 ? Chromaticities{{{0.630, 0.340}, {0.310, 0.595}, {0.155, 0.070}}}
      : primaries == Primaries::bt601_625 ? Chromaticities{{{0.640, 0.330}, {0.290, 0.600}, {0.150, 0.060}}}
                                          : Chromaticities{{{0.640, 0.330}, {0.300, 0.600}, {0.150, 0.060}}};
  Matrix3 columns{};
  for (size_t c = 0; c < 3; ++c)
    columns[0][c] = xy[c][0] / xy[c][1], columns[1][c] = 1,
    columns[2][c] = (1 - xy[c][0] - xy[c][1]) / xy[c][1];
  const double white[3] = {0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290};
  const Matrix3 back = inverse(columns);
  for (size_t c = 0; c < 3; ++c) {
    const double weight = back[c][0] * white[0] + back[c][1] * white[1] + back[c][2] * white[2];
    for (size_t row = 0; row < 3; ++row) columns[row][c] *= weight;
  }
  return columns;
}

/// Returns the primaries that are converted. BT.601 primaries are converted only if the settings say so.
Primaries shown_as(const NamedLight& named) {
  return is_bt601(named.colour.primaries) && !named.settings.bt601 ? Primaries::bt709
                                                                   : named.colour.primaries;
}

/// Converts R'G'B' from 0 to 1 to display colours from 0 to 255, by the definition in double precision.
Colours exact_display(const NamedLight& named, Colours coded) {
  const ColourSpec& colour = named.colour;
  const ColourSettings& settings = named.settings;
  Colours light{};
  const bool hlg = colour.transfer == Transfer::hlg, pq = colour.transfer == Transfer::pq;
  const bool linear = colour.transfer == Transfer::linear, srgb = colour.transfer == Transfer::srgb;
  for (size_t c = 0; c < 3; ++c)
    light[c] = hlg      ? hlg_to_scene(coded[c])
               : pq     ? pq_to_luminance(coded[c])
               : linear ? coded[c]
               : srgb   ? light_of_srgb(coded[c])
                        : bt2020_to_scene(coded[c]);
  if (hlg) {
    const double y = 0.2627 * light[0] + 0.6780 * light[1] + 0.0593 * light[2];
    for (double& v : light) v *= kHlgPeak * std::pow(y, 0.2);
  }
  if (hlg || pq) {
    const double most = std::max({light[0], light[1], light[2], 1e-9});
    const double announced = settings.peak > 0 ? settings.peak : colour.peak;
    const double gain = tone_mapped(most, hlg ? kHlgPeak : announced, settings.knee) / most;
    for (double& v : light) v *= gain / kSdrWhite;
  }
  const Matrix3 to_bt709 = product(inverse(to_xyz(Primaries::bt709)), to_xyz(shown_as(named)));
  Colours out{};
  for (size_t row = 0; row < 3; ++row)
    for (size_t c = 0; c < 3; ++c) out[row] += to_bt709[row][c] * light[c];
  if (hlg || pq) {
    const double y = 0.2126 * out[0] + 0.7152 * out[1] + 0.0722 * out[2];
    for (double& v : out) v = y + settings.saturation * (v - y);
  }
  for (double& v : out) {
    v = std::clamp(v, 0.0, 1.0);
    const bool television = settings.display == DisplayTransfer::bt1886;
    v = 255 * (!hlg && !pq && !linear && !srgb ? scene_to_bt2020(v)
               : television                    ? std::pow(v, 1 / 2.4)
                                               : srgb_of_light(v));
  }
  return out;
}

/// Returns false for dark results with BT.1886: its slope at black is infinite, so rounding the light changes
/// the signal a lot.
bool is_compared(const ColourSettings& settings, double exact) {
  return settings.display == DisplayTransfer::srgb || exact > 255 * 0.1;
}

TEST_P(ColourLight, WithinTwoOfDoublePrecision) {
  const auto light = std::make_unique<DisplayLight>();
  DisplayLight::make(GetParam().colour, GetParam().settings, *light);
  double worst = 0, sum = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    // Dark, bright, saturated and gray colours.
    const uint32_t top = 1u << (random_() % 13), r = random_() % top, g = random_() % top,
                   b = random_() % top;
    const bool gray = i % 4 == 0;
    const uint32_t code[3] = {r, gray ? r : g, gray ? r : b};
    const Colours exact = exact_display(GetParam(), {code[0] / 4095.0, code[1] / 4095.0, code[2] / 4095.0});
    const uint32_t pixel = light->pixel(code[0], code[1], code[2]);
    for (size_t c = 0; c < 3; ++c) {
      if (!is_compared(GetParam().settings, exact[c])) continue;
      const double error = std::abs(exact[c] - static_cast<double>(pixel >> (8 * c) & 255));
      worst = std::max(worst, error), sum += error;
    }
    if (gray) {
      ASSERT_EQ(pixel & 255, pixel >> 8 & 255) << "gray stays gray";
      ASSERT_EQ(pixel & 255, pixel >> 16) << "gray stays gray";
    }
  }
  EXPECT_LT(worst, 1.5);
  EXPECT_LT(sum / kDraws / 3, 0.3);  // rounding alone: 0.25
}

TEST_P(ColourLight, With16BitsCloseToDoublePrecision) {
  const auto light = std::make_unique<DeepLight>();
  DeepLight::make(GetParam().colour, GetParam().settings, *light);
  double worst = 0, sum = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t top = 1u << (random_() % 17), r = random_() % top, g = random_() % top,
                   b = random_() % top;
    const bool gray = i % 4 == 0;
    const uint32_t code[3] = {r, gray ? r : g, gray ? r : b};
    const Colours exact =
        exact_display(GetParam(), {code[0] / 65535.0, code[1] / 65535.0, code[2] / 65535.0});
    float v[3] = {static_cast<float>(code[0]), static_cast<float>(code[1]), static_cast<float>(code[2])};
    light->convert(v[0], v[1], v[2]);
    for (size_t c = 0; c < 3; ++c) {
      if (!is_compared(GetParam().settings, exact[c])) continue;
      const double error = std::abs(257 * exact[c] - to_deep_sample(v[c]));
      worst = std::max(worst, error), sum += error;
    }
    if (gray) {
      ASSERT_EQ(v[0], v[1]) << "gray stays gray";
      ASSERT_EQ(v[0], v[2]) << "gray stays gray";
    }
  }
  std::printf("%s: worst %.1f, mean %.2f of 65535\n", GetParam().name, worst, sum / kDraws / 3);
  EXPECT_LT(worst, 64);  // near black, where the curves are steep and colours are clipped
  EXPECT_LT(sum / kDraws / 3, 0.5);
}

TEST_P(ColourLight, GrayRisesToWhite) {
  const auto light = std::make_unique<DisplayLight>();
  DisplayLight::make(GetParam().colour, GetParam().settings, *light);
  uint32_t before = 0;
  for (uint32_t code = 0; code < 4096; ++code) {
    const uint32_t now = light->pixel(code, code, code) & 255;
    ASSERT_GE(now, before) << code;
    before = now;
  }
  EXPECT_EQ(light->pixel(0, 0, 0), 0u);
  EXPECT_EQ(before, 255u);
}

INSTANTIATE_TEST_SUITE_P(Lights, ColourLight, testing::ValuesIn(kLights),
                         [](const auto& instance) { return std::string(instance.param.name); });

TEST(ColourTransfer, HaveTheValuesOfTheirStandards) {
  // BT.2408 table 1 and BT.2100: signal levels of reference white, 1000 cd/m² and the limits.
  EXPECT_NEAR(luminance_to_pq(203), 0.58, 0.005);
  EXPECT_NEAR(luminance_to_pq(1000), 0.7518, 0.0001);
  EXPECT_NEAR(pq_to_luminance(1), 10000, 1e-6);
  EXPECT_NEAR(pq_to_luminance(luminance_to_pq(42)), 42, 1e-9);
  EXPECT_NEAR(hlg_to_scene(0.5), 1.0 / 12, 1e-9);
  EXPECT_NEAR(hlg_to_scene(1), 1, 1e-6);
  EXPECT_NEAR(kHlgPeak * std::pow(hlg_to_scene(0.75), kHlgGamma), 203, 1) << "reference white in HLG";
  EXPECT_NEAR(bt2020_to_scene(scene_to_bt2020(0.3)), 0.3, 1e-9);
  EXPECT_NEAR(bt2020_to_scene(scene_to_bt2020(0.01)), 0.01, 1e-9);
  EXPECT_NEAR(srgb_of_light(0.5), 0.7354, 0.0001);
  EXPECT_NEAR(light_of_srgb(srgb_of_light(0.5)), 0.5, 1e-9);
  EXPECT_NEAR(light_of_srgb(srgb_of_light(0.001)), 0.001, 1e-9);
}

TEST(ColourTransfer, EveryKneeIsMonotonicAndALargerOneCompressesMore) {
  for (const double knee : {0.5, 0.8, 1.3, 2.0}) {
    double before = 0;
    for (double luminance = 0; luminance <= 1000; luminance += 0.25) {
      const double now = tone_mapped(luminance, 1000, knee);
      ASSERT_GE(now, before) << knee << " " << luminance;
      before = now;
    }
    EXPECT_NEAR(before, kSdrWhite, 1e-6);
  }
  EXPECT_LT(tone_mapped(150, 1000, 1.3), tone_mapped(150, 1000, 0.5)) << "more compression";
}

TEST(ColourTransfer, TheToneCurveKeepsShadowsAndReachesWhite) {
  for (const double peak : {300.0, 1000.0, 4000.0, 10000.0}) {
    EXPECT_EQ(tone_mapped(5, peak), 5);
    EXPECT_NEAR(tone_mapped(peak, peak), kSdrWhite, 1e-6);
    EXPECT_NEAR(tone_mapped(2 * peak, peak), kSdrWhite, 1e-6);
    double before = 0;
    for (double luminance = 0; luminance <= peak; luminance += peak / 1000) {
      const double now = tone_mapped(luminance, peak);
      EXPECT_GE(now, before);
      EXPECT_LE(now, luminance + 1e-9) << "never brighter";
      before = now;
    }
  }
  EXPECT_EQ(tone_mapped(100, 203), 100) << "an SDR picture in PQ is not changed";
}

}  // namespace
}  // namespace lensd::test
