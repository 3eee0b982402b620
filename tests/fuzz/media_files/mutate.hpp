// Makes damaged copies of media files. A copy depends only on the files, the seed and its number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lensd::fuzz {

struct Clip {
  std::string name;
  std::vector<uint8_t> bytes;
};

/// Returns the first `most_bytes` bytes of each file in a folder, sorted by name. Skips empty files.
std::vector<Clip> load_clips(const std::string& folder, size_t most_bytes);

/// Returns damaged copy `number`, with the name of the clip that was copied.
Clip mutated(const std::vector<Clip>& clips, uint64_t seed, uint64_t number);

}  // namespace lensd::fuzz
