// Kinds and short names of source URLs, without any file.
#include <gtest/gtest.h>

#include "core/media/url.hpp"

namespace lensd {
namespace {

TEST(Url, Kinds) {
  EXPECT_EQ(classify("-"), UrlKind::standard_input);
  EXPECT_EQ(classify("test:testsrc2"), UrlKind::generated);
  EXPECT_EQ(classify("nothing/img_%04d.png"), UrlKind::sequence);
  EXPECT_EQ(classify("/tmp"), UrlKind::path);
  EXPECT_EQ(classify("gopher://host/1"), UrlKind::other);
  EXPECT_TRUE(is_sequence_pattern("a%d.png"));
  EXPECT_TRUE(is_sequence_pattern("100%%_%04d.png"));
  EXPECT_FALSE(is_sequence_pattern("%d_%d.png"));
  EXPECT_FALSE(is_sequence_pattern("100%.png"));
  EXPECT_FALSE(is_sequence_pattern("%s.png"));
}

TEST(Url, ShortNames) {
  EXPECT_EQ(short_name("/a/b/clip.mp4"), "clip.mp4");
}

}  // namespace
}  // namespace lensd
