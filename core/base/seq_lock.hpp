// Passes the newest value of a small struct from one writer to any number of readers, without locks.
//
//   writer ── store() ──▶ sequence number and words ──▶ load() ── readers
//
// The value is stored in atomic words, so a load during a store is not a data race. load() detects the store
// by the sequence number and retries. Source: H.-J. Boehm, "Can seqlocks get along with programming language
// memory models?", 2012.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace lensd {

template <class T>
class SeqLock {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Call from one thread at a time. Does not block.
  void store(const T& value) noexcept {
    std::array<uint64_t, kWords> words{};
    std::memcpy(words.data(), &value, sizeof(T));
    const uint64_t sequence = sequence_.load(std::memory_order_relaxed);
    sequence_.store(sequence + 1, std::memory_order_relaxed);
    // Release: a reader that loads one of these words also sees the odd sequence number.
    for (size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_release);
    sequence_.store(sequence + 2, std::memory_order_release);
  }

  /// Returns the newest value, or a default T before the first store. Retries while a store is in progress.
  /// Thread-safe.
  T load() const noexcept {
    T value;
    std::array<uint64_t, kWords> words;
    for (;;) {
      const uint64_t sequence = sequence_.load(std::memory_order_acquire);
      if (sequence == 0) return value;
      for (size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if (sequence % 2 == 0 && sequence_.load(std::memory_order_relaxed) == sequence) break;
    }
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof(T));
    return value;
  }

 private:
  static constexpr size_t kWords = (sizeof(T) + 7) / 8;
  std::atomic<uint64_t> sequence_{0};
  std::array<std::atomic<uint64_t>, kWords> words_{};
};

}  // namespace lensd
