#include "core/media/output/hls_options.hpp"

#include <fmt/format.h>

#include "core/media/hls_playlist.hpp"

namespace lensd {

void set_hls_options(const std::string& playlist, ff::Options& options) {
  std::string flags = "delete_segments+independent_segments+temp_file+omit_endlist";
  // Continue the playlist after a change of the format or a restart: players stop at ENDLIST, and expect
  // sequence numbers and names of segments that never start again.
  if (continues_playlist(playlist)) flags += "+append_list";
  options.set("hls_flags", flags);
  options.set("hls_time", "2");
  options.set("hls_list_size", std::to_string(kListedSegments));
  // Without this option, FFmpeg deletes old segments in the folders that the existing playlist names.
  options.set("hls_segment_filename", fmt::format("{}%d{}", segment_begin(playlist), kSegmentEnding));
}

}  // namespace lensd
