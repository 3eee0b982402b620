// Makes damaged copies of media files. A copy depends on the files, the seed and its number only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lensd::fuzz {

struct Clip {
  std::string name;
  std::vector<uint8_t> bytes;
};

/// Returns the files of a folder, sorted by name, each shortened to `most_bytes`.
std::vector<Clip> load_clips(const std::string& folder, size_t most_bytes);

/// Returns copy `number`. Its name is that of the clip.
Clip mutated(const std::vector<Clip>& clips, uint64_t seed, uint64_t number);

}  // namespace lensd::fuzz
