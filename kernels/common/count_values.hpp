// Counts 16-bit samples by value on the CPU, within a range of values for each channel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lensd {

inline constexpr int kValueLanes = 8;

/// Tables and ranges of values for count_in_ranges(). Sample i of a row uses lane i % kValueLanes.
struct ValueTables {
  uint32_t* table[kValueLanes];
  alignas(16) uint16_t first[kValueLanes],
      last[kValueLanes];         ///< range of values; `last` is its distance from `first`
  uint16_t counts[kValueLanes];  ///< 0: the sample is not counted

  /// Returns the distance of sample value `v` from the first value.
  uint16_t position(size_t lane, uint16_t v) const { return static_cast<uint16_t>(v - first[lane]); }
};

/// Counts the samples of a row that are in the ranges. The first counter of a table is for the first value of
/// the range.
void count_in_ranges(const uint16_t* row, size_t samples, const ValueTables& tables);

// Adjacent samples of a channel are counted in different tables, since successive additions to one counter
// are serialised. Tables are numbered [copy][channel].
constexpr int table_of(bool gray, int lane, int copies) {
  return gray ? lane % copies : lane / 4 % copies * 3 + lane % 4;
}
constexpr int channel_of(bool gray, int table) {
  return gray ? 0 : table % 3;
}
constexpr bool is_alpha(bool gray, int lane) {
  return !gray && lane % 4 == 3;
}

/// Returns the number of copies of a channel's table in ValueTables.
constexpr int value_copies(bool gray) {
  return gray ? 4 : 2;
}
/// Returns the number of tables of all channels in ValueTables.
constexpr int value_tables(bool gray) {
  return value_copies(gray) * (gray ? 1 : 3);
}

/// Makes `tables` count the samples of channel `c` from `first` to `first` + `last` in table(t), where t is a
/// result of table_of().
template <class Table>
void count_channel(ValueTables& tables, bool gray, int c, uint16_t first, uint16_t last, const Table& table) {
  for (int k = 0; k < kValueLanes; ++k) {
    const int t = table_of(gray, k, value_copies(gray));
    if (is_alpha(gray, k) || channel_of(gray, t) != c) continue;
    tables.table[k] = table(t), tables.counts[k] = 1;
    tables.first[k] = first, tables.last[k] = last;
  }
}

}  // namespace lensd
