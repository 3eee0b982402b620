// The steps of a parameter's slider.
#include <gtest/gtest.h>

#include "ui/widgets/widgets.hpp"

namespace lensd::ui {
namespace {

TEST(ParamControl, AStepIsAboutAThousandthOfTheRange) {
  ParamSpec spec;
  spec.type = ParamType::real;
  spec.default_value = 0.0;
  const auto step = [&](double min, double max, double from, int steps) {
    spec.min = min, spec.max = max;
    return std::get<double>(stepped(spec, from, steps));
  };
  EXPECT_DOUBLE_EQ(step(-100, 100, 0, 1), 0.1);
  EXPECT_DOUBLE_EQ(step(-100, 100, 0.17, -2), 0);
  EXPECT_DOUBLE_EQ(step(0, 10, 5, 1), 5.01);
  EXPECT_DOUBLE_EQ(step(0, 10, 10, 1), 10);
}

}  // namespace
}  // namespace lensd::ui
