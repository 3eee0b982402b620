// Threads that may hang in a call that nothing interrupts: a name server, a dead network folder, a stopped
// display.
//
//   OwnedThread ── join_within() ──▶ joined, or a straggler ── join_stragglers() at the end of main()
//
// No thread is detached: one that outlives its owner's deadline is kept, and the end of the program waits for
// it again.
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

  /// Waits until the thread ends. If it still runs after `timeout`, it becomes a straggler and the result is
  /// false. Returns true if there is no thread. Call from one thread only.
  bool join_within(std::chrono::nanoseconds timeout);
  /// Joins the thread if its function has returned, else returns false.
  bool join_if_ended();

 private:
  struct End;
  std::thread thread_;
  std::shared_ptr<End> end_;
};

/// Waits up to `timeout` for all stragglers. Returns how many still run. If any do, end the process with
/// _exit(): the destruction of static objects would take away what they use.
size_t join_stragglers(std::chrono::nanoseconds timeout);

}  // namespace lensd
