#include "core/media/output/hls_files.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "core/base/lock_file.hpp"
#include "core/base/log.hpp"
#include "core/base/text/text.hpp"
#include "core/base/unique_fd.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

constexpr std::string_view kTemporary = ".tmp";

/// Creates a file. Replaces a file that a killed process of this user has left. Returns an empty UniqueFd,
/// with errno set, on failure. EEXIST: the existing file is a link, a folder or another user's.
UniqueFd create_temporary_of(const char* path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  UniqueFd file(open(path, kFlags, 0666));
  if (file || errno != EEXIST) return file;
  struct stat status = {};
  const bool own = lstat(path, &status) == 0 && S_ISREG(status.st_mode) && is_trusted_owner(status, path);
  if (!own)
    errno = EEXIST;
  else if (unlink(path) == 0)
    return UniqueFd(open(path, kFlags, 0666));
  return file;
}

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
  give_back();
  return error_;
}

/// Opens a file. After an error, opens no file, because the muxer would continue and list the lost segment in
/// a new playlist.
int HlsFiles::open(AVFormatContext* context, AVIOContext** file, const char* url, int flags,
                   AVDictionary** options) noexcept {
  HlsFiles& self = *static_cast<HlsFiles*>(context->opaque);
  if (!(flags & AVIO_FLAG_WRITE)) return avio_open2(file, url, flags, &context->interrupt_callback, options);
  self.check_renamed();
  if (self.error_ < 0) return self.error_;
  try {
    self.last_ = url;
    self.error_ = std::min(0, self.create(context, file, url, flags, options));
  } catch (const std::bad_alloc&) {
    self.error_ = AVERROR(ENOMEM);
  }
  return self.error_;
}

/// Creates a temporary file for FFmpeg, which would follow a link with this name and so write to any file.
int HlsFiles::create(AVFormatContext* context, AVIOContext** file, const char* url, int flags,
                     AVDictionary** options) {
  const AVIOInterruptCB* const interrupt = &context->interrupt_callback;
  if (!last_.ends_with(kTemporary)) return avio_open2(file, url, flags, interrupt, options);
  const UniqueFd made = create_temporary_of(url);
  if (!made && errno == EEXIST) {
    problem_ = fmt::format("{}: the file is not an output of lensd's user, remove it", on_one_line(last_));
    foreign_ = std::exchange(last_, {});  // not to be deleted
    struct stat status = {};
    if (lstat(url, &status) == 0) foreign_device_ = status.st_dev, foreign_inode_ = status.st_ino;
    return AVERROR(EEXIST);
  }
  if (!made) return AVERROR(errno);
  return avio_open2(file, fmt::format("/proc/self/fd/{}", made.get()).c_str(), flags, interrupt, options);
}

/// Closes a file. Deletes it if it is incomplete, for example on a full disk: the muxer would replace the
/// playlist with it.
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

/// Renames the file of another program back. The muxer has renamed it, because it also renames a temporary
/// file that it could not create.
void HlsFiles::give_back() noexcept {
  if (foreign_.empty()) return;
  try {
    const std::string name = foreign_.substr(0, foreign_.size() - kTemporary.size());
    struct stat status = {};
    const bool taken = lstat(name.c_str(), &status) == 0 && status.st_dev == foreign_device_ &&
                       status.st_ino == foreign_inode_;
    if (taken && !rename_new(AT_FDCWD, name, foreign_))
      log::warn("cannot rename {} back to {}: {}", name, foreign_, std::strerror(errno));
  } catch (const std::exception&) {
    // no memory: the file keeps the segment's name
  }
}

void HlsFiles::delete_last() noexcept {
  struct stat status = {};
  if (lstat(last_.c_str(), &status) == 0 && S_ISREG(status.st_mode)) unlink(last_.c_str());
}

}  // namespace lensd
