#include "kernels/box/box.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/box/box_simd.hpp"
#include "kernels/common/border_simd.hpp"
#include "kernels/common/keep_alpha.hpp"

namespace lensd {
namespace {

/// A worker's memory: column sums with a rim of the largest radius, row sums, where the rim comes from.
struct BoxWorker {
  uint16_t* columns;  ///< at position -kBoxMaxRadius
  uint32_t* sums;
  int* rim;  ///< border_index of positions -radius … -1, then width … width + radius - 1

  static size_t column_bytes(const ImageFormat& f) {
    const auto rims = static_cast<size_t>(2 * kBoxMaxRadius * channels(f.format));
    return ((f.row_bytes() + rims) * 2 + 63) / 64 * 64;
  }
  static size_t sum_bytes(const ImageFormat& f) { return (f.row_bytes() * 4 + 63) / 64 * 64; }
  static size_t bytes(const ImageFormat& f) {
    return column_bytes(f) + sum_bytes(f) + 2 * kBoxMaxRadius * sizeof(int);
  }
  BoxWorker(uint8_t* memory, const ImageFormat& f)
      : columns(reinterpret_cast<uint16_t*>(memory)),
        sums(reinterpret_cast<uint32_t*>(memory + column_bytes(f))),
        rim(reinterpret_cast<int*>(memory + column_bytes(f) + sum_bytes(f))) {}
};

void fill_rim(uint16_t* centre, const int* rim, int width, int channels, int radius) {
  for (int i = 0; i < 2 * radius; ++i) {
    uint16_t* to = centre + (i < radius ? i - radius : width + i - radius) * channels;
    for (int c = 0; c < channels; ++c) to[c] = rim[i] < 0 ? uint16_t{0} : centre[rim[i] * channels + c];
  }
}

}  // namespace

FilterSchema Box::make_schema() {
  Schema<BoxParams> schema("box", "mean of a square window");
  schema.integer("radius", &BoxParams::radius, 0, kBoxMaxRadius,
                 "half the window's side; it is 2·radius + 1 wide",
                 {.unit = "px", .widget = Widget::log_slider});
  return add_border(schema, &BoxParams::border).build();
}

Layout Box::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const auto rows = static_cast<size_t>(format.extent.height);
  const double values = static_cast<double>(format.row_bytes()) * format.extent.height;
  Layout layout{.output = format, .passes = {}, .scratch_bytes = {}};
  if (inputs.backend == Backend::cpu) {
    layout.passes = {{.name = "box",
                      .items = format.extent.height,
                      .grain = 32,
                      .bytes = 2 * values,
                      .operations = 6 * values}};
    layout.worker_bytes = BoxWorker::bytes(format);
  } else {
    layout.passes = {{.name = "columns", .bytes = 3 * values, .operations = 2 * values},
                     {.name = "rows", .bytes = 3 * values, .operations = 4 * values}};
    layout.scratch_bytes = {sums_pitch(format) * rows};
  }
  return layout;
}

void Box::run(const PassArgs& args, Band band) const {
  const BoxBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  const int r = block.radius, width = in.width(), ch = in.channels();
  const size_t n = in.row_bytes();
  const BoxWorker memory(args.worker, in.format);
  uint16_t* const centre = memory.columns + kBoxMaxRadius * ch;
  for (int i = 0; i < 2 * r; ++i)
    memory.rim[i] = border_index(i < r ? i - r : width + i - r, width, block.border);

  std::memset(centre, 0, 2 * n);
  for (int y = band.begin - r; y < band.begin + r; ++y)
    box_slide(centre, border_row(in, y, block.border), nullptr, n);
  for (int y = band.begin; y < band.end; ++y) {
    const uint8_t* gone = y > band.begin ? border_row(in, y - r - 1, block.border) : nullptr;
    box_slide(centre, border_row(in, y + r, block.border), gone, n);
    fill_rim(centre, memory.rim, width, ch, r);
    uint8_t* const out = args.out.row(y);
    if (r >= 1 && r <= kBoxNarrowRadius)
      box_means_narrow(centre - r * ch, ch, block, out, n);
    else
      box_means_wide(centre - r * ch, ch, block, memory.sums, out, width);
    if (ch == 4) keep_alpha(in.row(y), out, n);
  }
}

void Box::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const BoxBlock block = BoxBlock::make(params_);
  const int r = block.radius, w = in.width(), h = in.height();
  const auto count = static_cast<uint32_t>((2 * r + 1) * (2 * r + 1));
  const auto at = [w](int x, int y) {
    return static_cast<size_t>(y) * static_cast<size_t>(w) + static_cast<size_t>(x);
  };
  run.out = in;
  std::vector<uint32_t> across(static_cast<size_t>(w) * static_cast<size_t>(h));
  for (int c = 0; c < std::min(in.channels(), 3); ++c) {
    std::fill(across.begin(), across.end(), 0);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        for (int i = -r; i <= r; ++i)
          if (const int sx = border_index(x + i, w, block.border); sx >= 0)
            across[at(x, y)] += in.at(sx, y, c);
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        uint32_t sum = 0;
        for (int i = -r; i <= r; ++i)
          if (const int sy = border_index(y + i, h, block.border); sy >= 0) sum += across[at(x, sy)];
        run.out.at(x, y, c) = static_cast<uint8_t>((sum + count / 2) / count);
      }
  }
}

}  // namespace lensd
