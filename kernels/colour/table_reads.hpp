// Scalar look-ups of many table entries. Gather instructions are slower on AMD CPUs, and on Intel CPUs with
// the mitigation of Gather Data Sampling.
#pragma once

#include <cstdint>

#include "kernels/colour/colour_simd.hpp"

namespace lensd {

/// The colours of DisplayLight and DeepLight are converted in parts of this many pixels, so that their
/// intermediate results stay in the L1 cache. A multiple of the lanes of every vector.
inline constexpr int kLightPart = 256;
/// Returns a number of pixels, rounded up to whole vectors.
constexpr int whole_vectors(int pixels) {
  return (pixels + kLightPadding - 1) / kLightPadding * kLightPadding;
}

/// Sets out[i] = table[at[i]] for i < n.
void read_entries(const uint32_t* table, const int32_t* at, int n, uint32_t* out);

/// Two adjacent entries of a table with 32-bit entries.
struct EntryPair {
  uint32_t here, next;
};
/// Sets out[i] to the entries at[i] and at[i] + 1. `table`: uint32_t or float.
void read_pairs(const void* table, const int32_t* at, int n, EntryPair* out);

/// Sets out[i] to the opaque pixel code[r[i]], code[g[i]], code[b[i]].
void read_pixels(const uint8_t* code, const int32_t* r, const int32_t* g, const int32_t* b, int n,
                 uint32_t* out);

}  // namespace lensd
