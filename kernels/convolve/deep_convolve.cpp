// The CPU side of convolve for images with 16 bits.
#include <algorithm>
#include <cstring>

#include "kernels/common/border/border_simd.hpp"
#include "kernels/common/vectorised.hpp"
#include "kernels/convolve/convolve.hpp"

namespace lensd {
namespace {

constexpr int kDeepChunk = 1024;  ///< samples of a column chunk
constexpr int kDeepRow = kDeepChunk + 4 * (kConvolveMaxSide - 1) + 64;

/// Private memory of a worker: rows with their border.
struct DeepConvolveWorker {
  uint16_t padded[kDeepRow];
  float ring[kConvolveMaxSide][kDeepRow];
};

/// Writes `n` values. rows[i] points to the samples under kernel row i; its start is under the kernel's first
/// column for output 0.
void convolve_rows(const ConvolveBlock& block, const float* const* rows, int step, int n, const uint16_t* in,
                   uint16_t* out) {
  vectorised([=, &block] {
    constexpr int kParts = 4, kLanes = kParts * kFloats;
    uint16_t kept[kLanes];  // mask of the samples that are copied from the input
    for (int k = 0; k < kLanes; ++k) kept[k] = step == 4 && k % 4 == 3 ? 65535 : 0;
    int i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      Floats parts[kParts], samples[kParts];
      for (Floats& part : parts) part = block.deep_bias - Floats{};
      for (int t = 0; t < block.deep_count; ++t) {
        std::memcpy(samples, rows[block.deep[t].row] + block.deep[t].col * step + i, sizeof(samples));
        const float weight = block.deep[t].weight;
        for (int k = 0; k < kParts; ++k) parts[k] = parts[k] + weight * samples[k];
      }
      for (Floats& part : parts) part = part * block.deep_unit;
      float sum[kLanes];
      std::memcpy(sum, parts, sizeof(sum));
      uint16_t values[kLanes];
      for (int k = 0; k < kLanes; ++k)
        values[k] = static_cast<uint16_t>((deep_convolve_value(sum[k]) & ~kept[k]) | (in[i + k] & kept[k]));
      for (int k = 0; k < kLanes; ++k) out[i + k] = values[k];
    }
    for (; i < n; ++i) {
      const float sum =
          deep_convolve_sum(block, [rows, step, i](int col, int row) { return rows[row][col * step + i]; });
      out[i] = step == 4 && i % 4 == 3 ? in[i] : deep_convolve_value(sum);
    }
  });
}

}  // namespace

size_t Convolve::deep_worker_bytes() {
  return sizeof(DeepConvolveWorker);
}

void Convolve::apply_deep(const PassArgs& args, Band band) const {
  const ConvolveBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  auto& worker = *reinterpret_cast<DeepConvolveWorker*>(args.worker);
  const int ch = in.channels(), rx = block.cols / 2, ry = block.rows / 2, pixels = kDeepChunk / ch;
  const auto slot = [&](int y) { return worker.ring[(y - band.begin + ry) % block.rows]; };
  for (int x0 = 0; x0 < in.width(); x0 += pixels) {
    const int x1 = std::min(x0 + pixels, in.width()), n = (x1 - x0) * ch;
    for (int y = band.begin - ry; y < band.end + ry; ++y) {
      copy_span(border_row(in, y, block.border), in.width(), in.pixel_bytes(), x0 - rx, x1 + rx, block.border,
                reinterpret_cast<uint8_t*>(worker.padded));
      float* const to = slot(y);
      for (int i = 0; i < n + 2 * rx * ch; ++i) to[i] = worker.padded[i];
      const int target = y - ry;
      if (target < band.begin) continue;
      const float* rows[kConvolveMaxSide];
      for (int i = 0; i < block.rows; ++i) rows[i] = slot(target - ry + i);
      convolve_rows(block, rows, ch, n, in.samples<uint16_t>(target) + x0 * ch,
                    args.out.samples<uint16_t>(target) + x0 * ch);
    }
  }
}

}  // namespace lensd
