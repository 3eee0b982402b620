#include "core/media/output/hls_options.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "core/media/hls_playlist.hpp"

namespace lensd {

int lock_playlist(const std::string& playlist, UniqueFd& lock) {
  std::filesystem::path path(playlist);
  path.replace_filename("." + path.filename().string() + ".lock");
  constexpr int kFlags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  UniqueFd file(open(path.c_str(), O_RDWR | O_CREAT | kFlags, 0666));
  if (!file && errno == EACCES) file = UniqueFd(open(path.c_str(), O_RDONLY | kFlags));  // another user's
  if (!file) return AVERROR(errno);
  if (flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return AVERROR(EBUSY);
    if (errno == EBADF) return AVERROR(EBADF);  // NFS locks no file that is only open for reading
  }
  // After an error, FFmpeg would replace the playlist by the temporary file of a killed process.
  unlink((playlist + ".tmp").c_str());
  lock = std::move(file);
  return 0;
}

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
