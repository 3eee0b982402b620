#include "core/media/input/read_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/media/input/input.hpp"

namespace lensd {
namespace {

constexpr size_t kMaxTitle = 200;

bool is_video_track(const AVStream& stream) {
  return stream.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && !is_cover(stream);
}

}  // namespace

AVStream* find_cover(const AVFormatContext& context) {
  AVStream* first = nullptr;
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    AVStream* const stream = context.streams[i];
    if (!(stream->disposition & AV_DISPOSITION_ATTACHED_PIC) || stream->attached_pic.size <= 0) continue;
    // FFmpeg stores the type of a picture in ID3 tags and FLAC files as its comment.
    const AVDictionaryEntry* type = av_dict_get(stream->metadata, "comment", nullptr, 0);
    if (type && std::string_view(type->value) == "Cover (front)") return stream;
    if (!first) first = stream;
  }
  return first;
}

std::string tidy_title(const char* text) {
  std::string title;
  for (const char* c = text; *c; ++c)
    if (static_cast<unsigned char>(*c) >= ' ' && *c != '\x7f') title += *c;
  if (title.size() <= kMaxTitle) return title;
  size_t end = kMaxTitle;
  while (end > 0 && (static_cast<unsigned char>(title[end]) & 0xc0) == 0x80) --end;
  return title.substr(0, end);
}

std::vector<std::string> describe_video_tracks(const AVFormatContext& context) {
  std::vector<std::string> all;
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVStream& stream = *context.streams[i];
    if (!is_video_track(stream)) continue;
    const AVCodecParameters& p = *stream.codecpar;
    std::string text = fmt::format("{}×{} {}", p.width, p.height, avcodec_get_name(p.codec_id));
    for (const char* key : {"language", "title"})
      if (const AVDictionaryEntry* entry = av_dict_get(stream.metadata, key, nullptr, 0))
        text += ", " + tidy_title(entry->value);
    all.push_back(std::move(text));
  }
  return all;
}

int video_track_number(const AVFormatContext& context, int index) {
  int number = 0;
  for (int i = 0; i < static_cast<int>(context.nb_streams); ++i) {
    if (is_video_track(*context.streams[i])) ++number;
    if (i == index) return is_video_track(*context.streams[i]) ? number : 0;
  }
  return 0;
}

std::string other_track_shown(const SourceInfo& source, int wanted) {
  if (wanted <= 0 || source.video_track == wanted || source.image) return {};
  if (source.video_track == 0)
    return fmt::format("{}: it has no video track, so its cover picture is shown", source.name);
  return fmt::format("{}: it has no video track {}, so track {} is shown", source.name, wanted,
                     source.video_track);
}

int64_t first_sound_ns(const AVFormatContext& context) {
  int64_t first = INT64_MAX;
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVStream& stream = *context.streams[i];
    if (stream.codecpar->codec_type != AVMEDIA_TYPE_AUDIO || stream.start_time == AV_NOPTS_VALUE) continue;
    if (const int64_t start = ff::to_ns(stream.start_time, stream.time_base); plausible(start))
      first = std::min(first, start);
  }
  return first == INT64_MAX ? 0 : first;
}

}  // namespace lensd
