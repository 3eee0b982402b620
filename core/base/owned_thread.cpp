#include "core/base/owned_thread.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

namespace lensd {

/// `reached` becomes true when the thread's function has returned.
struct OwnedThread::End {
  std::mutex mutex;
  std::condition_variable changed;
  bool reached = false;
};

namespace {

struct Stragglers {
  void add(OwnedThread thread) {
    const std::lock_guard lock(mutex);
    std::erase_if(threads, [](OwnedThread& known) { return known.join_if_ended(); });
    threads.push_back(std::move(thread));
  }

  std::mutex mutex;
  std::vector<OwnedThread> threads;
};

/// Never destroyed, because the destructor of a running std::thread terminates the process.
Stragglers& stragglers() {
  static auto& instance = *new Stragglers;
  return instance;
}

}  // namespace

OwnedThread::OwnedThread(std::function<void()> run) : end_(std::make_shared<End>()) {
  thread_ = std::thread([run = std::move(run), end = end_]() mutable {
    run();
    run = nullptr;  // releases what it owns before `reached` is set
    const std::lock_guard lock(end->mutex);
    end->reached = true;
    end->changed.notify_all();
  });
}

OwnedThread::~OwnedThread() {
  join_within({});
}

OwnedThread& OwnedThread::operator=(OwnedThread&& other) noexcept {
  join_within({});
  thread_ = std::move(other.thread_), end_ = std::move(other.end_);
  return *this;
}

bool OwnedThread::join_within(std::chrono::nanoseconds timeout) {
  if (thread_.joinable()) {
    std::unique_lock lock(end_->mutex);
    end_->changed.wait_for(lock, timeout, [this] { return end_->reached; });
  }
  if (join_if_ended()) return true;
  stragglers().add(std::move(*this));
  return false;
}

bool OwnedThread::join_if_ended() {
  if (!thread_.joinable()) return true;
  {
    const std::lock_guard lock(end_->mutex);
    if (!end_->reached) return false;
  }
  thread_.join();
  return true;
}

size_t join_stragglers(std::chrono::nanoseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  std::vector<OwnedThread> threads;
  {
    const std::lock_guard lock(stragglers().mutex);
    threads = std::exchange(stragglers().threads, {});
  }
  size_t running = 0;
  for (OwnedThread& thread : threads)
    if (!thread.join_within(deadline - std::chrono::steady_clock::now())) ++running;
  return running;
}

}  // namespace lensd
