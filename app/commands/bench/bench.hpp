// What each kernel costs by itself, next to copying the bytes that it must move.
//
// A row: median time of a frame, cold (over buffers of more than twice the cache) and warm (one frame again
// and again), GB/s of the fewest bytes, and the share of the rate at which the same bytes are copied in this
// run. On the GPU the output is compared with the CPU's in the same run.
#pragma once

#include <string>
#include <vector>

#include "core/device/backend.hpp"
#include "core/image/view.hpp"

namespace lensd::bench {

struct Size {
  std::string name;
  Extent extent;
};

/// "720p", "1080p", "4k", "8k" or "640x480". Throws Error(usage).
Size parse_size(const std::string& text);

struct Options {
  std::vector<std::string> filters;  ///< by name, "colour" for the way in; empty: all
  bool cpu = true, cuda = true;      ///< CUDA: where there is a device
  std::vector<int> threads;          ///< of the CPU; empty: one, and one for each core
  std::vector<Size> sizes;           ///< empty: 1080p, on the GPU also 4K and 8K
  int device = 0;
  bool json = false;  ///< one object a line instead of tables
};

/// Measures and prints, row by row. Throws Error(invalid_config) for a filter that is not there, and
/// Error(runtime_failure) at the end when an output differed from the CPU's.
void run(const Options& options);

}  // namespace lensd::bench
