#include "kernels/box/box.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/box/deep_box.hpp"
#include "kernels/common/border/border_simd.hpp"
#include "kernels/common/keep_alpha.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/box/box.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Updates the column sums: sums[i] += add[i] − sub[i] for `n` bytes. A null row means zeros.
void box_slide(uint16_t* sums, const uint8_t* add, const uint8_t* sub, size_t n) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const size_t lanes = hn::Lanes(d16);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    auto v = hn::LoadU(d16, sums + i);
    if (add) v = hn::Add(v, hn::PromoteTo(d16, hn::LoadU(d8, add + i)));
    if (sub) v = hn::Sub(v, hn::PromoteTo(d16, hn::LoadU(d8, sub + i)));
    hn::StoreU(v, d16, sums + i);
  }
  for (; i < n; ++i) sums[i] = static_cast<uint16_t>(sums[i] + (add ? add[i] : 0) - (sub ? sub[i] : 0));
}

/// Computes `n` means, each of 2·radius + 1 column sums that are `step` values apart. Only for radii 1 to
/// kBoxNarrowRadius. `columns` points to the first column of byte 0's window.
void box_means_narrow(const uint16_t* columns, int step, const BoxBlock& block, uint8_t* out, size_t n) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::RebindToSigned<decltype(d16)> di16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const size_t lanes = hn::Lanes(d16), side = static_cast<size_t>(2 * block.radius + 1);
  const auto half = hn::Set(d16, static_cast<uint16_t>(block.half));
  const auto reciprocal = hn::Set(d16, block.narrow_reciprocal());
  const int shift = block.narrow_shift();
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const uint16_t* from = columns + i;
    auto sum = half;
    for (size_t k = 0; k < side; ++k, from += step) sum = hn::Add(sum, hn::LoadU(d16, from));
    const auto mean = hn::ShiftRightSame(hn::MulHigh(sum, reciprocal), shift);
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di16, mean)), d8, out + i);
  }
  for (; i < n; ++i) {
    uint32_t sum = 0;
    for (size_t k = 0; k < side; ++k) sum += columns[i + k * static_cast<size_t>(step)];
    out[i] = box_mean(sum, block);
  }
}

/// Computes running sums of 2·radius + 1 values: prefix sums of (entering − leaving value), four at a time.
void sums_gray(const uint16_t* columns, uint32_t* sums, int width, int radius) {
  const hn::CappedTag<uint32_t, 4> d32;
  const hn::Rebind<uint16_t, decltype(d32)> d16;
  const uint16_t* const head = columns + 2 * radius;
  uint32_t s = 0;
  for (int i = 0; i <= 2 * radius; ++i) s += columns[i];
  sums[0] = s;
  auto carry = hn::Set(d32, s);
  int x = 1;
  for (; x + 4 <= width; x += 4) {
    auto v = hn::Sub(hn::PromoteTo(d32, hn::LoadU(d16, head + x)),
                     hn::PromoteTo(d32, hn::LoadU(d16, columns + x - 1)));
    v = hn::Add(v, hn::ShiftLeftLanes<1>(v));
    v = hn::Add(v, hn::ShiftLeftLanes<2>(v));
    hn::StoreU(hn::Add(v, carry), d32, sums + x);
    carry = hn::Add(carry, hn::Broadcast<3>(v));
  }
  for (; x < width; ++x) sums[x] = sums[x - 1] + head[x] - columns[x - 1];
}

/// Computes running sums of 2·radius + 1 pixels for four interleaved channels, one pixel per step.
void sums_rgba(const uint16_t* columns, uint32_t* sums, int width, int radius) {
  const hn::CappedTag<uint32_t, 4> d32;
  const hn::Rebind<uint16_t, decltype(d32)> d16;
  const auto pixel = [&](int i) { return hn::PromoteTo(d32, hn::LoadU(d16, columns + 4 * i)); };
  auto s = hn::Zero(d32);
  for (int i = 0; i <= 2 * radius; ++i) s = hn::Add(s, pixel(i));
  hn::StoreU(s, d32, sums);
  for (int x = 1; x < width; ++x) {
    s = hn::Add(s, hn::Sub(pixel(x + 2 * radius), pixel(x - 1)));
    hn::StoreU(s, d32, sums + 4 * x);
  }
}

/// Writes box_mean() of `n` sums.
void divide(const uint32_t* sums, const BoxBlock& block, uint8_t* out, size_t n) {
  size_t i = 0;
  const hn::ScalableTag<uint32_t> d32;
  const hn::RepartitionToWide<decltype(d32)> d64;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const hn::RebindToSigned<decltype(d32)> di32;
  const auto half = hn::Set(d32, static_cast<uint32_t>(block.half));
  const auto reciprocal = hn::Set(d32, block.reciprocal);
  const int shift = block.shift - 32;  // shift of the product's high half
  const size_t lanes = hn::Lanes(d32);
  for (; shift >= 0 && i + lanes <= n; i += lanes) {
    const auto v = hn::Add(hn::LoadU(d32, sums + i), half);
    const auto even = hn::ShiftRight<32>(hn::MulEven(v, reciprocal));
    const auto odd = hn::MulEven(hn::BitCast(d32, hn::ShiftRight<32>(hn::BitCast(d64, v))), reciprocal);
    const auto high = hn::OddEven(hn::BitCast(d32, odd), hn::BitCast(d32, even));
    const auto q = hn::ShiftRightSame(high, shift);
    hn::StoreU(hn::DemoteTo(d8, hn::BitCast(di32, q)), d8, out + i);
  }
  for (; i < n; ++i) out[i] = box_mean(sums[i], block);
}

