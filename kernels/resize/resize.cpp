#include "kernels/resize/resize.hpp"

#include <cstring>
#include <utility>

#include "kernels/resize/resize_simd.hpp"

namespace lensd {
namespace {

/// Rounds the size of a row of horizontal sums up to whole cache lines.
constexpr size_t row_stride(size_t bytes) {
  return (bytes + 63) / 64 * 64;
}

/// Ring of the horizontal sums of recent source rows. Row y is in slot y % taps, so `taps` consecutive rows
/// are in different slots.
class SumRing {
 public:
  SumRing(uint8_t* memory, size_t stride, int taps) : memory_(memory), stride_(stride), taps_(taps) {
    std::fill(std::begin(rows_), std::end(rows_), -1);
  }
  template <class Fill>
  const int16_t* row(int y, Fill fill) {
    const int slot = y % taps_;
    auto* out = reinterpret_cast<int16_t*>(memory_ + static_cast<size_t>(slot) * stride_);
    if (rows_[slot] != y) fill(y, out);
    rows_[slot] = y;
    return out;
  }

 private:
  uint8_t* memory_;
  size_t stride_;
  int taps_;
  int rows_[6];  ///< source row in each slot; −1: empty
};

template <class Pixel>
void pick_row(const uint8_t* in, const int32_t* index, int width, uint8_t* out) {
  for (int x = 0; x < width; ++x)
    std::memcpy(out + static_cast<size_t>(x) * sizeof(Pixel),
                in + static_cast<size_t>(index[x]) * sizeof(Pixel), sizeof(Pixel));
}

}  // namespace

FilterSchema Resize::make_schema() {
  using Options = Schema<ResizeParams>::Options;
  const Options plain{.change = ParamChange::reconfigure};
  const Options side{.unit = "px", .change = ParamChange::reconfigure, .zero = "auto"};
  const Options factor{.widget = Widget::log_slider, .change = ParamChange::reconfigure};
  return Schema<ResizeParams>("resize", "scales to another size by interpolation or exact means")
      .integer("width", &ResizeParams::width, 0, kMaxSide, "width; 0 = from the height or by scale", side)
      .integer("height", &ResizeParams::height, 0, kMaxSide, "height; 0 = from the width or by scale", side)
      .real("scale", &ResizeParams::scale, 0.01, 16,
            "factor if neither width nor height is given; less if a side would exceed 16384 px", factor)
      .choice("method", &ResizeParams::method, {"nearest", "bilinear", "bicubic", "area", "lanczos3"},
              "interpolation method; area for shrinking", plain)
      .boolean("align_corners", &ResizeParams::align_corners,
               "align the centres of the corner pixels instead of the pictures' edges", plain)
      .build();
}

Layout Resize::configure(const FilterInputs& inputs) {
  const ImageFormat in = inputs.images[0];
  geometry_ = ResizeGeometry::make(params_, in.extent);
  const ResizeGeometry& g = geometry_;
  const ImageFormat output{in.format, g.extent()};
  const double samples = static_cast<double>(output.row_bytes()) * output.extent.height;
  Layout layout{.output = output, .passes = {}, .scratch_bytes = {}};
  if (inputs.backend == Backend::cuda) {
    const auto strips = AreaStrips::make(g, sample_bytes(in.format) == 2);
    if (strips.count > 1) layout.scratch_bytes = {strips.bytes(g, channels(in.format))};
  }
  if (sample_bytes(in.format) == 2) {
    if (g.path == ResizePath::taps || g.path == ResizePath::nearest) {
      layout.passes.push_back({.name = "taps",
                               .run = cpu_pass<&Resize::fill_deep>,
                               .launch = cuda_pass<&Resize::launch_fill_deep>,
                               .items = g.x.m + g.y.m,
                               .grain = 256});
      layout.scratch_bytes = {static_cast<size_t>(g.x.m + g.y.m) * sizeof(DeepResizeTaps)};
    }
    layout.passes.push_back({.name = "resize",
                             .run = cpu_pass<&Resize::resize_deep>,
                             .launch = cuda_pass<&Resize::launch_deep>,
                             .items = output.extent.height,
                             .grain = 16,
                             .bytes = static_cast<double>(in.row_bytes()) * in.extent.height + samples,
                             .operations = samples * 4 * g.taps()});
    layout.worker_bytes = deep_worker_bytes(in, output);
    return layout;
  }
  if (g.path == ResizePath::taps || g.path == ResizePath::nearest) {
    layout.passes.push_back({.name = "taps",
                             .run = cpu_pass<&Resize::fill_tables>,
                             .launch = cuda_pass<&Resize::launch_fill_tables>,
                             .items = g.x.m + g.y.m,
                             .grain = 256});
    layout.scratch_bytes = {ResizeTable::bytes(g.x.m), ResizeTable::bytes(g.y.m)};
  }
  // The passes, in the order of ResizePath.
  constexpr std::pair<CpuPass, CudaPass> kOfPath[] = {
      {cpu_pass<&Resize::interpolate>, cuda_pass<&Resize::launch_interpolate>},
      {cpu_pass<&Resize::pick_nearest>, cuda_pass<&Resize::launch_interpolate>},
      {cpu_pass<&Resize::average_area>, cuda_pass<&Resize::launch_average_area>},
      {cpu_pass<&Resize::halve>, cuda_pass<&Resize::launch_halve>}};
  const auto [run, launch] = kOfPath[static_cast<size_t>(g.path)];
  layout.passes.push_back({.name = "resize",
                           .run = run,
                           .launch = launch,
                           .items = output.extent.height,
                           .grain = 16,
                           .bytes = static_cast<double>(in.row_bytes()) * in.extent.height + samples,
                           .operations = g.path == ResizePath::taps ? samples * 4 * g.taps() : samples});
  if (g.path == ResizePath::taps)
    layout.worker_bytes = static_cast<size_t>(g.taps()) * row_stride(output.row_bytes() * sizeof(int16_t));
  if (g.path == ResizePath::area) layout.worker_bytes = in.row_bytes() * sizeof(uint32_t);
  return layout;
}

void Resize::fill_tables(const PassArgs& args, Band band) const {
  const ResizeGeometry& g = geometry_;
  for (int i = band.begin; i < band.end; ++i)
    if (i < g.x.m)
      fill_taps(table_x(args), g.x, g.method, i);
    else
      fill_taps(table_y(args), g.y, g.method, i - g.x.m);
}

void Resize::interpolate(const PassArgs& args, Band band) const {
  const ResizeAxis &across = geometry_.x, &down = geometry_.y;
  const ResizeTable columns = table_x(args), lines = table_y(args);
  const ConstImageRef in = args.in[0];
  const int taps = geometry_.taps();
  const size_t samples = args.out.row_bytes();
  SumRing ring(args.worker, row_stride(samples * sizeof(int16_t)), taps);
  for (int y = band.begin; y < band.end; ++y) {
    const int16_t* rows[6] = {};
    for (int k = 0; k < taps; ++k)
      rows[k] = ring.row(std::clamp(lines.start[y] + k, 0, down.n - 1), [&](int source, int16_t* out) {
        resize_taps_row(in.row(source), across, columns, taps, in.channels(), out);
      });
    const int32_t pairs[3] = {lines.pair(0)[y], lines.pair(1)[y], lines.pair(2)[y]};
    resize_sum_rows(rows, pairs, taps, samples, args.out.row(y));
  }
}

void Resize::pick_nearest(const PassArgs& args, Band band) const {
  const int32_t *const columns = table_x(args).start, *const lines = table_y(args).start;
  const auto pick = args.out.channels() == 4 ? &pick_row<uint32_t> : &pick_row<uint8_t>;
  for (int y = band.begin; y < band.end; ++y) {
    if (y > band.begin && lines[y] == lines[y - 1])
      std::memcpy(args.out.row(y), args.out.row(y - 1), args.out.row_bytes());
    else
      pick(args.in[0].row(lines[y]), columns, args.out.width(), args.out.row(y));
  }
}

void Resize::average_area(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const AreaAxis across = AreaAxis::make(geometry_.x), down = AreaAxis::make(geometry_.y);
  const uint64_t total = static_cast<uint64_t>(across.n) * static_cast<uint64_t>(down.n);
  auto* sums = reinterpret_cast<uint32_t*>(args.worker);
  for (int y = band.begin; y < band.end; ++y) {
    const int first = down.first(y);
    for (int s = first; s <= down.last(y); ++s)
      resize_add_row(in.row(s), static_cast<uint32_t>(down.weight(y, s)), s == first, in.row_bytes(), sums);
    resize_mean_row(sums, across, args.out.width(), in.channels(), total, args.out.row(y));
  }
}

void Resize::halve(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  for (int y = band.begin; y < band.end; ++y)
    resize_half_row(in.row(2 * y), in.row(2 * y + 1), in.channels(), args.out.row_bytes(), args.out.row(y));
}

}  // namespace lensd
