#include "kernels/common/samples.hpp"
#include "kernels/resize/resize.hpp"

namespace lensd {
namespace {

int nearest_sample(const Image& in, const ResizeGeometry& g, int x, int y, int c) {
  return in.sample(resize_nearest(g.x, x), resize_nearest(g.y, y), c);
}

int area_sample(const Image& in, const ResizeGeometry& g, int x, int y, int c) {
  const AreaAxis across = AreaAxis::make(g.x), down = AreaAxis::make(g.y);
  uint64_t sum = 0;
  for (int sy = down.first(y); sy <= down.last(y); ++sy)
    for (int sx = across.first(x); sx <= across.last(x); ++sx)
      sum += static_cast<uint64_t>(across.weight(x, sx)) * static_cast<uint64_t>(down.weight(y, sy)) *
             static_cast<uint64_t>(in.sample(sx, sy, c));
  const uint64_t weights = static_cast<uint64_t>(across.n) * static_cast<uint64_t>(down.n);
  return static_cast<int>((sum + weights / 2) / weights);
}

int taps_sample(const Image& in, const ResizeGeometry& g, const ResizeTaps& across, const ResizeTaps& down,
                int c) {
  int sum = 0;
  for (int j = 0; j < g.taps(); ++j) {
    int row = 0;
    for (int k = 0; k < g.taps(); ++k)
      row += across.weight[k] *
             in.at(std::clamp(across.start + k, 0, g.x.n - 1), std::clamp(down.start + j, 0, g.y.n - 1), c);
    sum += down.weight[j] * resize_horizontal(row);
  }
  return resize_vertical(sum);
}

int deep_sample(const Image& in, const ResizeGeometry& g, int x, int y, int c) {
  const DeepResizeTaps across = deep_resize_taps(g.x, g.method, x), down = deep_resize_taps(g.y, g.method, y);
  return to_deep_sample(deep_resize_sum(down, g.taps(), [&](int j) {
    const int row = std::clamp(down.start + j, 0, g.y.n - 1);
    return deep_resize_sum(across, g.taps(), [&](int k) {
      return static_cast<float>(in.sample(std::clamp(across.start + k, 0, g.x.n - 1), row, c));
    });
  }));
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
        run.out.set_sample(x, y, c,
                           g.method == ResizeMethod::nearest ? nearest_sample(in, g, x, y, c)
                           : g.method == ResizeMethod::area  ? area_sample(in, g, x, y, c)
                           : in.is_deep()                    ? deep_sample(in, g, x, y, c)
                                                             : taps_sample(in, g, across, down, c));
    }
}

}  // namespace lensd
