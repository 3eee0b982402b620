// A registry that contains only the filters of docs/guides/adding-a-filter.md, and tests of their results.
#include <gtest/gtest.h>

#include <filters/all.hpp>  // generated

#include "kernels/convert/convert.hpp"
#include "kernels/registry.hpp"
#include "tests/filters/harness.hpp"

namespace lensd {
namespace {

constexpr const char kValues[] = "", kEdges[] = "";

constexpr FilterEntry kFilters[] = {
#include "registry_lines.inc"
};

Image run_gray(Filter& filter, const Image& in) {
  const ImageFormat formats[] = {in.format};
  return test::make_cpu_rig(filter, {.images = formats}, test::kAligned, 1)->run({in}).image;
}

TEST(Guide, PointFilterComputesItsValue) {
  Image in({PixelFormat::gray8, {256, 1}});
  for (int x = 0; x < 256; ++x) in.at(x, 0) = static_cast<uint8_t>(x);
  Solarize filter;
  ASSERT_FALSE(filter.set("level", ParamValue{int64_t{100}}).has_value());
  const Image out = run_gray(filter, in);
  for (int x = 0; x < 256; ++x) EXPECT_EQ(out.at(x, 0), x > 100 ? 255 - x : x);
}

TEST(Guide, WindowFilterComputesItsValue) {
  Image in({PixelFormat::gray8, {9, 9}});
  in.at(4, 4) = 20;
  Laplacian filter;
  const Image out = run_gray(filter, in);
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 9; ++x) {
      const int distance = std::abs(x - 4) + std::abs(y - 4);
      EXPECT_EQ(out.at(x, y), distance == 0 ? 48 : distance == 1 ? 148 : 128) << x << ' ' << y;
    }
}

}  // namespace

const Registry& registry() {
  static const Registry all{.filters = kFilters, .make_convert = [](PixelFormat to) {
                              return std::unique_ptr<Filter>(std::make_unique<Convert>(to));
                            }};
  return all;
}

}  // namespace lensd
