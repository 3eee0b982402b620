#include "app/serve/signals.hpp"

#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <initializer_list>

namespace lensd {
namespace {

sigset_t set_of(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  return set;
}

}  // namespace

Signals::Signals() {
  const sigset_t set = set_of({SIGINT, SIGTERM, SIGHUP});
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

Signals::~Signals() {
  close(fd_);
}

int Signals::take() const {
  signalfd_siginfo info{};
  return read(fd_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void Signals::let_through() {
  const sigset_t set = set_of({SIGINT, SIGTERM});
  for (const int number : {SIGINT, SIGTERM})
    std::signal(number, [](int signal) { std::_Exit(128 + signal); });
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace lensd
