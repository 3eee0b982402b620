// A thread for slow work: opening sources, planning, writing files.
//
//   any thread ── post() ──▶ bounded queue ──▶ the thread runs one job after another
#pragma once

#include <exception>
#include <functional>
#include <thread>

#include "core/base/bounded_queue.hpp"
#include "core/base/log.hpp"

namespace lensd {

class Jobs {
 public:
  Jobs() : thread_([this] { run(); }) {}
  ~Jobs() { stop(); }
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// Queues a job. Returns false if the queue is full or after stop(). Thread-safe.
  bool post(std::function<void()> job) { return queue_.try_push(job); }
  /// Waits until the queued jobs have run, then ends the thread.
  void stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    while (auto job = queue_.pop()) try {
        (*job)();
      } catch (const std::exception& e) {  // such as a failed allocation
        log::warn("{}", e.what());
      }
  }

  BoundedQueue<std::function<void()>> queue_{64};
  std::thread thread_;
};

}  // namespace lensd
