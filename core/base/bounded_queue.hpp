// Bounded multi-producer multi-consumer queue of move-only values, without locks.
//
//   producer ── try_push / push ──▶ ring of cells ──▶ pop / try_pop ── consumer
//
// Each cell carries a sequence number that says whose turn it is (D. Vyukov, "Bounded MPMC queue", 2010).
// Waiting is on one atomic counter (a futex), woken only when somebody waits; after construction nothing
// is allocated. Every member may be called from any thread.
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

  /// Moves from `value` and returns true, or leaves it alone and returns false when full or closed.
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

  /// Waits for room. False, with `value` left alone, once the queue is closed.
  bool push(T& value) {
    for (;;) {
      const uint32_t seen = events_.load(std::memory_order_acquire);
      if (try_push(value)) return true;
      if (closed_.load(std::memory_order_acquire)) return false;
      events_.wait(seen, std::memory_order_acquire);
    }
  }

  /// As push(), but also returns false when wake() was called since `wakes` was taken.
  bool push_or_wake(T& value, uint32_t wakes) {
    for (;;) {
      const uint32_t seen = events_.load(std::memory_order_acquire);
      if (try_push(value)) return true;
      if (closed_.load(std::memory_order_acquire)) return false;
      if (wakes_.load(std::memory_order_acquire) != wakes) return false;
      events_.wait(seen, std::memory_order_acquire);
    }
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

  /// Waits for a value. Empty once the queue is closed and drained.
  std::optional<T> pop() {
    for (;;) {
      const uint32_t seen = events_.load(std::memory_order_acquire);
      if (auto value = try_pop()) return value;
      if (closed_.load(std::memory_order_acquire)) return try_pop();
      events_.wait(seen, std::memory_order_acquire);
    }
  }

  /// Take before looking at other work, then give to pop_or_wake(): no wake() in between is lost.
  uint32_t wake_token() const noexcept { return wakes_.load(std::memory_order_acquire); }

  /// As pop(), but also returns empty when wake() was called since `wakes` was taken.
  std::optional<T> pop_or_wake(uint32_t wakes) {
    for (;;) {
      const uint32_t seen = events_.load(std::memory_order_acquire);
      if (auto value = try_pop()) return value;
      if (closed_.load(std::memory_order_acquire)) return try_pop();
      if (wakes_.load(std::memory_order_acquire) != wakes) return std::nullopt;
      events_.wait(seen, std::memory_order_acquire);
    }
  }

  /// No further pushes; waiters return. Values already inside can still be popped.
  void close() {
    closed_.store(true, std::memory_order_release);
    signal();
  }
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  /// Makes a waiting pop_or_wake() or push_or_wake() return empty, so that its thread can look at something
  /// else.
  void wake() {
    wakes_.fetch_add(1, std::memory_order_release);
    signal();
  }

  /// Values inside; approximate while other threads push or pop.
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
