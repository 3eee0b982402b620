#include "core/base/owned_work.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include "core/base/owned_thread.hpp"
#include "core/base/semaphore.hpp"

namespace lensd {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPollInterval = std::chrono::milliseconds(20);
/// Time for the thread to end after its work has returned.
constexpr auto kReturnTimeout = std::chrono::seconds(1);

struct OwnedWork {
  explicit OwnedWork(std::function<void()> function) : work(std::move(function)) {}

  void run() noexcept {
    try {
      work();
    } catch (...) {
      problem = std::current_exception();
    }
    work = nullptr;  // releases what it owns before the caller continues
    ended.release();
  }

  std::function<void()> work;
  std::exception_ptr problem;
  Semaphore ended;
};

/// Returns false after `timeout` or after `stop` has returned true. Calls `stop` every 20 ms.
bool wait_for_end(OwnedWork& owned, std::chrono::nanoseconds timeout, const std::function<bool()>& stop) {
  const auto begin = Clock::now();
  for (;;) {
    const std::chrono::nanoseconds left = timeout - (Clock::now() - begin);
    if (left.count() <= 0) return owned.ended.try_acquire_for(std::chrono::nanoseconds(0));
    if (owned.ended.try_acquire_for(std::min<std::chrono::nanoseconds>(left, kPollInterval))) return true;
    if (stop()) return false;
  }
}

bool run_until(std::function<void()> work, std::chrono::nanoseconds timeout,
               const std::function<bool()>& stop) {
  const auto owned = std::make_shared<OwnedWork>(std::move(work));
  OwnedThread thread;
  try {
    thread = OwnedThread([owned] { owned->run(); });
  } catch (const std::system_error&) {
    owned->run();
  }
  if (!wait_for_end(*owned, timeout, stop)) return false;
  thread.join_within(kReturnTimeout);
  if (owned->problem) std::rethrow_exception(owned->problem);
  return true;
}

}  // namespace

bool run_owned(std::function<void()> work, std::chrono::nanoseconds timeout, const std::atomic<bool>* stop) {
  return run_until(std::move(work), timeout, [stop] { return stop && *stop; });
}

bool run_owned_with_progress(std::function<void()> work, std::chrono::nanoseconds timeout,
                             std::chrono::nanoseconds limit, const std::function<uint64_t()>& progress) {
  auto changed = Clock::now();
  uint64_t last = progress();
  return run_until(std::move(work), limit, [&] {
    const auto now = Clock::now();
    if (const uint64_t value = progress(); std::exchange(last, value) != value) changed = now;
    return now - changed >= timeout;
  });
}

}  // namespace lensd
