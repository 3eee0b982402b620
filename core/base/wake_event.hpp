// An eventfd that wakes a thread from poll() or epoll_wait(). Thread-safe.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/unique_fd.hpp"

namespace lensd {

class WakeEvent {
 public:
  /// Throws Error(runtime_failure) if eventfd() fails, for example because no descriptor is free.
  WakeEvent() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!fd_) throw Error(ExitCode::runtime_failure, "eventfd", std::strerror(errno), "check `ulimit -n`");
  }

  /// Returns the descriptor to poll: readable from set() until clear().
  int fd() const noexcept { return fd_.get(); }
  void set() const noexcept {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(fd_.get(), &one, sizeof one);
  }
  void clear() const noexcept {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = read(fd_.get(), &count, sizeof count);
  }

 private:
  const UniqueFd fd_;
};

}  // namespace lensd
