#include "kernels/box/deep_box.hpp"

#include <cstring>

#include "kernels/common/border_simd.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {
namespace {

/// Updates column sums: sums[i] += add[i] − sub[i]. A null row means zeros.
void slide(uint32_t* __restrict sums, const uint16_t* add, const uint16_t* sub, int n) {
  vectorised([=] {
    if (add)
      for (int i = 0; i < n; ++i) sums[i] += add[i];
    if (sub)
      for (int i = 0; i < n; ++i) sums[i] -= sub[i];
  });
}

/// Computes running sums of 2·radius + 1 pixels of kStep samples each.
template <int kStep>
void sum_across(const uint32_t* columns, uint32_t* sums, int width, int radius) {
  uint32_t s[kStep] = {};
  for (int i = 0; i < 2 * radius; ++i)
    for (int c = 0; c < kStep; ++c) s[c] += columns[i * kStep + c];
  const uint32_t* const head = columns + 2 * radius * kStep;
  for (int x = 0; x < width; ++x)
    for (int c = 0; c < kStep; ++c) {
      s[c] += head[x * kStep + c];
      sums[x * kStep + c] = s[c];
      s[c] -= columns[x * kStep + c];
    }
}

void divide(const uint32_t* sums, const BoxBlock& block, const uint16_t* in, uint16_t* out, int n,
            bool rgba) {
  vectorised([=, &block] {
    const BoxBlock b = block;
    for (int i = 0; i < n; ++i) {
      const uint16_t mean = deep_box_mean(sums[i], b);
      out[i] = rgba && i % 4 == 3 ? in[i] : mean;
    }
  });
}

size_t column_values(const ImageFormat& format) {
  return format.row_samples() + static_cast<size_t>(2 * kBoxMaxRadius * channels(format.format));
}

}  // namespace

size_t deep_box_bytes(const ImageFormat& format) {
  return (column_values(format) + format.row_samples()) * sizeof(uint32_t) + 2 * kBoxMaxRadius * sizeof(int);
}

void Box::average_deep(const PassArgs& args, Band band) const {
  const BoxBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  const int r = block.radius, width = in.width(), ch = in.channels(), n = width * ch;
  auto* const columns = reinterpret_cast<uint32_t*>(args.worker);
  uint32_t* const centre = columns + kBoxMaxRadius * ch;
  uint32_t* const sums = columns + column_values(in.format);
  auto* const rim = reinterpret_cast<int*>(sums + n);
  for (int i = 0; i < 2 * r; ++i) rim[i] = border_index(i < r ? i - r : width + i - r, width, block.border);
  const auto row = [&](int y) { return reinterpret_cast<const uint16_t*>(border_row(in, y, block.border)); };

  std::memset(centre, 0, static_cast<size_t>(n) * sizeof(uint32_t));
  for (int y = band.begin - r; y < band.begin + r; ++y) slide(centre, row(y), nullptr, n);
  for (int y = band.begin; y < band.end; ++y) {
    slide(centre, row(y + r), y > band.begin ? row(y - r - 1) : nullptr, n);
    for (int i = 0; i < 2 * r; ++i) {
      uint32_t* const to = centre + (i < r ? i - r : width + i - r) * ch;
      for (int c = 0; c < ch; ++c) to[c] = rim[i] < 0 ? 0 : centre[rim[i] * ch + c];
    }
    (ch == 1 ? sum_across<1> : sum_across<4>)(centre - r * ch, sums, width, r);
    divide(sums, block, in.samples<uint16_t>(y), args.out.samples<uint16_t>(y), n, ch == 4);
  }
}

}  // namespace lensd
