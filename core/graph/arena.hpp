// Packs buffers with known lifetimes into one arena; buffers whose lifetimes do not overlap may share bytes.
// Places the largest first, each at the lowest free offset. Source: Y. Pisarchyk and J. Lee, "Efficient
// Memory Management for Deep Neural Net Inference", 2020, "greedy by size".
#pragma once

#include <cstddef>
#include <vector>

namespace lensd {

struct ArenaBuffer {
  size_t bytes = 0;
  int first = 0, last = 0;  ///< lifetime in steps, inclusive
  size_t offset = 0;        ///< set by pack_arena()
};

/// Rounds the buffers' sizes up to multiples of `alignment` and sets their offsets to such multiples. Returns
/// the arena's size in bytes.
size_t pack_arena(std::vector<ArenaBuffer>& buffers, size_t alignment);

}  // namespace lensd
