#include "kernels/resize/resize.hpp"

namespace lensd {
namespace {

uint8_t nearest_sample(const Image& in, const ResizeGeometry& g, int x, int y, int c) {
  return in.at(resize_nearest(g.x, x), resize_nearest(g.y, y), c);
}

uint8_t area_sample(const Image& in, const ResizeGeometry& g, int x, int y, int c) {
  const AreaAxis across = AreaAxis::make(g.x), down = AreaAxis::make(g.y);
  uint64_t sum = 0;
  for (int sy = down.first(y); sy <= down.last(y); ++sy)
    for (int sx = across.first(x); sx <= across.last(x); ++sx)
      sum += static_cast<uint64_t>(across.weight(x, sx)) * static_cast<uint64_t>(down.weight(y, sy)) *
             in.at(sx, sy, c);
  return area_mean(sum, static_cast<uint64_t>(across.n) * static_cast<uint64_t>(down.n));
}

uint8_t taps_sample(const Image& in, const ResizeGeometry& g, const ResizeTaps& across,
                    const ResizeTaps& down, int c) {
  int sum = 0;
  for (int j = 0; j < g.taps(); ++j) {
    int row = 0;
    for (int k = 0; k < g.taps(); ++k)
      row += across.weight[k] *
             in.at(std::clamp(across.start + k, 0, g.x.n - 1), std::clamp(down.start + j, 0, g.y.n - 1), c);
    sum += down.weight[j] * resize_horizontal(row);
  }
  return static_cast<uint8_t>(resize_vertical(sum));
}

}  // namespace

void Resize::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const ResizeGeometry g = ResizeGeometry::make(params_, in.format.extent);
  run.out = Image({in.format.format, g.extent()});
  for (int y = 0; y < g.y.m; ++y)
    for (int x = 0; x < g.x.m; ++x) {
      const ResizeTaps across = resize_taps(g.x, g.method, x), down = resize_taps(g.y, g.method, y);
      for (int c = 0; c < in.channels(); ++c)
        run.out.at(x, y, c) = g.method == ResizeMethod::nearest ? nearest_sample(in, g, x, y, c)
                              : g.method == ResizeMethod::area  ? area_sample(in, g, x, y, c)
                                                                : taps_sample(in, g, across, down, c);
    }
}

}  // namespace lensd
