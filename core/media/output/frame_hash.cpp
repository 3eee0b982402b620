extern "C" {
#include <libavutil/mem.h>
#include <libavutil/sha.h>
}

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/recorder.hpp"

namespace lensd {

FrameHash::FrameHash(const std::string& path, Existing existing)
    : path_(path), file_(open_output(path, existing)) {
  put("# lensd framehash 1\n# columns: index, pts_ns, sha256\n");
}

void FrameHash::fail() const {
  throw Error(ExitCode::runtime_failure, path_, std::string("cannot be written: ") + std::strerror(errno));
}

void FrameHash::put(const std::string& text) {
  if (std::fputs(text.c_str(), file_.get()) < 0) fail();
}

void FrameHash::write(ConstImageRef image, const FrameInfo& info) {
  if (!(format_ == image.format)) {
    format_ = image.format;
    put(fmt::format("# format: {}\n# size: {}x{}\n", name(format_.format), image.width(), image.height()));
  }
  put(fmt::format("{}, {}, {}\n", info.index, info.pts_ns, digest(image)));
}

void FrameHash::finish() {
  if (file_ && std::fclose(file_.release()) != 0) fail();
}

std::string FrameHash::digest(ConstImageRef image) {
  const std::unique_ptr<AVSHA, ff::Release<av_free>> sha(ff::allocated(av_sha_alloc()));
  av_sha_init(sha.get(), 256);
  for (int y = 0; y < image.height(); ++y) av_sha_update(sha.get(), image.row(y), image.row_bytes());
  uint8_t bytes[32];
  av_sha_final(sha.get(), bytes);
  std::string text;
  for (const uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

}  // namespace lensd
