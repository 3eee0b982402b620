#include "core/media/input/read_chapters.hpp"

#include <algorithm>

#include "core/media/input/read_tracks.hpp"

namespace lensd {
namespace {

constexpr unsigned kMaxChapters = 1000;

}  // namespace

std::vector<Chapter> read_chapters(const AVFormatContext& context, int64_t origin_ns) {
  std::vector<Chapter> chapters;
  for (unsigned i = 0; i < std::min(context.nb_chapters, kMaxChapters); ++i) {
    const AVChapter& c = *context.chapters[i];
    if (c.start == AV_NOPTS_VALUE || c.time_base.num <= 0 || c.time_base.den <= 0) continue;
    const AVDictionaryEntry* title = av_dict_get(c.metadata, "title", nullptr, 0);
    chapters.push_back({std::max<int64_t>(ff::to_ns(c.start, c.time_base) - origin_ns, 0),
                        title ? tidy_title(title->value) : ""});
  }
  std::ranges::stable_sort(chapters, {}, &Chapter::start_ns);
  return chapters;
}

}  // namespace lensd
