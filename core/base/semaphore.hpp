// A counting semaphore with exact timeouts. Thread-safe.
//
// The timed wait of libstdc++ 12's std::counting_semaphore sleeps in steps that grow with the time waited,
// and overshoots a wait of 40 ms by up to 20 ms. sem_clockwait() returns within the timer's slack, about 0.1
// ms.
#pragma once

#include <semaphore.h>

#include <cerrno>
#include <chrono>
#include <ctime>

namespace lensd {

class Semaphore {
 public:
  Semaphore() noexcept { sem_init(&semaphore_, 0, 0); }
  ~Semaphore() { sem_destroy(&semaphore_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  void release() noexcept { sem_post(&semaphore_); }
  /// Waits for a release().
  void acquire() noexcept {
    while (sem_wait(&semaphore_) != 0 && errno == EINTR) {
    }
  }
  /// Waits up to `timeout` for a release(). Returns false if there was none.
  bool try_acquire_for(std::chrono::nanoseconds timeout) noexcept {
    const auto until = std::chrono::steady_clock::now() + timeout;
    const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(until.time_since_epoch()).count();
    const timespec deadline{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
    int result = 0;
    while ((result = sem_clockwait(&semaphore_, CLOCK_MONOTONIC, &deadline)) != 0 && errno == EINTR) {
    }
    return result == 0;
  }

 private:
  sem_t semaphore_;
};

}  // namespace lensd
