#include "core/media/output/hls_options.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

constexpr size_t kListed = 6;                   ///< number of segments in a playlist
constexpr size_t kMostBytes = size_t{1} << 16;  ///< of a playlist with kListed segments
constexpr std::string_view kListEnding = ".m3u8", kSegmentEnding = ".ts";

/// Returns true if `line` is the name of a segment: `begin`, a number, kSegmentEnding.
bool is_segment(std::string_view line, std::string_view begin) {
  if (line.size() <= begin.size() + kSegmentEnding.size() || !line.starts_with(begin)) return false;
  line.remove_prefix(begin.size());
  return line.ends_with(kSegmentEnding) &&
         line.find_first_not_of("0123456789") == line.size() - kSegmentEnding.size();
}

/// Returns true if the playlist exists and lists at most kListed segments, all with names that begin with
/// `begin`. FFmpeg deletes the old segments of a playlist that it continues, and a playlist of another
/// program may list any file.
bool may_continue(const std::string& path, const std::string& begin) {
  try {
    const auto text = read_whole_file(path, kMostBytes, FileKind::regular);
    // FFmpeg ends a line at a null character too.
    if (!text || text->find('\0') != std::string::npos) return false;
    size_t segments = 0;
    for (const std::string& line : split(*text, "\r\n")) {
      if (line.starts_with('#')) continue;
      if (!is_segment(line, begin) || ++segments > kListed) return false;
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void set_hls_options(const std::string& path, ff::Options& options) {
  const std::string begin = path.substr(0, path.size() - kListEnding.size());
  std::string flags = "delete_segments+independent_segments+temp_file+omit_endlist";
  // Continue the playlist after a change of the format or a restart: players stop at ENDLIST, and expect
  // sequence numbers and names of segments that never start again.
  if (may_continue(path, std::filesystem::path(begin).filename().string())) flags += "+append_list";
  options.set("hls_flags", flags);
  options.set("hls_time", "2");
  options.set("hls_list_size", std::to_string(kListed));
  // FFmpeg's default. But without this option, FFmpeg deletes old segments in the folders that the existing
  // playlist names.
  options.set("hls_segment_filename", fmt::format("{}%d{}", begin, kSegmentEnding));
}

}  // namespace lensd
