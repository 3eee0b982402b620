// Runs work that may hang in a call that cannot be interrupted, such as a write to a disk that does not
// answer. The caller waits at most until a deadline. See core/base/owned_thread.hpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace lensd {

/// A timeout of run_owned() that never passes.
inline constexpr std::chrono::nanoseconds kNoDeadline = std::chrono::nanoseconds::max();

/// Runs `work` on its own thread and waits for it. Returns true after `work` has returned, and rethrows its
/// exception. Returns false after `timeout`, or within 20 ms after `stop` is set. The thread is then a
/// straggler and its exception is lost. `work` must own everything that it uses, since it may outlive the
/// call. `stop` may be null. If no thread can be started, runs `work` on the calling thread.
bool run_owned(std::function<void()> work, std::chrono::nanoseconds timeout,
               const std::atomic<bool>* stop = nullptr);

/// Like run_owned(), but returns false if the value of `progress` has not changed for `timeout`, or after
/// `limit`. Calls `progress` on the calling thread every 20 ms; `progress` must not block.
bool run_owned_with_progress(std::function<void()> work, std::chrono::nanoseconds timeout,
                             std::chrono::nanoseconds limit, const std::function<uint64_t()>& progress);

}  // namespace lensd
