#include "app/result_files.hpp"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/unique_fd.hpp"
#include "core/base/whole_file.hpp"

namespace lensd {
namespace {

constexpr int64_t kPipeTimeoutNs = 500'000'000;
constexpr int kPipePollMs = 50;

/// Opens a pipe for writing. Waits for a reader until `end_ns`. Returns a descriptor, or none with errno set.
UniqueFd open_pipe(const std::string& path, int64_t end_ns) {
  for (;;) {
    UniqueFd fd(open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd || errno != ENXIO || now_ns() > end_ns) return fd;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void write_pipe(const std::string& path, const std::string& text, PipeReader reader) {
  const auto fail = [&](const char* why) { return Error(ExitCode::runtime_failure, path, why); };
  const int64_t end_ns = now_ns() + kPipeTimeoutNs;
  const UniqueFd fd = open_pipe(path, end_ns);
  if (!fd) throw fail(errno == ENXIO ? "nobody reads this pipe" : std::strerror(errno));
  const auto wait = [&] {
    pollfd room{fd.get(), POLLOUT, 0};
    poll(&room, 1, kPipePollMs);
    return reader == PipeReader::may_be_slow || now_ns() <= end_ns;
  };
  if (!write_all(fd.get(), text, wait))
    throw fail(errno == EAGAIN ? "the reader of this pipe is too slow" : std::strerror(errno));
}

}  // namespace

void write_text(const std::string& path, const std::string& text, PipeReader reader) {
  std::error_code ignored;
  if (std::filesystem::is_fifo(path, ignored)) return write_pipe(path, text, reader);
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw Error(ExitCode::runtime_failure, path, "cannot be written", "check the folder and its permissions");
}

}  // namespace lensd
