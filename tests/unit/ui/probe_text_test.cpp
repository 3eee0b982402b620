// The probe's hexadecimal and Y'CbCr values with 8 and 16 bits.
#include <gtest/gtest.h>

#include "ui/model/probe_text.hpp"

namespace lensd::ui {
namespace {

using Values = std::array<long, 3>;

TEST(ProbeText, HexHasAllBits) {
  EXPECT_EQ(hex_of({0x0a, 0xff, 0x00, 0xff}, false, false), "#0aff00");
  EXPECT_EQ(hex_of({0x0a01, 0xffff, 0x7, 0xffff}, false, true), "#0a01ffff0007");
  EXPECT_EQ(hex_of({0x0a, 0, 0, 0xff}, true, false), "#0a");
  EXPECT_EQ(hex_of({0x0a01, 0, 0, 0xffff}, true, true), "#0a01");
}

TEST(ProbeText, YcbcrHasTheScaleOfTheSamples) {
  EXPECT_EQ(ycbcr_of({255, 255, 255, 255}, false, YuvMatrix::bt601), (Values{255, 128, 128}));
  EXPECT_EQ(ycbcr_of({0, 0, 255, 255}, false, YuvMatrix::bt601), (Values{29, 255, 107}));
  EXPECT_EQ(ycbcr_of({65535, 65535, 65535, 65535}, true, YuvMatrix::bt601), (Values{65535, 32768, 32768}));
  EXPECT_EQ(ycbcr_of({0, 0, 0, 65535}, true, YuvMatrix::bt601), (Values{0, 32768, 32768}));
  // Blue: Y' is 0.114 · 65535, Cb is clipped, Cr is 32768 − 7470.99 / 1.402.
  EXPECT_EQ(ycbcr_of({0, 0, 65535, 65535}, true, YuvMatrix::bt601), (Values{7471, 65535, 27439}));
  EXPECT_EQ(ycbcr_of({40968, 40968, 40968, 65535}, true, YuvMatrix::bt601), (Values{40968, 32768, 32768}));
}

TEST(ProbeText, YcbcrHasTheMatrixOfTheScopes) {
  EXPECT_EQ(ycbcr_of({255, 0, 0, 255}, false, YuvMatrix::bt601), (Values{76, 85, 255}));
  EXPECT_EQ(ycbcr_of({255, 0, 0, 255}, false, YuvMatrix::bt709), (Values{54, 99, 255}));
  EXPECT_STREQ(ycbcr_title(YuvMatrix::bt709), "YCbCr 709");
}

}  // namespace
}  // namespace lensd::ui
