#include <gtest/gtest.h>

#include "core/image/extent_text.hpp"

namespace lensd {
namespace {

TEST(ExtentText, ParsesAWidthAndAHeight) {
  EXPECT_EQ(parse_extent("1280x720"), (Extent{1280, 720}));
  EXPECT_EQ(parse_extent("1x16384"), (Extent{1, 16384}));
  for (const char* text :
       {"", "x", "640", "640x", "x480", "0x480", "640x0", "640x16385", "-640x480", "+640x480", " 640x480",
        "640x480 ", "640 x 480", "640X480", "640x480x1", "99999999999x480", "0x10x10"})
    EXPECT_FALSE(parse_extent(text)) << text;
}

}  // namespace
}  // namespace lensd
