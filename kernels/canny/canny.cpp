#include "kernels/canny/canny.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/canny/canny_simd.hpp"
#include "kernels/canny/deep_canny.hpp"
#include "kernels/common/row_ring.hpp"
#include "kernels/common/samples.hpp"

namespace lensd {
namespace {

size_t blur_pitch(const ImageFormat& format) {
  return (format.row_bytes() + 255) / 256 * 256;
}

constexpr int kStrip = 64;  ///< rows of a strip; strips are flooded in parallel, then joined

/// Map of canny_class() in scratch memory: one byte per pixel (0 none, 1 weak, 2 strong), with a zero at both
/// ends of each row.
struct CannyMap {
  uint8_t* origin;
  std::ptrdiff_t pitch;
  int width, height;

  static size_t pitch_of(int width) { return (static_cast<size_t>(width) + 2 + 63) / 64 * 64; }
  static size_t bytes(Extent e) { return pitch_of(e.width) * (static_cast<size_t>(e.height) + 2) + 64; }
  CannyMap(uint8_t* memory, Extent e)
      : origin(memory + pitch_of(e.width) + 1),
        pitch(static_cast<std::ptrdiff_t>(pitch_of(e.width))),
        width(e.width),
        height(e.height) {}
  uint8_t* row(int y) const { return origin + y * pitch; }
};

/// Makes weak pixels of rows [first, last) strong if a chain of weak ones connects them to a strong one.
/// `stack` needs one entry per pixel: a pixel is pushed once, when it turns strong.
class CannyFlood {
 public:
  CannyFlood(const CannyMap& map, int first, int last, uint32_t* stack)
      : map_(map), first_(first), last_(last), stack_(stack) {}

  void row(int y) {
    const uint8_t* values = map_.row(y);
    int x = 0;
    for (; x + 8 <= map_.width; x += 8) {
      uint64_t eight;
      std::memcpy(&eight, values + x, 8);
      for (uint64_t strong = eight & 0x0202020202020202u; strong; strong &= strong - 1)
        pixel(x + __builtin_ctzll(strong) / 8, y);
    }
    for (; x < map_.width; ++x)
      if (values[x] == 2) pixel(x, y);
  }

  /// Floods from one strong pixel.
  void pixel(int x, int y) {
    spread(x, y);
    while (top_ > 0) {
      const uint32_t at = stack_[--top_];
      spread(static_cast<int>(at & 0xffff), static_cast<int>(at >> 16));
    }
  }

 private:
  void spread(int x, int y) {
    const int begin = y > first_ ? y - 1 : first_, end = y + 1 < last_ ? y + 1 : last_ - 1;
    for (int ny = begin; ny <= end; ++ny) {
      uint8_t* const values = map_.row(ny);
      for (int nx = x - 1; nx <= x + 1; ++nx)
        if (values[nx] == 1) {
          values[nx] = 2;
          stack_[top_++] = static_cast<uint32_t>(nx) | static_cast<uint32_t>(ny) << 16;
        }
    }
  }

  const CannyMap& map_;
  int first_, last_;
  uint32_t* stack_;
  size_t top_ = 0;
};

/// Private memory of a worker.
struct CannyWorker {
  uint8_t* ring;
  int16_t *smooth, *derive;
  int16_t* dx[2];
  int16_t* dy[2];
  int32_t* magnitude[3];  ///< rows of magnitudes with a zero at both ends
  uint32_t* stack;

