// One thread for work that takes its time: opening sources, planning, writing files.
//
//   control, HTTP ── post() ──▶ bounded queue ──▶ the jobs' thread, one after another
#pragma once

#include <functional>
#include <thread>

#include "core/base/bounded_queue.hpp"

namespace lensd {

class Jobs {
 public:
  Jobs() : thread_([this] { run(); }) {}
  ~Jobs() { stop(); }
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;

  /// False when too many are waiting, or after stop(); any thread.
  bool post(std::function<void()> job) { return queue_.try_push(job); }
  /// Ends after the job at hand; those that wait are still run.
  void stop() {
    queue_.close();
    if (thread_.joinable()) thread_.join();
  }

 private:
  void run() {
    while (auto job = queue_.pop()) (*job)();
  }

  BoundedQueue<std::function<void()>> queue_{64};
  std::thread thread_;
};

}  // namespace lensd
