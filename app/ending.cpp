#include "app/ending.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "core/base/error.hpp"

namespace lensd {

void finish_stdout(int error) {
  errno = 0;
  const bool lost = std::fflush(stdout) != 0;
  if (!lost && !std::ferror(stdout)) return;
  if (error == 0) error = errno;
  if (error == EPIPE || stdout_closed()) throw EndBySignal{SIGPIPE, ""};
  throw Error(ExitCode::runtime_failure, "standard output",
              std::string("cannot be written") + (error ? std::string(": ") + std::strerror(error) : ""));
}

bool stdout_closed() {
  pollfd out{STDOUT_FILENO, 0, 0};
  return poll(&out, 1, 0) > 0 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

}  // namespace lensd
