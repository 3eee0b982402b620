// File types, and which containers support which video codecs. Internal to core/media.
#pragma once

#include <span>
#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"

namespace lensd {

/// A type of video file. `ending`: end of the files' names, such as ".mkv". `muxer`: FFmpeg's name of the
/// container.
struct FileType {
  const char* ending;
  const char* muxer;
};
std::span<const FileType> file_types() noexcept;
/// Returns true if the container is one of file_types(); false for the containers of streams.
bool is_file_type(const AVOutputFormat& container);

/// Returns true if the container supports the codec in a file or stream that players can read. Throws
/// MemoryError if out of memory.
bool supports_video(const AVOutputFormat& container, AVCodecID codec);

/// Returns what to do if `container` does not support the codec: the file types that do, or another codec.
std::string unsupported_hint(const AVOutputFormat& container, AVCodecID codec);

}  // namespace lensd
