// core/base/seq_lock.hpp: readers never get parts of two values.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "core/base/seq_lock.hpp"

namespace lensd {
namespace {

struct Value {
  std::array<uint32_t, 14> numbers{};
  bool last = false;  // uses only a part of the last word
};
static_assert(sizeof(Value) % sizeof(uint64_t) != 0);

TEST(SeqLock, HasADefaultValueBeforeTheFirstStore) {
  struct Defaults {
    int64_t a = -1;
    bool b = true;
  };
  SeqLock<Defaults> lock;
  EXPECT_EQ(lock.load().a, -1);
  EXPECT_TRUE(lock.load().b);
  lock.store({7, false});
  EXPECT_EQ(lock.load().a, 7);
  EXPECT_FALSE(lock.load().b);
}

TEST(SeqLock, ReadersGetWholeValuesInOrder) {
  constexpr uint64_t kStores = 200'000;
  SeqLock<Value> lock;
  std::atomic<int> started{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      uint64_t previous = 0, torn = 0, backward = 0;
      ++started;
      for (;;) {
        const Value value = lock.load();
        const uint64_t first = value.numbers.front();
        for (const uint32_t number : value.numbers) torn += number != first;
        torn += value.last != (first == kStores);
        backward += first < previous;
        previous = first;
        if (value.last) break;
      }
      EXPECT_EQ(torn, 0u);
      EXPECT_EQ(backward, 0u);
    });
  while (started < 3) std::this_thread::yield();
  Value value;
  for (uint64_t n = 1; n <= kStores; ++n) {
    value.numbers.fill(static_cast<uint32_t>(n));
    value.last = n == kStores;
    lock.store(value);
  }
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace lensd
