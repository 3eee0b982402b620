// Work that may hang in a call that cannot be interrupted, such as a write to a disk that does not answer,
// with a deadline for its caller (see core/base/owned_thread.hpp).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace lensd {

/// A deadline of run_owned() that never passes.
inline constexpr std::chrono::nanoseconds kNoDeadline = std::chrono::nanoseconds::max();

/// Runs `work` on its own thread and waits for it. Returns true if it has returned; rethrows its exception.
/// Returns false after `timeout`, or within 20 ms after `stop`, which may be null, is set: the thread is then
/// a straggler and its exception is lost. `work` must own everything that it uses, since it may outlive the
/// call. If no thread can be started, runs `work` on this one.
bool run_owned(std::function<void()> work, std::chrono::nanoseconds timeout,
               const std::atomic<bool>* stop = nullptr);

/// Like run_owned(), but returns false when `progress` has had the same value for `timeout`, or after
/// `limit`. Calls `progress` on this thread every 20 ms. It must not block.
bool run_owned_with_progress(std::function<void()> work, std::chrono::nanoseconds timeout,
                             std::chrono::nanoseconds limit, const std::function<uint64_t()>& progress);

}  // namespace lensd
