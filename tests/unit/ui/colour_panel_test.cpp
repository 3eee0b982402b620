// The section with the conversion of the source's colours: which settings it shows, and the commands it
// sends.
#include <gtest/gtest.h>

#include "tests/unit/ui/panel_driver.hpp"

namespace lensd::ui {
namespace {

class ColourPanel : public PanelDriver {
 protected:
  void show(Transfer transfer, Primaries primaries) {
    model.source_colour.transfer = transfer, model.source_colour.primaries = primaries;
    model.source_colour.peak = 1000;
    frames(3);
    if (there("colour/fold") && !viewer.state().colour_open) click("colour/fold");
    frames(3);
  }
  std::string shown() const {
    std::string names;
    for (const ParamSpec& setting : colour_schema().params)
      if (there("colour/" + setting.name)) names += setting.name + " ";
    return names;
  }
};

TEST_F(ColourPanel, ShowsWhatHasAnEffectOnTheSource) {
  show(Transfer::sdr, Primaries::bt709);
  EXPECT_FALSE(there("colour/fold"));
  show(Transfer::sdr, Primaries::bt2020);
  EXPECT_FALSE(there("colour/fold"));
  show(Transfer::pq, Primaries::bt2020);
  EXPECT_EQ(shown(), "peak knee saturation display ");
  show(Transfer::hlg, Primaries::bt2020);
  EXPECT_EQ(shown(), "knee saturation display ");
  show(Transfer::sdr, Primaries::bt601_625);
  EXPECT_EQ(shown(), "bt601 ");
}

TEST_F(ColourPanel, AChangeKeepsTheOtherSettings) {
  model.colour.knee = 0.75;
  show(Transfer::pq, Primaries::bt2020);
  const auto* change = only<SetColour>(click("colour/saturation", 0, 0.98f));
  ASSERT_TRUE(change);
  EXPECT_GT(change->settings.saturation, 1.5);
  EXPECT_EQ(change->settings.knee, 0.75);
  const auto* reset = only<SetColour>(click("colour/knee/reset"));
  ASSERT_TRUE(reset);
  EXPECT_EQ(reset->settings, ColourSettings{});
}

TEST_F(ColourPanel, ARefusedNumberSaysWhy) {
  show(Transfer::pq, Primaries::bt2020);
  const auto type_knee = [&](const char* text) {
    set_ctrl(true), click("colour/knee"), set_ctrl(false);
    frames(3);
    type(text);
    press({.key = Key::enter});
    frames(3);
  };
  type_knee("7");
  EXPECT_TRUE(there("colour/knee/refused"));
  EXPECT_LT(rect("colour/knee").h, 30) << "the control's rectangle is without the message";
  type_knee("0.5");
  EXPECT_FALSE(there("colour/knee/refused"));
}

TEST_F(ColourPanel, TheHeadingNamesTheSourcesColours) {
  show(Transfer::pq, Primaries::bt2020);
  EXPECT_EQ(ink_of("PQ, 1000 cd/m²"), colour::dim);
  show(Transfer::hlg, Primaries::bt2020);
  EXPECT_EQ(ink_of("HLG"), colour::dim);
  show(Transfer::sdr, Primaries::bt601_525);
  EXPECT_EQ(ink_of("BT.601, 525 lines"), colour::dim);
  show(Transfer::sdr, Primaries::bt601_625);
  EXPECT_EQ(ink_of("BT.601, 625 lines"), colour::dim);
}

}  // namespace
}  // namespace lensd::ui
