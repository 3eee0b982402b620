#include "tests/fuzz/media_files/mutate.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

namespace lensd::fuzz {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;
using Random = std::mt19937_64;

size_t below(Random& random, size_t limit) {
  return limit == 0 ? 0 : random() % limit;
}

Bytes::iterator at(Bytes& bytes, size_t offset) {
  return bytes.begin() + static_cast<std::ptrdiff_t>(offset);
}

/// Flips up to n random bits, where n is 4 plus one per 100, 1000 or 10,000 bytes.
void flip_bits(Bytes& bytes, Random& random) {
  static constexpr size_t kRatios[] = {10'000, 1000, 100};
  const size_t most = bytes.size() / kRatios[below(random, std::size(kRatios))] + 4;
  for (size_t i = 1 + below(random, most); i > 0; --i)
    bytes[below(random, bytes.size())] ^= static_cast<uint8_t>(1u << below(random, 8));
}

/// Changes up to four of the first bytes, which hold sizes, counts and formats.
void damage_head(Bytes& bytes, Random& random) {
  static constexpr size_t kHeads[] = {32, 128, 1024};
  const size_t head = std::min(bytes.size(), kHeads[below(random, std::size(kHeads))]);
  for (size_t i = 1 + below(random, 4); i > 0; --i)
    bytes[below(random, head)] = static_cast<uint8_t>(random());
}

/// Overwrites 1, 2, 4 or 8 bytes with a number at the limit of an integer type or of kMaxSide, big- or
/// little-endian.
void put_number(Bytes& bytes, Random& random) {
  static constexpr uint64_t kNumbers[] = {0,
                                          1,
                                          0x7F,
                                          0x80,
                                          0xFF,
                                          0x7FFF,
                                          0x8000,
                                          0xFFFF,
                                          0x7FFFFFFF,
                                          0x80000000,
                                          0xFFFFFFFF,
                                          0x7FFFFFFFFFFFFFFF,
                                          0xFFFFFFFFFFFFFFFF,
                                          16384,
                                          16385};
  const uint64_t number = kNumbers[below(random, std::size(kNumbers))];
  const size_t size = size_t{1} << below(random, 4);
  const bool near_start = random() % 2 == 0, big = random() % 2 == 0;
  if (bytes.size() <= size) return;
  const size_t offset = below(random, std::min(bytes.size() - size, near_start ? size_t{512} : bytes.size()));
  for (size_t i = 0; i < size; ++i)
    bytes[offset + i] = static_cast<uint8_t>(number >> 8 * (big ? size - 1 - i : i));
}

void cut_end(Bytes& bytes, Random& random) {
  bytes.resize(1 + below(random, bytes.size()));
}

void remove_part(Bytes& bytes, Random& random) {
  const size_t begin = below(random, bytes.size());
  const size_t size = std::min(bytes.size() - begin, 1 + below(random, random() % 2 ? 16 : 4096));
  if (size < bytes.size()) bytes.erase(at(bytes, begin), at(bytes, begin + size));
}

void repeat_part(Bytes& bytes, Random& random) {
  const size_t begin = below(random, bytes.size());
  const Bytes part(at(bytes, begin),
                   at(bytes, begin + std::min(bytes.size() - begin, 1 + below(random, 4096))));
  bytes.insert(at(bytes, below(random, bytes.size())), part.begin(), part.end());
}

void fill_part(Bytes& bytes, Random& random) {
  const size_t begin = below(random, bytes.size());
  const size_t end = std::min(bytes.size(), begin + 1 + below(random, 1024));
  const auto value = static_cast<uint8_t>(random() % 2 ? 0 : random() % 2 ? 0xFF : random());
  std::fill(at(bytes, begin), at(bytes, end), value);
}

/// Replaces the bytes after a random offset with the end of another clip.
void splice(Bytes& bytes, const Bytes& other, Random& random) {
  bytes.resize(1 + below(random, bytes.size()));
  bytes.insert(bytes.end(), other.begin() + static_cast<std::ptrdiff_t>(below(random, other.size())),
               other.end());
}

}  // namespace

std::vector<Clip> load_clips(const std::string& folder, size_t most_bytes) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_regular_file() && entry.file_size() > 0) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Clip> clips;
  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    Bytes bytes{std::istreambuf_iterator<char>(file), {}};
    bytes.resize(std::min(bytes.size(), most_bytes));
    clips.push_back({path.filename().string(), std::move(bytes)});
  }
  return clips;
}

Clip mutated(const std::vector<Clip>& clips, uint64_t seed, uint64_t number) {
  std::seed_seq seeds{seed >> 32, seed & 0xFFFFFFFF, number >> 32, number & 0xFFFFFFFF};
  Random random(seeds);
  Clip clip = clips[number % clips.size()];
  using Mutation = void (*)(Bytes&, Random&);
  static constexpr std::array<Mutation, 8> kMutations{flip_bits,   flip_bits,   damage_head, put_number,
                                                      remove_part, repeat_part, fill_part,   cut_end};
  for (size_t i = 1 + below(random, 3); i > 0; --i) {
    const size_t which = below(random, kMutations.size() + 1);
    if (which < kMutations.size())
      kMutations[which](clip.bytes, random);
    else
      splice(clip.bytes, clips[below(random, clips.size())].bytes, random);
  }
  return clip;
}

}  // namespace lensd::fuzz
