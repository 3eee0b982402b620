#include "core/media/output/hls_files.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string_view>

namespace lensd {
namespace {

constexpr std::string_view kTemporary = ".tmp";

}  // namespace

void HlsFiles::attach(AVFormatContext& context) noexcept {
  context.opaque = this, context.io_open = open, context.io_close2 = close;
}

void HlsFiles::begin_trailer(AVFormatContext& context) noexcept {
  // After an error, the trailer must still be written, because it frees a buffer of FFmpeg. But it would
  // delete a segment that the playlist still lists.
  if (error_ < 0) av_opt_set(context.priv_data, "hls_flags", "-delete_segments", 0);
}

int HlsFiles::end() noexcept {
  check_renamed();
  return error_;
}

/// Opens a file. After an error, opens none: the muxer would go on, and list the lost segment in a new
/// playlist.
int HlsFiles::open(AVFormatContext* context, AVIOContext** file, const char* url, int flags,
                   AVDictionary** options) noexcept {
  HlsFiles& self = *static_cast<HlsFiles*>(context->opaque);
  if (!(flags & AVIO_FLAG_WRITE)) return avio_open2(file, url, flags, &context->interrupt_callback, options);
  self.check_renamed();
  if (self.error_ < 0) return self.error_;
  try {
    self.last_ = url;
    self.error_ = std::min(0, avio_open2(file, url, flags, &context->interrupt_callback, options));
  } catch (const std::bad_alloc&) {
    self.error_ = AVERROR(ENOMEM);
  }
  return self.error_;
}

/// Closes a file. Deletes it if it is incomplete, for example on a full disk: the muxer would replace the
/// playlist by it.
int HlsFiles::close(AVFormatContext* context, AVIOContext* file) noexcept {
  HlsFiles& self = *static_cast<HlsFiles*>(context->opaque);
  const bool written = (file->write_flag != 0);
  const int error = avio_close(file);
  if (error >= 0 || !written) return error;
  if (self.error_ == 0) self.error_ = error;
  self.delete_last();
  return error;
}

/// Renames the last file if the muxer could not, for example because a folder has the name. The muxer ignores
/// this error.
void HlsFiles::check_renamed() noexcept {
  if (!last_.ends_with(kTemporary) || error_ < 0) return;
  try {
    const std::string name = last_.substr(0, last_.size() - kTemporary.size());
    if (rename(last_.c_str(), name.c_str()) != 0 && errno != ENOENT) error_ = AVERROR(errno);
  } catch (const std::bad_alloc&) {
    error_ = AVERROR(ENOMEM);
  }
  if (error_ < 0) delete_last();
  last_.clear();
}

void HlsFiles::delete_last() noexcept {
  struct stat status = {};
  if (lstat(last_.c_str(), &status) == 0 && S_ISREG(status.st_mode)) unlink(last_.c_str());
}

}  // namespace lensd
