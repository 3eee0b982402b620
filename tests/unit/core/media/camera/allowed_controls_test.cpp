// Values that were made for another camera, such as those of a preset.
#include <gtest/gtest.h>

#include "core/media/camera/shared_controls.hpp"

namespace lensd {
namespace {

SourceControl integer(const std::string& name, int64_t max) {
  SourceControl control;
  control.name = name, control.max = max;
  control.value = control.initial = int64_t{0};
  return control;
}

std::vector<SourceControl> controls() {
  std::vector<SourceControl> out = {integer("gain", 100), integer("exposure", 500), integer("fixed", 10)};
  out[2].read_only = true;
  return out;
}

TEST(AllowedControls, AreSetAndTheOthersNamed) {
  SharedControls shared({}, {});
  shared.connect({"camera"}, controls());
  EXPECT_EQ(
      shared.set_allowed(
          {{"focus", int64_t{7}}, {"gain", int64_t{30}}, {"exposure", int64_t{900}}, {"fixed", int64_t{1}}}),
      "this camera does not have or allow these values: focus, exposure, fixed");
  EXPECT_EQ(shared.wanted({"camera"}), (ControlValues{{"gain", int64_t{30}}}));
  EXPECT_EQ(shared.take_write()->name, "gain");
  EXPECT_FALSE(shared.take_write());
}

TEST(AllowedControls, IfAllAreAllowedNothingIsReported) {
  SharedControls shared({}, {});
  shared.connect({"camera"}, controls());
  EXPECT_EQ(shared.set_allowed({{"gain", int64_t{30}}, {"exposure", int64_t{200}}}), "");
  EXPECT_EQ(shared.set({{"gain", int64_t{40}}, {"focus", int64_t{7}}}).empty(), false) << "all or none";
  EXPECT_EQ(shared.wanted({"camera"}), (ControlValues{{"gain", int64_t{30}}, {"exposure", int64_t{200}}}));
}

TEST(AllowedControls, BeforeTheFirstConnectionAllAreStored) {
  SharedControls shared({}, {});
  const ControlValues values = {{"focus", int64_t{7}}, {"gain", int64_t{30}}};
  EXPECT_EQ(shared.set_allowed(values), "");
  EXPECT_EQ(shared.wanted({"camera"}), values);
}

}  // namespace
}  // namespace lensd
