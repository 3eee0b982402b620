// CPU: the parts of a scope that one worker counts. Bands of columns write counters of their own; bands of
// rows count into private tables and add them to the common ones.
#pragma once

#include "core/device/workers.hpp"
#include "core/image/view.hpp"
#include "kernels/scopes/scope_math.hpp"

namespace lensd {

/// Columns of waveform and parade that a band has at least.
inline constexpr int kColumnGrain = 16;
/// Rows of a vectorscope's band: enough pixels that clearing and adding a table of 2^16 counters does not
/// show.
constexpr int chroma_grain(Extent extent) {
  return 1 + (1 << 18) / extent.width;
}

constexpr size_t luma_row_bytes(Extent extent) {
  return static_cast<size_t>(extent.width);
}
constexpr size_t chroma_table_bytes() {
  return 65536 * sizeof(uint32_t);
}
constexpr size_t chroma_row_bytes(Extent extent) {
  return static_cast<size_t>(extent.width) * sizeof(uint16_t);
}

/// `worker`: luma_row_bytes().
void count_histogram(const ConstImageRef& in, Band rows, const ScopeBlock& block, uint8_t* worker,
                     uint32_t* counts);
/// `worker`: luma_row_bytes().
void count_waveform(const ConstImageRef& in, Band columns, const ScopeBlock& block, uint8_t* worker,
                    uint32_t* counts);
void count_parade(const ConstImageRef& in, Band columns, uint32_t* counts);
/// `worker`: chroma_table_bytes() and chroma_row_bytes().
void count_chroma(const ConstImageRef& in, Band rows, const ScopeBlock& block, uint8_t* worker,
                  uint32_t* counts);

}  // namespace lensd
