// Packs buffers with known lifetimes into one arena: buffers that are never alive at the same step share
// bytes. Greedy by size, each at the lowest offset free during its life (Y. Pisarchyk and J. Lee, "Efficient
// Memory Management for Deep Neural Net Inference", 2020, "greedy by size").
#pragma once

#include <cstddef>
#include <vector>

namespace lensd {

struct ArenaBuffer {
  size_t bytes = 0;
  int first = 0, last = 0;  ///< steps during which the buffer is alive, inclusive
  size_t offset = 0;        ///< result
};

/// Sets the offsets, multiples of `alignment`; returns the arena's size.
size_t pack_arena(std::vector<ArenaBuffer>& buffers, size_t alignment);

}  // namespace lensd