  static size_t row16(int width) { return (static_cast<size_t>(width) + 8 + 64) * 2 / 64 * 64 + 64; }
  static size_t row32(int width) { return (static_cast<size_t>(width) + 2 + 32) * 4 / 64 * 64 + 64; }
  static size_t ring_bytes(const ImageFormat& f) { return RowRing::bytes(f, kCannyMaxReach); }
  static size_t bytes(const ImageFormat& f) {
    const int w = f.extent.width;
    return ring_bytes(f) + 6 * row16(w) + 3 * row32(w) + static_cast<size_t>(w) * kStrip * 4;
  }
  CannyWorker(uint8_t* memory, const ImageFormat& f) : ring(memory) {
    const int w = f.extent.width;
    memory += ring_bytes(f);
    for (int16_t** p : {&smooth, &derive, &dx[0], &dx[1], &dy[0], &dy[1]})
      *p = reinterpret_cast<int16_t*>(memory), memory += row16(w);
    for (int32_t*& m : magnitude) {
      m = reinterpret_cast<int32_t*>(memory) + 1, memory += row32(w);
      m[-1] = m[w] = 0;
    }
    stack = reinterpret_cast<uint32_t*>(memory);
  }
};

void classify_band(ConstImageRef in, const CannyMap& map, const CannyBlock& block, Band band,
                   CannyWorker& worker) {
  const int reach = block.aperture / 2, width = map.width;
  RowRing rows(in, reach, Border::replicate, worker.ring);
  const auto magnitude = [&](int y) { return worker.magnitude[static_cast<size_t>((y + 3) % 3)]; };
  const auto gradient = [&](int y) {
    const auto parity = static_cast<size_t>(y & 1);
    if (y < 0 || y >= map.height) {
      std::memset(magnitude(y), 0, static_cast<size_t>(width) * 4);
      return;
    }
    rows.move_to(y);
    CannyGradientRow row{.rows = {},
                         .smooth = worker.smooth,
                         .derive = worker.derive,
                         .dx = worker.dx[parity],
                         .dy = worker.dy[parity],
                         .magnitude = magnitude(y),
                         .width = width};
    for (int j = -reach; j <= reach; ++j) row.rows[reach + j] = rows.row(j);
    canny_gradient_row(row, block);
  };
  gradient(band.begin - 1), gradient(band.begin);
  for (int y = band.begin; y < band.end; ++y) {
    gradient(y + 1);
    const auto parity = static_cast<size_t>(y & 1);
    uint8_t* const to = map.row(y);
    canny_suppress_row(magnitude(y - 1), magnitude(y), magnitude(y + 1), worker.dx[parity], worker.dy[parity],
                       to, width, block);
    to[-1] = to[width] = 0;
  }
}

}  // namespace

FilterSchema Canny::make_schema() {
  return Schema<CannyParams>("canny", "edges: thin, and linked by two thresholds")
      .real("low", &CannyParams::low, 0, 32767, "weaker edges are dropped", {.widget = Widget::log_slider})
      .real("high", &CannyParams::high, 0, 32767, "edges above this are kept, and edges linked to them",
            {.widget = Widget::log_slider})
      .integer("aperture", &CannyParams::aperture, 3, 7, "side of the derivative kernels",
               {.unit = "px", .widget = Widget::odd_slider})
      .boolean("l2", &CannyParams::l2, "gradient as √(dx² + dy²) instead of |dx| + |dy|")
      .real("sigma", &CannyParams::sigma, 0, 10, "Gaussian blur beforehand; 0 for none",
            {.unit = "px", .change = ParamChange::reconfigure, .zero = "none"})
      .choice("output", &CannyParams::output, {"edges", "overlay"}, "edges alone, or over the dimmed picture")
      .build();
}

Layout Canny::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const Extent e = format.extent;
  const double pixels = static_cast<double>(e.width) * e.height;
  Layout layout{.output = format, .passes = {}, .scratch_bytes = {}};
  if (inputs.backend == Backend::cpu) {
    layout.passes = {
        {.name = "gradient",
         .run = cpu_pass<&Canny::find_edges>,
         .items = e.height,
         .grain = kStrip,
         .bytes = 2 * pixels,
         .operations = 40 * pixels},
        {.name = "join", .run = cpu_pass<&Canny::join>, .bytes = pixels / 32, .operations = pixels / 32},
        {.name = "edges",
         .run = cpu_pass<&Canny::write_edges>,
         .items = e.height,
         .grain = 16,
         .bytes = 2 * pixels,
         .operations = pixels}};
    layout.scratch_bytes = {CannyMap::bytes(e),
                            static_cast<size_t>(e.width) * static_cast<size_t>(e.height) * 4};
    layout.worker_bytes =
        CannyWorker::bytes(format) + (sample_bytes(format.format) == 2 ? deep_canny_bytes(e.width) : 0);
  } else {
    const size_t tiles = CannyTiles(e).count();
    layout.passes = {{.name = "gradient",
                      .launch = cuda_pass<&Canny::launch_find_edges>,
                      .bytes = 1.25 * pixels,
                      .operations = 40 * pixels},
                     {.name = "join",
                      .launch = cuda_pass<&Canny::launch_join>,
                      .bytes = pixels / 16,
                      .operations = pixels / 8},
                     {.name = "edges",
                      .launch = cuda_pass<&Canny::launch_write_edges>,
                      .bytes = 1.25 * pixels,
                      .operations = pixels / 4}};
    // Bit masks of strong pixels, bit masks of weak pixels, and parents of the weak pixels on the tiles'
    // borders.
    layout.scratch_bytes = {tiles * 32 * 4, tiles * 32 * 4, tiles * 1024 * 4};
  }
  has_blur_ = params_.sigma > 0;
  if (has_blur_) {
    *static_cast<GaussianParams*>(blur_.params()) = params_.blur();
    Layout blur = blur_.configure(inputs);
    blur.passes[0].run = cpu_pass<&Canny::blur>, blur.passes[0].launch = cuda_pass<&Canny::launch_blur>;
    layout.passes.insert(layout.passes.begin(), blur.passes[0]);
    layout.worker_bytes = std::max(layout.worker_bytes, blur.worker_bytes);
    layout.scratch_bytes.push_back(blur_pitch(format) * static_cast<size_t>(e.height));
  }
  return layout;
}

PassArgs Canny::blur_args(const PassArgs& args) const {
  PassArgs blur = args;
  blur.block = &static_cast<const CannyBlock*>(args.block)->blur;
  blur.host_block = &static_cast<const CannyBlock*>(args.host_block)->blur;
  blur.out = {args.scratch.back(), static_cast<std::ptrdiff_t>(blur_pitch(args.in[0].format)),
              args.in[0].format};
  return blur;
}

