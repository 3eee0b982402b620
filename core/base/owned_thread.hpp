// Threads that may hang in a call that cannot be interrupted, such as a DNS query, a read from an unreachable
// network folder or a request to a stopped display server.
//
//   OwnedThread ── join_within() ──▶ joined, or a straggler ── join_stragglers() at the end of main()
//
// Threads are never detached. A thread that does not end within its owner's timeout becomes a straggler.
// join_stragglers() waits for it again at the end of the program.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>

namespace lensd {

class OwnedThread {
 public:
  OwnedThread() = default;
  /// Starts the thread. `run` must own everything that it uses, since it may outlive this object.
  explicit OwnedThread(std::function<void()> run);
  /// Like join_within(0).
  ~OwnedThread();
  OwnedThread(OwnedThread&&) = default;
  OwnedThread& operator=(OwnedThread&& other) noexcept;

  /// Returns true from the start of a thread until it is joined or becomes a straggler.
  bool has_thread() const noexcept { return thread_.joinable(); }
  /// Waits up to `timeout` and joins the thread. Returns true if the thread has ended or there is none.
  /// Otherwise the thread becomes a straggler, and the result is false. Call from one thread only.
  bool join_within(std::chrono::nanoseconds timeout);
  /// Joins the thread if its function has returned. Returns false if the function is still running.
  bool join_if_ended();

 private:
  struct End;
  std::thread thread_;
  std::shared_ptr<End> end_;
};

/// Waits up to `timeout` for all stragglers. Returns the number of threads that still run. If it is not 0,
/// end the process with _exit(), because exit() would destroy static objects that these threads use.
size_t join_stragglers(std::chrono::nanoseconds timeout);

}  // namespace lensd
