// Answers from other threads on their way to the thread of the control socket, which an eventfd wakes.
//
//   any thread ── put(), ring() ──▶ Mailbox ── event() in epoll, take() ──▶ the socket's thread
//
// Replies that come late hold it, so that it outlives its reader: what is put in then is thrown away.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace lensd {

class Mailbox {
 public:
  struct Letter {
    uint64_t client = 0;
    std::string text;
  };
  struct Mail {
    std::vector<Letter> letters;
    bool changes = false;  ///< something in the program has changed
  };

  Mailbox() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Mailbox() { close_event(); }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// To be waited for, by the reader, until close_event().
  int event() const { return event_; }
  void close_event() {
    const std::lock_guard lock(mutex_);
    if (event_ >= 0) close(std::exchange(event_, -1));
  }

  void ring() noexcept {
    const std::lock_guard lock(mutex_);
    ring_locked();
  }
  void ring_for_changes() noexcept {
    const std::lock_guard lock(mutex_);
    mail_.changes = true;
    ring_locked();
  }
  void put(uint64_t client, std::string text) {
    const std::lock_guard lock(mutex_);
    mail_.letters.push_back({client, std::move(text)});
    ring_locked();
  }

  /// The reader has seen the event.
  void answer_ring() noexcept {
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t ignored = read(event_, &count, sizeof count);
  }
  Mail take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(mail_, {});
  }

 private:
  void ring_locked() const noexcept {
    const uint64_t one = 1;
    if (event_ >= 0) [[maybe_unused]]
      const ssize_t ignored = write(event_, &one, sizeof one);
  }

  std::mutex mutex_;
  int event_;
  Mail mail_;
};

}  // namespace lensd
