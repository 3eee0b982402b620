// Bounded multi-producer multi-consumer queue without locks. Moves its values, which need not be copyable.
//
//   producer ── try_push / push ──▶ ring of cells ──▶ pop / try_pop ── consumer
//
// Each cell's sequence number shows whether a producer or a consumer may use it next (D. Vyukov, "Bounded
// MPMC queue", 2010). Waiting uses one atomic counter (a futex). Allocates in the constructor only.
// Thread-safe.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace lensd {

template <class T>
class BoundedQueue {
 public:
  /// `capacity` is rounded up to a power of two, at least 2.
  explicit BoundedQueue(size_t capacity)
      : mask_(std::bit_ceil(capacity < 2 ? size_t{2} : capacity) - 1), cells_(new Cell[mask_ + 1]) {
    for (size_t i = 0; i <= mask_; ++i) cells_[i].sequence.store(i, std::memory_order_relaxed);
  }
  ~BoundedQueue() {
    while (try_pop()) {
    }
  }
  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  /// Moves from `value` and returns true. Returns false and keeps `value` if the queue is full or closed.
  bool try_push(T& value) {
    if (closed_.load(std::memory_order_acquire)) return false;
    size_t position = head_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[position & mask_];
      const auto turn = static_cast<std::ptrdiff_t>(cell.sequence.load(std::memory_order_acquire) - position);
      if (turn == 0) {
        if (!head_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) continue;
        cell.value.emplace(std::move(value));
        cell.sequence.store(position + 1, std::memory_order_release);
        signal();
        return true;
      }
      if (turn < 0) return false;
      position = head_.load(std::memory_order_relaxed);
    }
  }

  /// Waits until the queue has room, then moves from `value` and returns true. Returns false and keeps
  /// `value` if the queue is closed.
  bool push(T& value) { return push_or_wake(value, std::nullopt); }

  /// Like push(), but returns false instead of waiting if wake() was called after the wake_token() call that
  /// returned `token`.
  bool push_or_wake(T& value, std::optional<uint32_t> token) {
    return wait_for(token, [&] { return try_push(value); });
  }

  std::optional<T> try_pop() {
    size_t position = tail_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[position & mask_];
      const auto turn =
          static_cast<std::ptrdiff_t>(cell.sequence.load(std::memory_order_acquire) - (position + 1));
      if (turn == 0) {
        if (!tail_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) continue;
        std::optional<T> value(std::move(*cell.value));
        cell.value.reset();
        cell.sequence.store(position + mask_ + 1, std::memory_order_release);
        signal();
        return value;
      }
      if (turn < 0) return std::nullopt;
      position = tail_.load(std::memory_order_relaxed);
    }
  }

  /// Waits for a value. Returns nullopt if the queue is closed and empty.
  std::optional<T> pop() { return pop_or_wake(std::nullopt); }

  /// Returns a token for pop_or_wake() or push_or_wake(). Call it before checking for other work, so that no
  /// wake() is missed.
  uint32_t wake_token() const noexcept { return wakes_.load(std::memory_order_acquire); }

  /// Like pop(), but returns nullopt instead of waiting if wake() was called after the wake_token() call that
  /// returned `token`.
  std::optional<T> pop_or_wake(std::optional<uint32_t> token) {
    std::optional<T> value;
    // A value may be pushed between the last attempt and close().
    if (!wait_for(token, [&] { return (value = try_pop()).has_value(); }) && closed()) value = try_pop();
    return value;
  }

  /// Refuses further pushes and wakes all waiters. Queued values can still be popped.
  void close() {
    closed_.store(true, std::memory_order_release);
    signal();
  }
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  /// Ends the wait of all pop_or_wake() and push_or_wake() calls whose token is older, so that their threads
  /// can check for other work.
  void wake() {
    wakes_.fetch_add(1, std::memory_order_release);
    signal();
  }

  /// Returns the number of queued values; approximate while other threads push or pop.
  size_t size() const noexcept {
    const size_t head = head_.load(std::memory_order_relaxed), tail = tail_.load(std::memory_order_relaxed);
    return head > tail ? head - tail : 0;
  }
  size_t capacity() const noexcept { return mask_ + 1; }

 private:
  struct Cell {
    std::atomic<size_t> sequence;
    std::optional<T> value;
  };

  /// Calls `attempt` after every change until it returns true. Returns false after a failed attempt if the
  /// queue is closed, or if wake() was called after the wake_token() call that returned `token`.
  template <class Attempt>
  bool wait_for(std::optional<uint32_t> token, Attempt attempt) {
    for (;;) {
      const uint32_t seen = events_.load(std::memory_order_acquire);
      if (attempt()) return true;
      if (closed() || (token && wake_token() != *token)) return false;
      events_.wait(seen, std::memory_order_acquire);
    }
  }

  void signal() {
    events_.fetch_add(1, std::memory_order_release);
    events_.notify_all();
  }

  const size_t mask_;
  std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<size_t> head_{0};
  alignas(64) std::atomic<size_t> tail_{0};
  alignas(64) std::atomic<uint32_t> events_{0};
  std::atomic<uint32_t> wakes_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace lensd
