// Signals of a daemon as a descriptor for poll().
#pragma once

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/unique_fd.hpp"

namespace lensd {

/// Blocks INT, TERM and HUP in this thread and in threads that it starts later; take() reads the signals
/// instead. Construct it once, before any thread starts that does not block all signals.
class Signals {
 public:
  Signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    fd_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!fd_) throw Error(ExitCode::runtime_failure, "signals", std::strerror(errno), "check `ulimit -n`");
  }

  int fd() const noexcept { return fd_.get(); }
  /// Returns the number of a received signal, or 0 if there is none. Does not block.
  int take() const {
    signalfd_siginfo info{};
    return read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
  }

  /// Unblocks INT and TERM. Ignores the first `ignored` signals; the next one ends the process immediately.
  static void unblock(int ignored) {
    left_ = ignored;
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM}) {
      std::signal(number, [](int signal) {
        if (left_.fetch_sub(1) <= 0) std::_Exit(128 + signal);
      });
      sigaddset(&set, number);
    }
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  }

 private:
  static inline std::atomic<int> left_{0};  // lock-free, for the signal handler
  UniqueFd fd_;
};

}  // namespace lensd
