#include "core/graph/arena.hpp"

#include <algorithm>
#include <numeric>

#include "core/device/memory.hpp"

namespace lensd {

size_t pack_arena(std::vector<ArenaBuffer>& buffers, size_t alignment) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });

  std::vector<const ArenaBuffer*> placed;  // sorted by offset
  size_t total = 0;
  for (const size_t index : order) {
    ArenaBuffer& buffer = buffers[index];
    buffer.bytes = align_up(buffer.bytes, alignment);
    size_t offset = 0;
    for (const ArenaBuffer* other : placed) {
      if (other->last < buffer.first || other->first > buffer.last) continue;
      if (offset + buffer.bytes <= other->offset) break;
      offset = std::max(offset, other->offset + other->bytes);
    }
    buffer.offset = offset;
    total = std::max(total, offset + buffer.bytes);
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), &buffer,
                         [](const ArenaBuffer* a, const ArenaBuffer* b) { return a->offset < b->offset; }),
        &buffer);
  }
  return total;
}

}  // namespace lensd