ConstImageRef Canny::blurred(const PassArgs& args) const {
  return has_blur_ ? ConstImageRef(blur_args(args).out) : args.in[0];
}

void Canny::find_edges(const PassArgs& args, Band band) const {
  const CannyMap map(args.scratch[0], args.out.format.extent);
  CannyWorker worker(args.worker, args.in[0].format);
  if (args.in[0].is_deep())
    deep_canny_band(blurred(args), {map.origin, map.pitch}, block_of(args), band, worker.ring,
                    args.worker + CannyWorker::bytes(args.in[0].format));
  else
    classify_band(blurred(args), map, block_of(args), band, worker);
  for (int begin = band.begin; begin < band.end; begin += kStrip) {
    const int end = begin + kStrip < band.end ? begin + kStrip : band.end;
    CannyFlood flood(map, begin, end, worker.stack);
    for (int y = begin; y < end; ++y) flood.row(y);
  }
}

/// Continues the flood across the borders between strips.
void Canny::join(const PassArgs& args, Band) const {
  const CannyMap map(args.scratch[0], args.out.format.extent);
  CannyFlood flood(map, 0, map.height, reinterpret_cast<uint32_t*>(args.scratch[1]));
  for (int y = kStrip; y < map.height; y += kStrip) {
    flood.row(y - 1);
    flood.row(y);
  }
}

void Canny::write_edges(const PassArgs& args, Band band) const {
  const CannyMap map(args.scratch[0], args.out.format.extent);
  for (int y = band.begin; y < band.end && args.in[0].is_deep(); ++y)
    deep_canny_output(map.row(y), args.in[0].samples<uint16_t>(y), args.out.samples<uint16_t>(y), map.width,
                      block_of(args).output);
  for (int y = band.begin; y < band.end && !args.in[0].is_deep(); ++y)
    canny_output_row(map.row(y), args.in[0].row(y), args.out.row(y), map.width, block_of(args).output);
}

namespace {

template <int A>
void reference_gradient(const Image& in, int x, int y, int& dx, int& dy) {
  dx = dy = 0;
  for (int j = -A / 2; j <= A / 2; ++j)
    for (int i = -A / 2; i <= A / 2; ++i) {
      const int v = in.sample(border_index(x + i, in.width(), Border::replicate),
                              border_index(y + j, in.height(), Border::replicate));
      dx += canny_derive<A>(i) * canny_smooth<A>(j) * v;
      dy += canny_smooth<A>(i) * canny_derive<A>(j) * v;
    }
  dx = canny_scale<A>(dx), dy = canny_scale<A>(dy);
}

}  // namespace

void Canny::reference(ReferenceRun& run) const {
  ReferenceRun blur{.in = run.in, .out = run.in[0], .state = {}, .stats = {}};
  if (params_.sigma > 0) {
    Gaussian gaussian;
    *static_cast<GaussianParams*>(gaussian.params()) = params_.blur();
    gaussian.reference(blur);
  }
  const Image& in = blur.out;
  const CannyBlock block = CannyBlock::make(params_);
  const int w = in.width(), h = in.height(), pitch = w + 2;
  const auto index = [&](int x, int y) { return static_cast<size_t>((y + 1) * pitch + x + 1); };
  std::vector<int64_t> magnitude(static_cast<size_t>(pitch * (h + 2)));
  std::vector<int32_t> dx(magnitude.size()), dy(magnitude.size());
  const int64_t low = in.is_deep() ? block.deep_low : block.low,
                high = in.is_deep() ? block.deep_high : block.high;
  std::vector<uint8_t> map(magnitude.size());
  const auto gradient = block.aperture == 3   ? reference_gradient<3>
                        : block.aperture == 5 ? reference_gradient<5>
                                              : reference_gradient<7>;
  const auto each_pixel = [&](const auto& f) { for_each_sample(in.format.extent, 1, f); };
  each_pixel([&](int x, int y, int) {
    const size_t i = index(x, y);
    gradient(in, x, y, dx[i], dy[i]);
    magnitude[i] = deep_canny_magnitude(dx[i], dy[i], block.l2);
  });
  each_pixel([&](int x, int y, int) {
    const size_t i = index(x, y);
    const int64_t* at = &magnitude[i];
    map[i] = static_cast<uint8_t>(deep_canny_class(at - pitch, at, at + pitch, dx[i], dy[i], low, high));
  });
  // Make weak pixels next to strong ones strong, until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    each_pixel([&](int x, int y, int) {
      if (map[index(x, y)] != 1) return;
      for (int j = -1; j <= 1; ++j)
        for (int i = -1; i <= 1; ++i)
          if (map[index(x + i, y + j)] == 2) map[index(x, y)] = 2, changed = true;
    });
  }
  run.out = Image(in.format);
  each_pixel([&](int x, int y, int) {
    const int under = block.output == CannyOutput::overlay ? run.in[0].sample(x, y) / 2 : 0;
    run.out.set_sample(x, y, 0, map[index(x, y)] == 2 ? max_sample(in.format.format) : under);
  });
}

}  // namespace lensd
