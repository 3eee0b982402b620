// core/base/text/suggest: which names are close to a mistyped one.

#include "core/base/text/suggest.hpp"

#include <gtest/gtest.h>

namespace lensd {
namespace {

const std::vector<std::string> kNames = {"median", "gaussian", "box", "radius", "--headless", "seek"};

TEST(Suggest, FindsSlips) {
  EXPECT_EQ(closest_name("medain", kNames), "median");
  EXPECT_EQ(closest_name("Median", kNames), "median");
  EXPECT_EQ(closest_name("gausian", kNames), "gaussian");
  EXPECT_EQ(closest_name("radiu", kNames), "radius");
  EXPECT_EQ(closest_name("--hedless", kNames), "--headless");
  EXPECT_EQ(closest_name("seke", kNames), "seek");
}

TEST(Suggest, OtherNamesAreNoSlips) {
  for (const std::string typed : {"", "x", "blur", "sharpen", "ox2y", "a much longer text than any name"})
    EXPECT_EQ(closest_name(typed, kNames), "") << typed;
  EXPECT_EQ(closest_name(std::string(100'000, 'm'), kNames), "");
  EXPECT_EQ(closest_name("median", {}), "");
}

TEST(Suggest, ReadsAsAQuestion) {
  EXPECT_EQ(did_you_mean("medain", kNames, "see lensd filters"), "did you mean median?");
  EXPECT_EQ(did_you_mean("blur", kNames, "see lensd filters"), "see lensd filters");
}

}  // namespace
}  // namespace lensd
