// Measures the time of each kernel and of a copy of the same number of bytes.
//
// The columns of a row:
// - the median time per frame, cold (rotates over buffers of more than twice the cache size) and warm (always
//   uses the same buffer);
// - the cold rate in GB/s, computed from PassSpec::bytes;
// - the cold and the warm rate in percent of the copy's.
//
// The GPU's output is compared with the CPU's.
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

/// Parses "720p", "1080p", "4k", "8k", or a width and height such as "640x480". Throws Error(usage) if `text`
/// is not a size or a side exceeds 16384.
Size parse_size(const std::string& text);

struct Options {
  std::vector<std::string> filters;  ///< filters, "colour" (source conversion) or "scopes"; empty: all
  bool cpu = true, cuda = true;      ///< backends to measure; CUDA only if available
  std::vector<int> threads;          ///< CPU thread counts; empty: 1 and the number of cores
  std::vector<Size> sizes;           ///< empty: 1080p, on the GPU also 4K and 8K
  int device = 0;
  bool json = false;  ///< print one JSON object per line instead of tables
};

/// Measures and prints row by row. Throws Error(invalid_config) if a filter is unknown. Throws
/// Error(runtime_failure) at the end if an output differs from the CPU's.
void run(const Options& options);

}  // namespace lensd::bench
