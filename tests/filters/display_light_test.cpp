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
#include "tests/filters/pictures.hpp"

namespace lensd::test {
namespace {

struct NamedLight {
  const char* name;
  ColourSpec colour;
};

constexpr ColourSpec light_spec(Transfer transfer, Primaries primaries, uint16_t peak) {
  return {YuvMatrix::bt2020, Range::limited, ChromaSiting::left, false, transfer, primaries, peak};
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
        const Image oracle = colour_reference(picture.ref, precision);
        Colour filter;
        const auto rig =
            make_cpu_rig(filter, {.images = {}, .picture = &info, .precision = precision}, kOdd, 2);
        const RunOutput output = rig->run({}, &picture.ref);
        ASSERT_EQ(difference(oracle, output.image), "");
        ASSERT_TRUE(output.guards_untouched);
        if (!cuda_unavailable().empty()) continue;
        const auto cuda = make_cuda_rig(
            filter, {.images = {}, .picture = &info, .precision = precision, .backend = Backend::cuda}, kOdd);
        const RunOutput on_gpu = cuda->run({}, &picture.ref);
        ASSERT_EQ(difference(oracle, on_gpu.image), "") << "CUDA";
        ASSERT_TRUE(on_gpu.guards_untouched) << "CUDA";
      }
}

using Colours = std::array<double, 3>;

/// The definition in double precision: R'G'B' from 0 to 1, result 0 to 255.
Colours exact_display(const ColourSpec& colour, Colours coded) {
  Colours light{};
  const bool hlg = colour.transfer == Transfer::hlg, pq = colour.transfer == Transfer::pq;
  for (size_t c = 0; c < 3; ++c)
    light[c] = hlg ? hlg_to_scene(coded[c]) : pq ? pq_to_luminance(coded[c]) : bt2020_to_scene(coded[c]);
  if (hlg) {
    const double y = 0.2627 * light[0] + 0.6780 * light[1] + 0.0593 * light[2];
    for (double& v : light) v *= kHlgPeak * std::pow(y, 0.2);
  }
  if (hlg || pq) {
    const double most = std::max({light[0], light[1], light[2], 1e-9});
    const double gain = tone_mapped(most, hlg ? kHlgPeak : colour.peak) / most;
    for (double& v : light) v *= gain / kSdrWhite;
  }
  constexpr double k2020[3][3] = {
      {1.6605, -0.5876, -0.0728}, {-0.1246, 1.1329, -0.0083}, {-0.0182, -0.1006, 1.1187}};
  constexpr double kP3[3][3] = {
      {1.22494, -0.22494, 0}, {-0.04206, 1.04206, 0}, {-0.01964, -0.07864, 1.09828}};
  Colours out = light;
  if (colour.primaries != Primaries::bt709)
    for (size_t c = 0; c < 3; ++c) {
      const auto& m = colour.primaries == Primaries::p3 ? kP3[c] : k2020[c];
      out[c] = m[0] * light[0] + m[1] * light[1] + m[2] * light[2];
    }
  for (double& v : out) {
    v = std::clamp(v, 0.0, 1.0);
    v = 255 * (hlg || pq ? srgb_of_light(v) : scene_to_bt2020(v));
  }
  return out;
}

TEST_P(ColourLight, WithinTwoOfDoublePrecision) {
  const auto light = std::make_unique<DisplayLight>();
  DisplayLight::make(GetParam().colour, *light);
  double worst = 0, sum = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    // Dark, bright, saturated and gray colours.
    const uint32_t top = 1u << (random_() % 13), r = random_() % top, g = random_() % top,
                   b = random_() % top;
    const bool gray = i % 4 == 0;
    const uint32_t code[3] = {r, gray ? r : g, gray ? r : b};
    const Colours exact =
        exact_display(GetParam().colour, {code[0] / 4095.0, code[1] / 4095.0, code[2] / 4095.0});
    const uint32_t pixel = light->pixel(code[0], code[1], code[2]);
    for (size_t c = 0; c < 3; ++c) {
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
  DeepLight::make(GetParam().colour, *light);
  double worst = 0, sum = 0;
  constexpr int kDraws = 200'000;
  for (int i = 0; i < kDraws; ++i) {
    const uint32_t top = 1u << (random_() % 17), r = random_() % top, g = random_() % top,
                   b = random_() % top;
    const bool gray = i % 4 == 0;
    const uint32_t code[3] = {r, gray ? r : g, gray ? r : b};
    const Colours exact =
        exact_display(GetParam().colour, {code[0] / 65535.0, code[1] / 65535.0, code[2] / 65535.0});
    float v[3] = {static_cast<float>(code[0]), static_cast<float>(code[1]), static_cast<float>(code[2])};
    light->convert(v[0], v[1], v[2]);
    for (size_t c = 0; c < 3; ++c) {
      const double error = std::abs(257 * exact[c] - deep_sample(v[c]));
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
  DisplayLight::make(GetParam().colour, *light);
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
