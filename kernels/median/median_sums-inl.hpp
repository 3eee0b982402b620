// Sums of 9 to 15 neighbours along a row of 64 bytes, in registers. Unaligned loads of 64 bytes would touch
// two cache lines and cost two loads. This file has no include guard, because it is included inside
// lensd::HWY_NAMESPACE once for each SIMD target. D8 and V8 are the tag and the type of vectors of bytes.

inline constexpr int kRowVectors = 64 / static_cast<int>(hn::MaxLanes(D8()));

/// A row of 64 bytes in registers.
struct Row64 {
  V8 v[kRowVectors];
};

HWY_INLINE Row64 add(const Row64& a, const Row64& b) {
  Row64 sum;
  for (int i = 0; i < kRowVectors; ++i) sum.v[i] = hn::Add(a.v[i], b.v[i]);
  return sum;
}
HWY_INLINE Row64 subtract(const Row64& a, const Row64& b) {
  Row64 rest;
  for (int i = 0; i < kRowVectors; ++i) rest.v[i] = hn::Sub(a.v[i], b.v[i]);
  return rest;
}

/// Returns the row shifted down by 16 bytes: byte i is byte i + 16 of `row`. The last 16 bytes are arbitrary.
HWY_INLINE Row64 next_blocks(const Row64& row) {
  [[maybe_unused]] const D8 d8;
  Row64 next;
#if HWY_MAX_BYTES == 64 && HWY_TARGET <= HWY_AVX3
  const hn::Repartition<uint32_t, D8> d32;
  HWY_ALIGN static constexpr uint32_t kNext[16] = {4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3};
  const auto words = hn::TableLookupLanes(hn::BitCast(d32, row.v[0]), hn::SetTableIndices(d32, kNext));
  next.v[0] = hn::BitCast(d8, words);
#elif HWY_TARGET == HWY_AVX2
  next.v[0] = hn::ConcatLowerUpper(d8, row.v[1], row.v[0]);
  next.v[1] = hn::ConcatLowerUpper(d8, row.v[0], row.v[1]);
#else
  for (int i = 0; i < kRowVectors; ++i) next.v[i] = row.v[(i + 1) % kRowVectors];
#endif
  return next;
}

/// Returns the row shifted down by kBy bytes. `next`: next_blocks(row).
template <int kBy>
HWY_INLINE Row64 shift_down(const Row64& row, const Row64& next) {
  if constexpr (kBy == 16) return next;
  Row64 shifted;
  for (int i = 0; i < kRowVectors; ++i)
    shifted.v[i] = hn::CombineShiftRightBytes<kBy % 16>(D8(), next.v[i], row.v[i]);
  return shifted;
}

/// Returns sums: byte i holds the sum of bytes i … i + kSide − 1, for i < 65 − kSide. Sums must be ≤ 255.
template <int kSide>
HWY_INLINE Row64 sum_neighbours(const Row64& one) {
  static_assert(kSide == 9 || kSide == 11 || kSide == 13 || kSide == 15);
  const Row64 next = next_blocks(one);
  const Row64 two = add(one, shift_down<1>(one, next));
  const Row64 four = add(two, shift_down<2>(two, next_blocks(two)));
  const Row64 next_four = next_blocks(four);
  const Row64 eight = add(four, shift_down<4>(four, next_four));
  if constexpr (kSide == 9) return add(eight, shift_down<8>(one, next));
  if constexpr (kSide == 11)
    return add(eight, add(shift_down<8>(two, next_blocks(two)), shift_down<10>(one, next)));
  if constexpr (kSide == 13)
    return add(eight, add(shift_down<8>(four, next_four), shift_down<12>(one, next)));
  return subtract(add(eight, shift_down<8>(eight, next_blocks(eight))), shift_down<15>(one, next));
}

/// Raises the lower bounds in `medians` to `threshold` for pixels whose median is at least `threshold`, in
/// the rows whose bit is set in `active`. counts[y] receives the number of such pixels in row y. `half`: half
/// the number of samples in a window; 255 for pixels to the right of the tile, so that they are not counted.
/// `samples`: samples minus 128.
template <int kRadius>
void raise_rows(const Row* samples, uint32_t active, int threshold, const Row64& half, MedianRow* medians,
                uint8_t* counts) {
  constexpr int kSide = 2 * kRadius + 1, kLanes = 64 / kRowVectors;
  const D8 d8;
  const I8 i8;
  const auto below = hn::Set(i8, static_cast<int8_t>(threshold - 129));
  const V8 value = hn::Set(d8, static_cast<uint8_t>(threshold));
  const int first = __builtin_ctz(active), end = 32 - __builtin_clz(active);
  // above[y]: number of samples ≥ threshold by column in rows `first` to y − 1, modulo 256.
  HWY_ALIGN uint8_t above[kMedianTileRows + kSide][64];
  Row64 sum;
  for (int i = 0; i < kRowVectors; ++i) sum.v[i] = hn::Zero(d8);
  for (int row = first;; ++row) {
    for (int i = 0; i < kRowVectors; ++i) {
      hn::Store(sum.v[i], d8, above[row] + i * kLanes);
      const auto sample = hn::BitCast(i8, hn::Load(d8, samples[row] + i * kLanes));
      sum.v[i] = hn::Sub(sum.v[i], hn::BitCast(d8, hn::VecFromMask(i8, hn::Gt(sample, below))));
    }
    if (row + 1 == end + kSide) break;
  }
  for (uint32_t left = active; left; left &= left - 1) {
    const int y = __builtin_ctz(left);
    Row64 column;
    for (int i = 0; i < kRowVectors; ++i)
      column.v[i] = hn::Sub(hn::Load(d8, above[y + kSide] + i * kLanes), hn::Load(d8, above[y] + i * kLanes));
    const Row64 total = sum_neighbours<kSide>(column);
    size_t count = 0;
    for (int i = 0; i < kRowVectors; ++i) {
      const auto majority = hn::Gt(total.v[i], half.v[i]);
      uint8_t* const to = medians[y] + i * kLanes;
      hn::Store(hn::Max(hn::Load(d8, to), hn::And(hn::VecFromMask(d8, majority), value)), d8, to);
      count += hn::CountTrue(d8, majority);
    }
    counts[y] = static_cast<uint8_t>(count);
  }
}
