// Merge networks as compile-time lists of exchanges, for SIMD and CUDA.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace lensd {

/// Batcher's odd-even merge of two sorted lists (Knuth, The Art of Computer Programming 3, 5.3.4) in `N + M`
/// registers. Holds the exchanges and the register of each rank.
template <size_t N, size_t M>
struct MergeNetwork {
  static constexpr size_t kMaxExchanges = (N + M) * 6;  ///< capacity; the build fails if it is too small
  std::array<std::pair<uint8_t, uint8_t>, kMaxExchanges> exchanges{};
  std::array<uint8_t, N + M> order{};
  size_t count = 0;

  constexpr MergeNetwork() {
    std::array<uint8_t, N + M> wires{};
    for (size_t i = 0; i < N + M; ++i) wires[i] = static_cast<uint8_t>(i);
    merge(wires.data(), N, wires.data() + N, M, order.data());
  }

 private:
  constexpr void merge(const uint8_t* a, size_t n, const uint8_t* b, size_t m, uint8_t* out) {
    if (n == 0 || m == 0) {
      for (size_t i = 0; i < n + m; ++i) out[i] = n == 0 ? b[i] : a[i];
      return;
    }
    if (n == 1 && m == 1) {
      exchanges[count++] = {a[0], b[0]};
      out[0] = a[0], out[1] = b[0];
      return;
    }
    std::array<uint8_t, N + M> even_a{}, even_b{}, odd_a{}, odd_b{}, even{}, odd{};
    for (size_t i = 0; i < n; ++i) (i % 2 ? odd_a : even_a)[i / 2] = a[i];
    for (size_t i = 0; i < m; ++i) (i % 2 ? odd_b : even_b)[i / 2] = b[i];
    merge(even_a.data(), (n + 1) / 2, even_b.data(), (m + 1) / 2, even.data());
    merge(odd_a.data(), n / 2, odd_b.data(), m / 2, odd.data());
    const size_t evens = (n + 1) / 2 + (m + 1) / 2, odds = n / 2 + m / 2;
    size_t at = 0;
    out[at++] = even[0];
    for (size_t i = 0; i < odds || i + 1 < evens; ++i) {
      if (i < odds && i + 1 < evens) exchanges[count++] = {odd[i], even[i + 1]};
      if (i < odds) out[at++] = odd[i];
      if (i + 1 < evens) out[at++] = even[i + 1];
    }
  }
};

template <size_t N, size_t M>
inline constexpr MergeNetwork<N, M> kMerge{};

}  // namespace lensd
