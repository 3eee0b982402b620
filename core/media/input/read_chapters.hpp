// Reads the chapters of an opened file. Internal to core/media.
#pragma once

#include <vector>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/pipeline/chapters.hpp"

namespace lensd {

/// Returns the chapters, sorted by start; at most 1000, with titles of at most 200 bytes. `origin_ns`: time
/// of the first picture on the file's timeline.
std::vector<Chapter> read_chapters(const AVFormatContext& context, int64_t origin_ns);

}  // namespace lensd
