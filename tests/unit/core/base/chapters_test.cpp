// core/pipeline/chapters: which chapter a position is in, which one the keys seek to, and how it is named.

#include <gtest/gtest.h>

#include "core/pipeline/chapters.hpp"

namespace lensd {
namespace {

constexpr int64_t kChapterSecond = 1'000'000'000;
const std::vector<Chapter> kThreeChapters = {
    {2 * kChapterSecond, "Start"}, {10 * kChapterSecond, ""}, {12 * kChapterSecond, "End"}};

TEST(Chapters, APositionIsInTheLastOneThatHasStarted) {
  EXPECT_EQ(chapter_at(kThreeChapters, 0), std::nullopt);
  EXPECT_EQ(chapter_at(kThreeChapters, 2 * kChapterSecond), 0u);
  EXPECT_EQ(chapter_at(kThreeChapters, 9 * kChapterSecond), 0u);
  EXPECT_EQ(chapter_at(kThreeChapters, 10 * kChapterSecond - 40'000'000), 1u) << "a frame before its start";
  EXPECT_EQ(chapter_at(kThreeChapters, 500 * kChapterSecond), 2u);
  EXPECT_EQ(chapter_at({}, kChapterSecond), std::nullopt);
}

TEST(Chapters, KeysGoToTheNextOneAndBackToTheStartOrThePreviousOne) {
  EXPECT_EQ(chapter_to(kThreeChapters, 0, true), 0u);
  EXPECT_EQ(chapter_to(kThreeChapters, 2 * kChapterSecond, true), 1u);
  EXPECT_EQ(chapter_to(kThreeChapters, 12 * kChapterSecond, true), std::nullopt);
  EXPECT_EQ(chapter_to(kThreeChapters, kChapterSecond, false), std::nullopt);
  EXPECT_EQ(chapter_to(kThreeChapters, 9 * kChapterSecond, false), 0u);
  EXPECT_EQ(chapter_to(kThreeChapters, 11 * kChapterSecond, false), 0u) << "only 1 s after its start";
  EXPECT_EQ(chapter_to(kThreeChapters, 16 * kChapterSecond, false), 2u) << "4 s after its start";
}

TEST(Chapters, LimitsOfToleranceAndRestart) {
  EXPECT_EQ(chapter_at(kThreeChapters, 10 * kChapterSecond - 100'000'000), 1u);
  EXPECT_EQ(chapter_at(kThreeChapters, 10 * kChapterSecond - 100'000'001), 0u);
  EXPECT_EQ(chapter_to(kThreeChapters, 15 * kChapterSecond, false), 1u) << "3 s after its start";
  EXPECT_EQ(chapter_to(kThreeChapters, 15 * kChapterSecond + 1, false), 2u);
  EXPECT_EQ(chapter_to({}, 0, true), std::nullopt);
  EXPECT_EQ(chapter_to({}, 0, false), std::nullopt);
}

TEST(Chapters, AreNamedByNumberAndTitle) {
  EXPECT_EQ(chapter_text(kThreeChapters, 0), "Chapter 1 of 3: Start");
  EXPECT_EQ(chapter_text(kThreeChapters, 1), "Chapter 2 of 3");
}

}  // namespace
}  // namespace lensd
