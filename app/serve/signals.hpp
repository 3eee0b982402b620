// Signals of a daemon as a descriptor to poll.
#pragma once

namespace lensd {

/// Blocks INT, TERM and HUP in this thread and in those that it starts afterwards; they are read here
/// instead. One at a time, made before any other thread.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  /// For poll().
  int fd() const noexcept { return fd_; }
  /// The number of a signal that has come, 0 when there is none.
  int take() const;

  /// From now on INT and TERM end the process at once.
  static void let_through();

 private:
  int fd_;
};

}  // namespace lensd
