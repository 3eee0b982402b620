// Checks sources before FFmpeg opens files or allocates memory for them.
#pragma once

#include <string>

#include "core/media/ffmpeg/ffmpeg.hpp"

extern "C" {
#include <libavfilter/avfilter.h>
}

namespace lensd {

/// Returns true if the source is a pipe, a device or a socket: reading it may wait for another program
/// without limit.
bool may_wait_for_writer(const std::string& url);

/// Returns true if the arguments of a generator ("size=64x48:rate=5") can make FFmpeg read a file: by an
/// option such as life's `filename`, by "/option=file" of newer versions, or in a form that this function
/// does not parse.
bool reads_file(const AVFilter& filter, const std::string& arguments);

/// Returns a problem if a PNG picture begins at the position of `io` and the file is too short for the size
/// in its header; otherwise an empty string. FFmpeg would allocate the picture before it reads the data.
/// Restores the position; if that fails, returns a problem.
std::string png_problem(AVIOContext& io);

/// Like png_problem(AVIOContext&), for a packet of a PNG or APNG stream in any container. Returns an empty
/// string for other streams.
std::string png_problem(const AVCodecParameters& stream, const AVPacket& packet);

/// Returns true if `io` is a plausible TGA picture of at most 512 MiB. Call with `io` at its beginning;
/// restores that position. The format has no signature, so the function checks the fields of the header
/// (Truevision TGA File Format Specification 2.0).
bool is_tga(AVIOContext& io);

/// Returns true for containers of one or several images: GIF, APNG, ICO, AVIF, HEIF and image files (FFmpeg's
/// "…_pipe"). Returns false for sequences of AVIF and HEIF images, which have times like a video.
bool holds_images(const AVFormatContext& context) noexcept;

/// Calls avformat_find_stream_info() and returns its result. FFmpeg decodes the first PNG pictures there, but
/// none with more than 32 Mpixel, because png_problem() has not checked their packets yet.
int find_stream_info(AVFormatContext& context);

}  // namespace lensd
