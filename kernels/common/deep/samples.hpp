// Loops over the samples of 16-bit images on the CPU, for filters whose output sample depends on the input
// samples at the same position. samples.cuh is the CUDA counterpart.
#pragma once

#include "core/device/workers.hpp"
#include "kernels/common/samples.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {

/// Writes `op(y)(i, v)` for each colour sample v of the band's rows, where v is sample i of row y; copies
/// alpha. The function object that `op(y)` returns must be inlinable and return 0 to 65535.
template <class Op>
void deep_samples(const ConstImageRef& in, const ImageRef& out, Band band, const Op& op) {
  vectorised([&in, &out, &op, band] {
    const int n = static_cast<int>(in.format.row_samples());
    for (int y = band.begin; y < band.end; ++y) {
      const auto row_op = op(y);
      const uint16_t* __restrict from = in.samples<uint16_t>(y);
      uint16_t* __restrict to = out.samples<uint16_t>(y);
      if (in.channels() == 1) {
        for (int i = 0; i < n; ++i) to[i] = static_cast<uint16_t>(row_op(i, from[i]));
        continue;
      }
      for (int i = 0; i < n; ++i) {
        const auto v = static_cast<uint16_t>(row_op(i, from[i]));
        to[i] = i % 4 == 3 ? from[i] : v;
      }
    }
  });
}

inline constexpr int kDeepLanes = 16;

/// Writes `op(k, v)` for each colour sample v of the band's rows; copies alpha. k is the sample's position in
/// its row modulo kDeepLanes, so k % 4 is its channel in RGBA16. `op` must be inlinable and return 0 to
/// 65535.
template <class Op>
void deep_values(const ConstImageRef& in, const ImageRef& out, Band band, const Op& op) {
  vectorised([&in, &out, &op, band] {
    const int n = static_cast<int>(in.format.row_samples());
    uint16_t kept[kDeepLanes];  // mask of the samples that are copied
    for (int k = 0; k < kDeepLanes; ++k) kept[k] = in.channels() == 4 && k % 4 == 3 ? 65535 : 0;
    for (int y = band.begin; y < band.end; ++y) {
      const uint16_t* from = in.samples<uint16_t>(y);
      uint16_t* to = out.samples<uint16_t>(y);
      const auto value = [&op, &kept](int k, uint16_t v) {
        return static_cast<uint16_t>((op(k, v) & ~kept[k]) | (v & kept[k]));
      };
      int i = 0;
      for (; i + kDeepLanes <= n; i += kDeepLanes) {
        uint16_t values[kDeepLanes];
        for (int k = 0; k < kDeepLanes; ++k) values[k] = value(k, from[i + k]);
        for (int k = 0; k < kDeepLanes; ++k) to[i + k] = values[k];
      }
      for (int k = 0; i + k < n; ++k) to[i + k] = value(k, from[i + k]);
    }
  });
}

}  // namespace lensd
