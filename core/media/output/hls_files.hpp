// The files that FFmpeg's HLS muxer writes: segments and their playlist. The muxer ignores most errors of its
// files. HlsFiles detects them and stops the output before the playlist lists a missing segment.
#pragma once

#include <cstdint>
#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// Opens and closes the files of one HLS muxer. The muxer writes one file at a time, NAME.tmp, closes it, and
/// renames it to NAME.
class HlsFiles {
 public:
  /// Lets the muxer use this object for its files. Must outlive the context.
  void attach(AVFormatContext& context) noexcept;
  /// Call before the muxer's trailer.
  void begin_trailer(AVFormatContext& context) noexcept;
  /// Returns the first error of a file, or 0. Call after the trailer: checks that the last file was renamed.
  int end() noexcept;
  /// Returns the first error of a file so far, or 0.
  int error() const noexcept { return error_; }
  /// Returns a message if another program's file has the name of a temporary file; otherwise an empty string.
  const std::string& problem() const noexcept { return problem_; }

 private:
  static int open(AVFormatContext* context, AVIOContext** file, const char* url, int flags,
                  AVDictionary** options) noexcept;
  static int close(AVFormatContext* context, AVIOContext* file) noexcept;
  int create(AVFormatContext* context, AVIOContext** file, const char* url, int flags,
             AVDictionary** options);
  void check_renamed() noexcept;
  void give_back() noexcept;
  void delete_last() noexcept;

  std::string last_;  ///< the file that was opened last
  int error_ = 0;
  std::string problem_;
  std::string foreign_;  ///< path of another program's file with the name of a temporary file; empty: none
  uint64_t foreign_device_ = 0, foreign_inode_ = 0;
};

}  // namespace lensd
