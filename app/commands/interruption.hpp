// Turns SIGINT and SIGTERM into a flag, so that the run ends after the current frame, with complete files. A
// second signal has its default effect: it ends the program at once.
#pragma once

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <stop_token>
#include <thread>

namespace lensd {

/// Handles the signals during its lifetime. Only one instance may exist at a time. requested() is
/// thread-safe.
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

  bool requested() const { return signal() != 0; }
  /// Returns the signal, or 0.
  int signal() const { return flag(); }

 private:
  static std::atomic<int>& flag() {
    static_assert(std::atomic<int>::is_always_lock_free, "signal handlers may only use lock-free atomics");
    static std::atomic<int> value = 0;
    return value;
  }
  static void on_signal(int signal) {
    if (flag() != 0) {
      std::signal(signal, SIG_DFL);
      std::raise(signal);
    }
    flag() = signal;
  }
};

/// Calls `then` once on its own thread, about `patience` after an interruption, or earlier if this object is
/// destroyed after the interruption. Use it to end waits that a signal does not end.
class OnInterruption {
 public:
  OnInterruption(const Interruption& interruption, std::function<void()> then,
                 std::chrono::milliseconds patience = {})
      : thread_([&interruption, then = std::move(then), patience](const std::stop_token& stop) {
          constexpr auto kStep = std::chrono::milliseconds(20);
          while (!stop.stop_requested() && !interruption.requested()) std::this_thread::sleep_for(kStep);
          if (!interruption.requested()) return;
          for (auto left = patience; left > kStep && !stop.stop_requested(); left -= kStep)
            std::this_thread::sleep_for(kStep);
          then();
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace lensd
