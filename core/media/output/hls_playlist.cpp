#include "core/media/hls_playlist.hpp"

#include <filesystem>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/text/text.hpp"
#include "core/base/whole_file.hpp"
#include "core/media/output/hls_options.hpp"

namespace lensd {
namespace {

constexpr std::string_view kPlaylistEnding = ".m3u8", kDigits = "0123456789";
constexpr size_t kMaxPlaylistBytes = size_t{1} << 16;  ///< more than kListedSegments segments need

/// Returns true if `line` is the name of a segment: `begin`, a number, kSegmentEnding.
bool is_segment(std::string_view line, std::string_view begin) {
  const std::string_view ending = kSegmentEnding;
  if (line.size() <= begin.size() + ending.size() || !line.starts_with(begin)) return false;
  line.remove_prefix(begin.size());
  return line.ends_with(ending) && line.find_first_not_of(kDigits) == line.size() - ending.size();
}

}  // namespace

bool is_playlist(const std::string& path) {
  return path.ends_with(kPlaylistEnding) && path.find("://") == std::string::npos;
}

void check_playlist_path(const std::string& playlist) {
  for (size_t i = 0; (i = playlist.find('%', i)) != std::string::npos; ++i) {
    const size_t end = playlist.find_first_not_of(kDigits, i + 1);
    if (end != std::string::npos && playlist[end] == 'd')
      throw Error(ExitCode::usage, playlist, "a playlist's path cannot have a number pattern",
                  "remove the " + playlist.substr(i, end + 1 - i));
  }
}

// Without the hyphen, cam1.m3u8 and cam12.m3u8 would both have a segment cam120.ts.
std::string segment_begin(const std::string& playlist) {
  return playlist.substr(0, playlist.size() - kPlaylistEnding.size()) + "-";
}

// FFmpeg deletes the old segments of a playlist that it continues, and a playlist of another program may list
// any file.
bool continues_playlist(const std::string& playlist) {
  const std::string begin = std::filesystem::path(segment_begin(playlist)).filename().string();
  try {
    const auto text = read_whole_file(playlist, kMaxPlaylistBytes, FileKind::regular);
    // FFmpeg ends a line at a null character too.
    if (!text || !text->starts_with("#EXTM3U") || text->find('\0') != std::string::npos) return false;
    size_t segments = 0;
    for (const std::string& line : split(*text, "\r\n")) {
      if (line.starts_with('#')) continue;
      if (!is_segment(line, begin) || ++segments > kListedSegments) return false;
    }
    return segments > 0;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace lensd