/// Computes means like box_means_narrow(), for any radius and for one or four channels. `sums` is a temporary
/// row.
void box_means_wide(const uint16_t* columns, int channels, const BoxBlock& block, uint32_t* sums,
                    uint8_t* out, int width) {
  (channels == 1 ? sums_gray : sums_rgba)(columns, sums, width, block.radius);
  divide(sums, block, out, static_cast<size_t>(width) * static_cast<size_t>(channels));
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(box_slide);
HWY_EXPORT(box_means_narrow);
HWY_EXPORT(box_means_wide);

namespace {

/// Private memory of a worker: column sums with a border, row sums, the border's source columns.
struct BoxWorker {
  uint16_t* columns;  ///< points to column -kBoxMaxRadius
  uint32_t* sums;
  int* border_columns;  ///< border_index() of columns -radius … -1, then width … width + radius - 1

  static size_t column_bytes(const ImageFormat& f) {
    const auto borders = static_cast<size_t>(2 * kBoxMaxRadius * channels(f.format));
    return ((f.row_bytes() + borders) * 2 + 63) / 64 * 64;
  }
  static size_t sum_bytes(const ImageFormat& f) { return (f.row_bytes() * 4 + 63) / 64 * 64; }
  static size_t bytes(const ImageFormat& f) {
    return column_bytes(f) + sum_bytes(f) + 2 * kBoxMaxRadius * sizeof(int);
  }
  BoxWorker(uint8_t* memory, const ImageFormat& f)
      : columns(reinterpret_cast<uint16_t*>(memory)),
        sums(reinterpret_cast<uint32_t*>(memory + column_bytes(f))),
        border_columns(reinterpret_cast<int*>(memory + column_bytes(f) + sum_bytes(f))) {}
};

void fill_border(uint16_t* centre, const int* border_columns, int width, int channels, int radius) {
  for (int i = 0; i < 2 * radius; ++i) {
    uint16_t* to = centre + (i < radius ? i - radius : width + i - radius) * channels;
    for (int c = 0; c < channels; ++c)
      to[c] = border_columns[i] < 0 ? uint16_t{0} : centre[border_columns[i] * channels + c];
  }
}

}  // namespace

FilterSchema Box::make_schema() {
  Schema<BoxParams> schema("box", "blurs with the mean of a square window");
  schema.integer("radius", &BoxParams::radius, 0, kBoxMaxRadius,
                 "half the side of the window, which is 2·radius + 1 wide",
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
                      .run = cpu_pass<&Box::average>,
                      .items = format.extent.height,
                      .grain = 32,
                      .bytes = 2 * values,
                      .operations = 6 * values}};
    layout.worker_bytes =
        sample_bytes(format.format) == 2 ? deep_box_bytes(format) : BoxWorker::bytes(format);
  } else {
    layout.passes = {{.name = "columns",
                      .launch = cuda_pass<&Box::launch_columns>,
                      .bytes = 3 * values,
                      .operations = 2 * values},
                     {.name = "rows",
                      .launch = cuda_pass<&Box::launch_rows>,
                      .bytes = 3 * values,
                      .operations = 4 * values}};
    layout.scratch_bytes = {static_cast<size_t>(sums_pitch(format)) * rows};
  }
  return layout;
}

void Box::average(const PassArgs& args, Band band) const {
  if (args.in[0].is_deep()) return average_deep(args, band);
  const BoxBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  const int r = block.radius, width = in.width(), ch = in.channels();
  const size_t n = in.row_bytes();
  const BoxWorker memory(args.worker, in.format);
  uint16_t* const centre = memory.columns + kBoxMaxRadius * ch;
  for (int i = 0; i < 2 * r; ++i)
    memory.border_columns[i] = border_index(i < r ? i - r : width + i - r, width, block.border);

  const auto slide = HWY_DYNAMIC_DISPATCH(box_slide);
  std::memset(centre, 0, 2 * n);
  for (int y = band.begin - r; y < band.begin + r; ++y)
    slide(centre, border_row(in, y, block.border), nullptr, n);
  for (int y = band.begin; y < band.end; ++y) {
    const uint8_t* gone = y > band.begin ? border_row(in, y - r - 1, block.border) : nullptr;
    slide(centre, border_row(in, y + r, block.border), gone, n);
    fill_border(centre, memory.border_columns, width, ch, r);
    uint8_t* const out = args.out.row(y);
    if (r >= 1 && r <= kBoxNarrowRadius)
      HWY_DYNAMIC_DISPATCH(box_means_narrow)(centre - r * ch, ch, block, out, n);
    else
      HWY_DYNAMIC_DISPATCH(box_means_wide)(centre - r * ch, ch, block, memory.sums, out, width);
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
            across[at(x, y)] += static_cast<uint32_t>(in.sample(sx, y, c));
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        uint32_t sum = 0;
        for (int i = -r; i <= r; ++i)
          if (const int sy = border_index(y + i, h, block.border); sy >= 0) sum += across[at(x, sy)];
        run.out.set_sample(x, y, c, static_cast<int>((uint64_t{sum} + count / 2) / count));
      }
  }
}

}  // namespace lensd
#endif
