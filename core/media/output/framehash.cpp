extern "C" {
#include <libavutil/mem.h>
#include <libavutil/sha.h>
}

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/error.hpp"
#include "core/media/recorder.hpp"

namespace lensd {
namespace {

struct ShaFree {
  void operator()(AVSHA* p) const noexcept { av_free(p); }
};

std::string digest_with(AVSHA* sha, ConstImageRef image) {
  if (!sha || av_sha_init(sha, 256) < 0) throw Error(ExitCode::runtime_failure, "framehash", "out of memory");
  for (int y = 0; y < image.height(); ++y) av_sha_update(sha, image.row(y), image.row_bytes());
  uint8_t bytes[32];
  av_sha_final(sha, bytes);
  std::string text;
  for (const uint8_t byte : bytes) fmt::format_to(std::back_inserter(text), "{:02x}", byte);
  return text;
}

}  // namespace

struct FrameHash::State {
  std::string path;
  std::FILE* file = nullptr;
  std::unique_ptr<AVSHA, ShaFree> sha{av_sha_alloc()};
  ImageFormat format{PixelFormat::rgba8, {0, 0}};

  ~State() {
    if (file) std::fclose(file);
  }
  [[noreturn]] void fail() const {
    throw Error(ExitCode::runtime_failure, path, std::string("cannot be written: ") + std::strerror(errno));
  }
};

FrameHash::FrameHash(const std::string& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  state_->file = std::fopen(path.c_str(), "we");
  if (!state_->file ||
      std::fputs("# lensd framehash 1\n# columns: index, pts_ns, sha256\n", state_->file) < 0)
    state_->fail();
}

FrameHash::~FrameHash() = default;

void FrameHash::write(ConstImageRef image, const FrameInfo& info) {
  if (!(state_->format == image.format)) {
    state_->format = image.format;
    const std::string header = fmt::format("# format: {}\n# size: {}x{}\n", name(image.format.format),
                                           image.width(), image.height());
    if (std::fputs(header.c_str(), state_->file) < 0) state_->fail();
  }
  const std::string line =
      fmt::format("{}, {}, {}\n", info.index, info.pts_ns, digest_with(state_->sha.get(), image));
  if (std::fputs(line.c_str(), state_->file) < 0) state_->fail();
}

void FrameHash::finish() {
  if (!state_->file) return;
  if (std::fclose(std::exchange(state_->file, nullptr)) != 0) state_->fail();
}

std::string FrameHash::digest(ConstImageRef image) {
  const std::unique_ptr<AVSHA, ShaFree> sha(av_sha_alloc());
  return digest_with(sha.get(), image);
}

}  // namespace lensd
