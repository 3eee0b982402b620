#include "kernels/resize/resize.hpp"

#include <cstring>

#include "kernels/resize/resize_simd.hpp"

namespace lensd {
namespace {

/// Rows of partial sums start on cache lines.
constexpr size_t row_stride(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// The last few source rows after the horizontal sums. A window of consecutive rows never meets itself modulo
/// its length, so a row's place is its index modulo the taps.
class RowRing {
 public:
  RowRing(uint8_t* memory, size_t stride, int taps) : memory_(memory), stride_(stride), taps_(taps) {
    std::fill(std::begin(held_), std::end(held_), -1);
  }
  template <class Fill>
  const int16_t* row(int y, Fill fill) {
    const int place = y % taps_;
    auto* out = reinterpret_cast<int16_t*>(memory_ + static_cast<size_t>(place) * stride_);
    if (held_[place] != y) fill(y, out);
    held_[place] = y;
    return out;
  }

 private:
  uint8_t* memory_;
  size_t stride_;
  int taps_;
  int held_[6];
};

void run_taps(const ResizeGeometry& g, const ResizeTable& table_x, const ResizeTable& table_y,
              const PassArgs& args, Band band) {
  const ConstImageRef in = args.in[0];
  const int taps = g.taps();
  const size_t samples = args.out.row_bytes();
  RowRing ring(args.worker, row_stride(samples * sizeof(int16_t)), taps);
  for (int y = band.begin; y < band.end; ++y) {
    const int16_t* rows[6] = {};
    for (int k = 0; k < taps; ++k)
      rows[k] = ring.row(std::clamp(table_y.start[y] + k, 0, g.y.n - 1), [&](int source, int16_t* out) {
        resize_taps_row(in.row(source), g.x, table_x, taps, in.channels(), out);
      });
    const int32_t pairs[3] = {table_y.pair(0)[y], table_y.pair(1)[y], table_y.pair(2)[y]};
    resize_sum_rows(rows, pairs, taps, samples, args.out.row(y));
  }
}

template <class Pixel>
void pick_row(const uint8_t* in, const int32_t* index, int width, uint8_t* out) {
  for (int x = 0; x < width; ++x)
    std::memcpy(out + static_cast<size_t>(x) * sizeof(Pixel),
                in + static_cast<size_t>(index[x]) * sizeof(Pixel), sizeof(Pixel));
}

void run_nearest(const ResizeGeometry& g, const ResizeTable& table_x, const ResizeTable& table_y,
                 const PassArgs& args, Band band) {
  const auto pick = args.out.channels() == 4 ? &pick_row<uint32_t> : &pick_row<uint8_t>;
  for (int y = band.begin; y < band.end; ++y) {
    const bool again = y > band.begin && table_y.start[y] == table_y.start[y - 1];
    if (again)
      std::memcpy(args.out.row(y), args.out.row(y - 1), args.out.row_bytes());
    else
      pick(args.in[0].row(table_y.start[y]), table_x.start, g.x.m, args.out.row(y));
  }
}

void run_area(const ResizeGeometry& g, const PassArgs& args, Band band) {
  const ConstImageRef in = args.in[0];
  const AreaAxis across = AreaAxis::make(g.x), down = AreaAxis::make(g.y);
  const uint64_t total = static_cast<uint64_t>(across.n) * static_cast<uint64_t>(down.n);
  auto* sums = reinterpret_cast<uint32_t*>(args.worker);
  for (int y = band.begin; y < band.end; ++y) {
    const int first = down.first(y);
    for (int s = first; s <= down.last(y); ++s)
      resize_add_row(in.row(s), static_cast<uint32_t>(down.weight(y, s)), s == first, in.row_bytes(), sums);
    resize_mean_row(sums, across, g.x.m, in.channels(), total, args.out.row(y));
  }
}

void run_half(const PassArgs& args, Band band) {
  const ConstImageRef in = args.in[0];
  for (int y = band.begin; y < band.end; ++y)
    resize_half_row(in.row(2 * y), in.row(2 * y + 1), in.channels(), args.out.row_bytes(), args.out.row(y));
}

}  // namespace

FilterSchema Resize::make_schema() {
  using Options = Schema<ResizeParams>::Options;
  const Options plain{.change = ParamChange::reconfigure};
  const Options side{.unit = "px", .change = ParamChange::reconfigure, .zero = "auto"};
  const Options factor{.widget = Widget::log_slider, .change = ParamChange::reconfigure};
  return Schema<ResizeParams>("resize", "another size by interpolation or exact means")
      .integer("width", &ResizeParams::width, 0, kMaxSide, "width, 0 = from the height's or by scale", side)
      .integer("height", &ResizeParams::height, 0, kMaxSide, "height, 0 = from the width's or by scale", side)
      .real("scale", &ResizeParams::scale, 0.01, 16, "factor where neither width nor height is given", factor)
      .choice("method", &ResizeParams::method, {"nearest", "bilinear", "bicubic", "area", "lanczos3"},
              "how samples between the old ones are made; area for shrinking", plain)
      .boolean("align_corners", &ResizeParams::align_corners,
               "corner pixels' centres stay on each other; else the pictures' edges do", plain)
      .build();
}

Layout Resize::configure(const FilterInputs& inputs) {
  const ImageFormat in = inputs.images[0];
  geometry_ = ResizeGeometry::make(params_, in.extent);
  const ResizeGeometry& g = geometry_;
  const ImageFormat output{in.format, g.extent()};
  const double samples = static_cast<double>(output.row_bytes()) * output.extent.height;
  Layout layout{.output = output, .passes = {}, .scratch_bytes = {}};
  if (g.path == ResizePath::taps || g.path == ResizePath::nearest) {
    layout.passes.push_back({.name = "taps", .items = g.x.m + g.y.m, .grain = 256});
    layout.scratch_bytes = {ResizeTable::bytes(g.x.m), ResizeTable::bytes(g.y.m)};
  }
  layout.passes.push_back({.name = "resize",
                           .items = output.extent.height,
                           .grain = 16,
                           .bytes = static_cast<double>(in.row_bytes()) * in.extent.height + samples,
                           .operations = g.path == ResizePath::taps ? samples * 4 * g.taps() : samples});
  if (g.path == ResizePath::taps)
    layout.worker_bytes = static_cast<size_t>(g.taps()) * row_stride(output.row_bytes() * sizeof(int16_t));
  if (g.path == ResizePath::area) layout.worker_bytes = in.row_bytes() * sizeof(uint32_t);
  return layout;
}

ResizeTable Resize::table_x(const PassArgs& args) const {
  return {reinterpret_cast<int32_t*>(args.scratch[0]), geometry_.x.m};
}
ResizeTable Resize::table_y(const PassArgs& args) const {
  return {reinterpret_cast<int32_t*>(args.scratch[1]), geometry_.y.m};
}
bool Resize::fills_taps(const PassArgs& args) const {
  return args.pass == 0 && (geometry_.path == ResizePath::taps || geometry_.path == ResizePath::nearest);
}

void Resize::run(const PassArgs& args, Band band) const {
  const ResizeGeometry& g = geometry_;
  if (fills_taps(args)) {
    for (int i = band.begin; i < band.end; ++i)
      if (i < g.x.m)
        fill_taps(table_x(args), g.x, g.method, i);
      else
        fill_taps(table_y(args), g.y, g.method, i - g.x.m);
    return;
  }
  switch (g.path) {
    case ResizePath::taps:
      return run_taps(g, table_x(args), table_y(args), args, band);
    case ResizePath::nearest:
      return run_nearest(g, table_x(args), table_y(args), args, band);
    case ResizePath::area:
      return run_area(g, args, band);
    case ResizePath::half:
      return run_half(args, band);
  }
}

}  // namespace lensd
