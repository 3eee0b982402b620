// resize on the CPU for 16-bit images.
#include <algorithm>
#include <cstring>

#include "kernels/common/samples.hpp"
#include "kernels/common/vectorised.hpp"
#include "kernels/resize/deep_resize_simd.hpp"
#include "kernels/resize/resize.hpp"

namespace lensd {
namespace {

/// Computes the horizontal sums of a row. `out` is interleaved: out[x · kChannels + c].
template <int kChannels>
void sum_across(const uint16_t* in, const DeepResizeTaps* taps, int count, int n, int width, float* out) {
  for (int x = 0; x < width; ++x) {
    const int start = taps[x].start;
    if (start >= 0 && start + count <= n) {  // the order of the sums is that of deep_resize_sum()
      const uint16_t* from = in + start * kChannels;
      float sums[kChannels];
      for (int c = 0; c < kChannels; ++c) sums[c] = taps[x].weight[0] * static_cast<float>(from[c]);
      for (int k = 1; k < count; ++k)
        for (int c = 0; c < kChannels; ++c)
          sums[c] = sums[c] + taps[x].weight[k] * static_cast<float>(from[k * kChannels + c]);
      std::memcpy(out + x * kChannels, sums, sizeof(sums));
      continue;
    }
    for (int c = 0; c < kChannels; ++c)
      out[x * kChannels + c] = deep_resize_sum(taps[x], count, [=](int k) {
        return static_cast<float>(in[std::clamp(start + k, 0, n - 1) * kChannels + c]);
      });
  }
}

void sum_down(const float* const* rows, const DeepResizeTaps& taps, int count, int n, uint16_t* out) {
  vectorised([=, &taps] {
    for (int i = 0; i < n; ++i)
      out[i] = to_deep_sample(deep_resize_sum(taps, count, [rows, i](int k) { return rows[k][i]; }));
  });
}

void interpolate_rows(const PassArgs& args, const ResizeGeometry& g, const DeepResizeTaps* taps, Band band) {
  const ConstImageRef in = args.in[0];
  const int count = g.taps(), n = static_cast<int>(args.out.format.row_samples());
  auto* const ring = reinterpret_cast<float*>(args.worker);
  int held[6] = {-1, -1, -1, -1, -1, -1};  // source row in each slot of the ring
  const auto across = in.channels() == 1 ? sum_across<1> : sum_across<4>;
  for (int y = band.begin; y < band.end; ++y) {
    const DeepResizeTaps& down = taps[g.x.m + y];
    const float* rows[6];
    for (int k = 0; k < count; ++k) {
      const int source = std::clamp(down.start + k, 0, g.y.n - 1), slot = source % count;
      float* const row = ring + static_cast<size_t>(slot) * static_cast<size_t>(n);
      if (held[slot] != source) across(in.samples<uint16_t>(source), taps, count, g.x.n, g.x.m, row);
      held[slot] = source, rows[k] = row;
    }
    sum_down(rows, down, count, n, args.out.samples<uint16_t>(y));
  }
}

void pick_rows(const PassArgs& args, const ResizeGeometry& g, const DeepResizeTaps* taps, Band band) {
  const size_t bytes = static_cast<size_t>(args.out.pixel_bytes());
  for (int y = band.begin; y < band.end; ++y) {
    const uint8_t* const from = args.in[0].row(taps[g.x.m + y].start);
    uint8_t* const to = args.out.row(y);
    for (int x = 0; x < g.x.m; ++x)
      std::memcpy(to + static_cast<size_t>(x) * bytes, from + static_cast<size_t>(taps[x].start) * bytes,
                  bytes);
  }
}

/// Computes exact means. The worker memory holds the vertical sum of each source column.
void average_rows(const PassArgs& args, const ResizeGeometry& g, Band band) {
  const ConstImageRef in = args.in[0];
  const AreaAxis across = AreaAxis::make(g.x), down = AreaAxis::make(g.y);
  const uint64_t total = static_cast<uint64_t>(across.n) * static_cast<uint64_t>(down.n);
  const int n = static_cast<int>(in.format.row_samples()), ch = in.channels();
  auto* const sums = reinterpret_cast<uint32_t*>(args.worker);
  for (int y = band.begin; y < band.end; ++y) {
    std::fill_n(sums, n, 0u);
    for (int s = down.first(y); s <= down.last(y); ++s)
      vectorised([=, row = in.samples<uint16_t>(s), weight = static_cast<uint32_t>(down.weight(y, s))] {
        for (int i = 0; i < n; ++i) sums[i] += weight * row[i];
      });
    uint16_t* const out = args.out.samples<uint16_t>(y);
    AreaCursor at(across);
    for (int x = 0; x < g.x.m; ++x) {
      at.next();
      for (int c = 0; c < ch; ++c) {
        const uint32_t* const column = sums + c;
        uint64_t inner = 0;
        for (int s = at.first + 1; s < at.last; ++s) inner += column[s * ch];
        const uint64_t sum = uint64_t{column[at.first * ch]} * at.first_weight +
                             uint64_t{column[at.last * ch]} * at.last_weight +
                             inner * static_cast<uint64_t>(across.m);
        out[x * ch + c] = deep_area_mean(sum, total);
      }
    }
  }
}

/// Computes means of 2×2 pixels. The result is that of interpolate_rows() and average_rows(): weights are
/// powers of two, so sums in single precision are exact.
void halve_rows(const PassArgs& args, Band band) {
  const ConstImageRef in = args.in[0];
  for (int y = band.begin; y < band.end; ++y)
    deep_half_row(in.samples<uint16_t>(2 * y), in.samples<uint16_t>(2 * y + 1), in.channels(),
                  args.out.format.row_samples(), args.out.samples<uint16_t>(y));
}

}  // namespace

size_t Resize::deep_worker_bytes(const ImageFormat& in, const ImageFormat& out) const {
  return std::max(in.row_samples() * sizeof(uint32_t),
                  static_cast<size_t>(geometry_.taps()) * out.row_samples() * sizeof(float));
}

void Resize::fill_deep(const PassArgs& args, Band band) const {
  const ResizeGeometry& g = geometry_;
  for (int i = band.begin; i < band.end; ++i)
    deep_taps(args)[i] =
        i < g.x.m ? deep_resize_taps(g.x, g.method, i) : deep_resize_taps(g.y, g.method, i - g.x.m);
}

void Resize::resize_deep(const PassArgs& args, Band band) const {
  if (geometry_.path == ResizePath::half) return halve_rows(args, band);
  if (geometry_.method == ResizeMethod::area) return average_rows(args, geometry_, band);
  const auto rows = geometry_.method == ResizeMethod::nearest ? pick_rows : interpolate_rows;
  rows(args, geometry_, deep_taps(args), band);
}

}  // namespace lensd
