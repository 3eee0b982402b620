// The chapters of a file: their order, titles and number.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/media/input/read_chapters.hpp"

namespace lensd {
namespace {

/// A file with chapters at these times in milliseconds.
struct ChapterFile {
  explicit ChapterFile(const std::vector<int64_t>& starts_ms) : parts(starts_ms.size()) {
    for (size_t i = 0; i < parts.size(); ++i) {
      parts[i].time_base = {1, 1000}, parts[i].start = starts_ms[i];
      list.push_back(&parts[i]);
    }
    context->chapters = list.data(), context->nb_chapters = static_cast<unsigned>(list.size());
  }
  ~ChapterFile() {
    for (AVChapter& part : parts) av_dict_free(&part.metadata);
    context->chapters = nullptr, context->nb_chapters = 0;
    avformat_free_context(context);
  }
  void name(size_t i, const char* key, const std::string& text) {
    av_dict_set(&parts[i].metadata, key, text.c_str(), 0);
  }
  std::vector<Chapter> read(int64_t origin_ns = 0) const { return read_chapters(*context, origin_ns); }

  std::vector<AVChapter> parts;
  std::vector<AVChapter*> list;
  AVFormatContext* context = avformat_alloc_context();
};

constexpr int64_t kChapterMs = 1'000'000;

TEST(ReadChapters, AreSortedAndRelativeToTheFirstPicture) {
  ChapterFile file({5000, 1000, 3000});
  file.name(0, "title", "Third"), file.name(2, "TITLE", "Second\n");
  const std::vector<Chapter> expected{{0, ""}, {1000 * kChapterMs, "Second"}, {3000 * kChapterMs, "Third"}};
  EXPECT_EQ(file.read(2000 * kChapterMs), expected) << "the first one begins before the first picture";
}

TEST(ReadChapters, DamagedOnesAreSkipped) {
  ChapterFile file({1000, 2000, 3000, 4000});
  file.parts[0].start = AV_NOPTS_VALUE;
  file.parts[1].time_base = {0, 1000}, file.parts[2].time_base = {1, 0};
  EXPECT_EQ(file.read(), (std::vector<Chapter>{{4000 * kChapterMs, ""}}));
}

TEST(ReadChapters, NumberAndTitlesAreLimited) {
  ChapterFile file(std::vector<int64_t>(1001, 7));
  file.name(0, "title", std::string(201, 'a')), file.name(1, "title", std::string(200, 'b'));
  const std::vector<Chapter> chapters = file.read();
  ASSERT_EQ(chapters.size(), 1000u);
  EXPECT_EQ(chapters[0].title, std::string(200, 'a'));
  EXPECT_EQ(chapters[1].title, std::string(200, 'b'));
}

}  // namespace
}  // namespace lensd
