// INT and TERM as a flag: the run ends after the frame at hand, with complete files; a second one ends it at
// once.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <stop_token>
#include <thread>

namespace lensd {

/// Installs the handlers while it lives. One at a time; requested() may be asked from any thread.
class Interruption {
 public:
  Interruption() {
    flag() = 0;
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, &on_signal);
  }
  ~Interruption() {
    for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  }
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool requested() const { return flag() != 0; }

 private:
  static volatile std::sig_atomic_t& flag() {
    static volatile std::sig_atomic_t value = 0;
    return value;
  }
  static void on_signal(int signal) {
    if (flag() != 0) std::_Exit(128 + signal);
    flag() = signal;
  }
};

/// Calls `then` once, on a thread of its own, soon after an interruption was requested: for a thread that
/// waits for something else than signals.
class OnInterruption {
 public:
  OnInterruption(const Interruption& interruption, std::function<void()> then)
      : thread_([&interruption, then = std::move(then)](const std::stop_token& stop) {
          while (!stop.stop_requested() && !interruption.requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          if (interruption.requested()) then();
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace lensd
