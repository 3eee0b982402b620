// A log output that may block, such as a pipe that nobody reads, behind a bounded queue.
//
//   log() ──▶ queue of kMessages ──▶ writer thread ──▶ output
//
// log() waits until its message is written, so that messages stay in order with other writes to the same
// terminal, and none is missing after a crash. If the output blocks for kPatience, log() stops waiting. It
// waits again after the queue has been empty. A full queue drops its oldest message. Before the next message,
// the thread writes how many were dropped. Thread-safe.
#pragma once

#include <spdlog/sinks/sink.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/base/owned_thread.hpp"

namespace lensd::log {

class LogQueue final : public spdlog::sinks::sink {
 public:
  static constexpr size_t kMessages = 1000;
  static constexpr auto kPatience = std::chrono::milliseconds(50);

  /// Starts the thread. The thread calls `failed` with the reason when `output` throws. It does not repeat
  /// the call until a message has been written without an error.
  explicit LogQueue(spdlog::sink_ptr output, std::function<void(const std::string& why)> failed = nullptr);
  ~LogQueue() override;

  void log(const spdlog::details::log_msg& message) override;
  void flush() override {}  // the thread flushes when the queue is empty
  void set_pattern(const std::string& pattern) override;
  void set_formatter(std::unique_ptr<spdlog::formatter> formatter) override;

  /// Waits until all messages are written, at most `timeout`, and ends the thread. Later messages are
  /// discarded. Returns false if the thread still runs.
  bool finish(std::chrono::nanoseconds timeout);

 private:
  struct State;
  const std::shared_ptr<State> state_;  // shared with the thread, which may outlive this object
  OwnedThread thread_;
};

}  // namespace lensd::log
