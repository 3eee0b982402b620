#include "kernels/colour/table_reads.hpp"

#include <cstring>

namespace lensd {

void read_entries(const uint32_t* table, const int32_t* at, int n, uint32_t* out) {
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) out[i] = table[at[i]];
}

void read_pairs(const void* table, const int32_t* at, int n, EntryPair* out) {
  const auto* const entries = static_cast<const uint8_t*>(table);
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i)
    std::memcpy(&out[i], entries + static_cast<ptrdiff_t>(at[i]) * 4, sizeof out[i]);
}

void read_pixels(const uint8_t* code, const int32_t* r, const int32_t* g, const int32_t* b, int n,
                 uint32_t* out) {
#pragma GCC unroll 4
  for (int i = 0; i < n; ++i)
    out[i] = 0xff000000u | static_cast<uint32_t>(code[r[i]]) | static_cast<uint32_t>(code[g[i]]) << 8 |
             static_cast<uint32_t>(code[b[i]]) << 16;
}

}  // namespace lensd
