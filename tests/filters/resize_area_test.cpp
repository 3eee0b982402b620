// resize, method area: strong reductions, which CUDA sums with several blocks per output pixel.
#include <gtest/gtest.h>

#include "kernels/registry.hpp"
#include "kernels/resize/resize_math.hpp"
#include "tests/filters/harness.hpp"

namespace lensd::test {
namespace {

struct Reduction {
  Extent from, to;
};
constexpr Reduction kReductions[] = {
    {{1200, 900}, {1, 1}}, {{1921, 1081}, {3, 2}}, {{701, 700}, {7, 3}},     {{2000, 3}, {1, 1}},
    {{3, 2000}, {1, 1}},   {{5, 3000}, {3, 1}},    {{640, 480}, {20, 16}},   {{1000, 600}, {1, 9}},
    {{600, 1000}, {9, 1}}, {{1500, 2}, {2, 5}},    {{2100, 40}, {2100, 1}},  {{16384, 1}, {1, 1}},
    {{1, 16384}, {1, 1}},  {{33, 1100}, {33, 1}},  {{8200, 513}, {8200, 1}},
};

/// Compares a rig's output with the oracle's, for noise and for the largest sums.
template <class MakeRig>
void compare_reductions(MakeRig make_rig) {
  std::mt19937 random(11);
  for (const auto& [from, to] : kReductions)
    for (const PixelFormat format :
         {PixelFormat::gray8, PixelFormat::rgba8, PixelFormat::gray16, PixelFormat::rgba16})
      for (const bool white : {false, true}) {
        SCOPED_TRACE(std::to_string(from.width) + "x" + std::to_string(from.height) + " to " +
                     std::to_string(to.width) + "x" + std::to_string(to.height) + ", " + name(format));
        auto filter = registry().find("resize")->make();
        filter->set("width", int64_t{to.width}), filter->set("height", int64_t{to.height});
        filter->set("method", std::string("area"));
        ReferenceRun oracle;
        oracle.in = {white ? Image({format, from}) : noise({format, from}, random)};
        if (white) std::fill(oracle.in[0].pixels.begin(), oracle.in[0].pixels.end(), uint8_t{255});
        filter->reference(oracle);
        for (const Placement placement : {kAligned, kOdd}) {
          const RunOutput output = make_rig(*filter, oracle.in[0].format, placement)->run(oracle.in);
          ASSERT_EQ(difference(oracle.out, output.image), "");
          ASSERT_TRUE(output.guards_untouched);
        }
      }
}

TEST(ResizeArea, StrongReductionsAreThoseOfTheOracle) {
  compare_reductions([](Filter& filter, ImageFormat format, Placement placement) {
    return make_cpu_rig(filter, {.images = {&format, 1}}, placement, 2);
  });
}
TEST(ResizeArea, StrongReductionsOnCudaAreThoseOfTheOracle) {
  if (const std::string why = cuda_unavailable(); !why.empty()) GTEST_SKIP() << why;
  compare_reductions([](Filter& filter, ImageFormat format, Placement placement) {
    return make_cuda_rig(filter, {.images = {&format, 1}, .backend = Backend::cuda}, placement);
  });
}

TEST(ResizeArea, FewLargeFootprintsAreSplit) {
  const auto strips = [](Extent from, int width, int height, bool deep) {
    const ResizeParams params{.width = width, .height = height, .method = ResizeMethod::area};
    return AreaStrips::make(ResizeGeometry::make(params, from), deep).count;
  };
  const Extent picture{7680, 4320};
  for (const bool deep : {false, true}) {
    EXPECT_GT(strips(picture, 1, 1, deep), 200);
    EXPECT_EQ(strips(picture, 128, 72, deep), 1);
    EXPECT_EQ(strips(picture, 1920, 1080, deep), 0) << "16 pixels: one thread per output";
  }
  EXPECT_EQ(strips({16384, 16384}, 16384, 4, true), 0) << "rows are read together";
}

}  // namespace
}  // namespace lensd::test
