#include "core/base/log_queue.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <spdlog/details/log_msg_buffer.h>

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <utility>

namespace lensd::log {
namespace {

/// Blocks all signals while it exists. A thread inherits the signal mask of the thread that starts it. The
/// writer thread needs this: it must not receive signals, and it starts before `lensd serve` blocks its
/// signals.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t old_;
};

}  // namespace

struct LogQueue::State {
  spdlog::sink_ptr output;
  std::function<void(const std::string&)> failed;
  bool failing = false;  // used by the writer thread only

  std::mutex mutex;
  std::condition_variable pushed, written;
  std::deque<spdlog::details::log_msg_buffer> messages;
  uint64_t last = 0, done = 0;  ///< number of messages added; number written or dropped
  uint64_t dropped = 0;         ///< number of messages dropped since the last one was written
  bool blocked = false, closed = false;

  void run();
  void write(const spdlog::details::log_msg& message, bool flush);
};

void LogQueue::State::run() {
  std::unique_lock lock(mutex);
  for (;;) {
    pushed.wait(lock, [this] { return closed || !messages.empty(); });
    if (messages.empty()) return;
    const spdlog::details::log_msg_buffer message = std::move(messages.front());
    messages.pop_front();
    const uint64_t lost = std::exchange(dropped, 0);
    const bool flush = messages.empty();
    lock.unlock();
    if (lost > 0) {
      const std::string text = fmt::format("{} messages were dropped: the output was blocked", lost);
      write({message.logger_name, spdlog::level::warn, text}, false);
    }
    write(message, flush);
    lock.lock();
    ++done;
    if (messages.empty()) blocked = false;
    written.notify_all();
  }
}

void LogQueue::State::write(const spdlog::details::log_msg& message, bool flush) {
  try {
    output->log(message);
    if (flush) output->flush();
    failing = false;
  } catch (const std::exception& e) {
    if (!std::exchange(failing, true) && failed) failed(e.what());
  }
}

LogQueue::LogQueue(spdlog::sink_ptr output, std::function<void(const std::string&)> failed)
    : state_(std::make_shared<State>()) {
  state_->output = std::move(output), state_->failed = std::move(failed);
  const SignalsBlocked blocked;
  thread_ = OwnedThread([state = state_] { state->run(); });
}

LogQueue::~LogQueue() {
  finish({});
}

void LogQueue::log(const spdlog::details::log_msg& message) {
  std::unique_lock lock(state_->mutex);
  if (state_->closed) return;
  if (state_->messages.size() >= kMessages) {
    state_->messages.pop_front();
    ++state_->dropped, ++state_->done;
  }
  state_->messages.emplace_back(message);
  const uint64_t number = ++state_->last;
  state_->pushed.notify_one();
  if (state_->blocked) return;
  if (!state_->written.wait_for(lock, kPatience, [&] { return state_->done >= number; }))
    state_->blocked = true;
}

void LogQueue::set_pattern(const std::string& pattern) {
  state_->output->set_pattern(pattern);
}

void LogQueue::set_formatter(std::unique_ptr<spdlog::formatter> formatter) {
  state_->output->set_formatter(std::move(formatter));
}

bool LogQueue::finish(std::chrono::nanoseconds timeout) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closed = true;
    state_->pushed.notify_one();
  }
  return thread_.join_within(std::max(timeout, std::chrono::nanoseconds::zero()));
}

}  // namespace lensd::log
