#include "kernels/convolve/convolve.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "kernels/common/border/border_simd.hpp"
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/samples.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convolve/convolve.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
#include "kernels/common/pair_dot-inl.hpp"

/// Interleaves two rows: out[i] = above[i] | at[i] << 16. Reads and writes whole vectors.
void convolve_interleave(const uint8_t* above, const uint8_t* at, uint32_t* out, size_t n) {
  const hn::ScalableTag<uint32_t> d32;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  for (size_t i = 0; i < n; i += hn::Lanes(d32)) {
    const auto u = hn::PromoteTo(d32, hn::LoadU(d8, above + i)),
               v = hn::PromoteTo(d32, hn::LoadU(d8, at + i));
    hn::StoreU(hn::Or(u, hn::ShiftLeft<16>(v)), d32, out + i);
  }
}

/// Computes four vectors of outputs. from[t] is the row pair of tap t, offset by the tap's column.
template <bool kWide>
HWY_INLINE void convolve_step(const uint32_t* const* from, const ConvolveBlock& block, size_t i,
                              uint8_t* out) {
  const hn::ScalableTag<int32_t> d32;
  const hn::Repartition<int16_t, decltype(d32)> d16;
  const hn::Rebind<uint8_t, decltype(d32)> d8;
  const hn::RebindToUnsigned<decltype(d32)> du32;
  const size_t lanes = hn::Lanes(d32);
  auto a0 = hn::Zero(d32), a1 = a0, a2 = a0, a3 = a0;
  auto h0 = a0, h1 = a0, h2 = a0, h3 = a0;
  for (int t = 0; t < block.taps_count; ++t) {
    const uint32_t* p = from[t] + i;
    const auto load = [&](size_t k) { return hn::BitCast(d16, hn::LoadU(du32, p + k * lanes)); };
    const auto v0 = load(0), v1 = load(1), v2 = load(2), v3 = load(3);
    const auto low = hn::BitCast(d16, hn::Set(du32, block.taps[t].low));
    a0 = hn::Add(a0, pair_dot(d32, v0, low)), a1 = hn::Add(a1, pair_dot(d32, v1, low));
    a2 = hn::Add(a2, pair_dot(d32, v2, low)), a3 = hn::Add(a3, pair_dot(d32, v3, low));
    if constexpr (kWide) {
      const auto high = hn::BitCast(d16, hn::Set(du32, block.taps[t].high));
      h0 = hn::Add(h0, pair_dot(d32, v0, high)), h1 = hn::Add(h1, pair_dot(d32, v1, high));
      h2 = hn::Add(h2, pair_dot(d32, v2, high)), h3 = hn::Add(h3, pair_dot(d32, v3, high));
    }
  }
  const auto bias = hn::Set(d32, block.bias), white = hn::Set(d32, 255);
  const auto store = [&](auto sum, auto high, size_t k) {
    if constexpr (kWide) sum = hn::Add(sum, hn::ShiftLeft<15>(high));
    const auto v = hn::ShiftRightSame(hn::Add(sum, bias), block.shift);
    const auto clamped = hn::Min(hn::Max(v, hn::Zero(d32)), white);
    hn::StoreU(hn::DemoteTo(d8, hn::Min(hn::ShiftLeftSame(clamped, block.up), white)), d8, out + k * lanes);
  };
  store(a0, h0, 0), store(a1, h1, 1), store(a2, h2, 2), store(a3, h3, 3);
}

/// Computes `n` values. Reads and ignores up to 64 words beyond the rows.
void convolve_row(const uint32_t* const* from, const ConvolveBlock& block, uint8_t* out, size_t n) {
  const size_t step = 4 * hn::Lanes(hn::ScalableTag<int32_t>());
  const auto run = block.wide ? convolve_step<true> : convolve_step<false>;
  size_t i = 0;
  for (; i + step <= n; i += step) run(from, block, i, out + i);
  if (i < n) {
    uint8_t last[256];
    run(from, block, i, last);
    for (size_t k = 0; i + k < n; ++k) out[i + k] = last[k];
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(convolve_interleave);
HWY_EXPORT(convolve_row);

namespace {

/// Maximum bytes of a column chunk, small enough that the ring of row pairs fits in the L2 cache.
constexpr int kChunk = 2048;

/// Private memory of a worker.
struct ConvolveWorker {
  /// Bytes of both borders of an RGBA row.
  static constexpr size_t borders = 4 * (kConvolveMaxSide - 1);
  /// Number of values in a row of a chunk, with its borders and padding for whole vectors.
  static constexpr size_t row_values = (kChunk + borders + 64 + 15) / 16 * 16;
  uint32_t ring[kConvolveMaxSide][row_values];  ///< ring of row pairs
  uint8_t rows[2][row_values];
};

/// Filters column chunk [x0, x1) of a band.
void run_chunk(const PassArgs& args, const ConvolveBlock& block, Band band, int x0, int x1) {
  const ConstImageRef in = args.in[0];
  const int ch = in.channels(), rx = block.cols / 2, ry = block.rows / 2;
  const auto interleave = HWY_DYNAMIC_DISPATCH(convolve_interleave);
  const auto row = HWY_DYNAMIC_DISPATCH(convolve_row);
  auto& worker = *reinterpret_cast<ConvolveWorker*>(args.worker);
  uint8_t *above = worker.rows[0], *at = worker.rows[1];
  const auto slot = [&](int y) { return worker.ring[(y + 16 * block.rows) % block.rows]; };
  const size_t values = static_cast<size_t>((x1 - x0) * ch),
               padded = static_cast<size_t>((x1 - x0 + 2 * rx) * ch);
  const uint32_t* from[kConvolvePairs * kConvolveMaxSide];

  for (int y = band.begin - ry; y < band.end + ry; ++y) {
    copy_span(border_row(in, y, block.border), in.width(), ch, x0 - rx, x1 + rx, block.border, at);
    // The upper row of the first pair has weight 0, so its values have no effect.
    interleave(y == band.begin - ry ? at : above, at, slot(y), padded);
    std::swap(above, at);
    const int target = y - ry;
    if (target < band.begin) continue;
    for (int t = 0; t < block.taps_count; ++t)
      from[t] = slot(target - ry + block.taps[t].row) + block.taps[t].col * ch;
    uint8_t* const out = args.out.row(target) + x0 * ch;
    row(from, block, out, values);
    if (ch == 4) keep_alpha(in.row(target) + x0 * ch, out, values);
  }
}

}  // namespace

FilterSchema Convolve::make_schema() {
  Schema<ConvolveParams> schema(
      "convolve", "correlation with a custom kernel, a preset, or several kernels composed into one");
  // If `compose` is set, a change of `kernel` needs a new plan, because the composition may become too large.
  schema
      .matrix("kernel", &ConvolveParams::kernel, kConvolveMaxSide, "rows of weights; odd height and width",
              {.plan_if = "compose"})
      .choice("preset", &ConvolveParams::preset,
              {"custom", "identity", "box", "sharpen", "emboss", "edge", "laplacian", "sobel_x", "sobel_y",
               "gaussian"},
              "a predefined kernel; custom means `kernel`")
      .text("compose", &ConvolveParams::compose,
            "kernels convolved into one, such as [gaussian(1.2), sharpen]; overrides `kernel` and `preset`",
            {.change = ParamChange::reconfigure})
      .boolean("normalize", &ConvolveParams::normalize, "divide by the sum of the weights unless it is 0")
      .real("bias", &ConvolveParams::bias, -255, 255, "added to the result; 128 shows negative values");
  return add_border(schema, &ConvolveParams::border).build();
}

Layout Convolve::configure(const FilterInputs& inputs) {
  std::string problem;
  const Matrix kernel = convolve_kernel(params_, &problem);
  if (!problem.empty()) throw Error(ExitCode::invalid_config, "convolve", problem);
#if LENSD_CUDA
  if (inputs.backend == Backend::cuda) prepare_kernels();
#endif
  Layout layout = single_pass(inputs.images[0], {.operations = 2.0 * kernel.rows * kernel.cols});
  layout.passes[0].grain = 16;
  const bool deep = sample_bytes(inputs.images[0].format) == 2;
  layout.worker_bytes = deep ? deep_worker_bytes() : sizeof(ConvolveWorker);
  return layout;
}

void Convolve::apply(const PassArgs& args, Band band) const {
  if (args.in[0].is_deep()) return apply_deep(args, band);
  const int width = args.out.width(), step = kChunk / args.out.channels();
  for (int x = 0; x < width; x += step) run_chunk(args, block_of(args), band, x, std::min(x + step, width));
}

void Convolve::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const ConvolveBlock b = ConvolveBlock::make(params_);
  run.out = in;
  for_each_sample(in.format.extent, colour_channels(in.format.format), [&](int x, int y, int c) {
    if (in.is_deep()) {
      const float deep_sum = deep_convolve_sum(b, [&](int col, int row) {
        const int sx = border_index(x + col - b.cols / 2, in.width(), b.border);
        const int sy = border_index(y + row - b.rows / 2, in.height(), b.border);
        return sx < 0 || sy < 0 ? 0.f : static_cast<float>(in.sample(sx, sy, c));
      });
      run.out.set_sample(x, y, c, to_deep_sample(deep_sum));
      return;
    }
    int32_t sum = 0;
    for (int j = 0; j < b.rows; ++j)
      for (int i = 0; i < b.cols; ++i) {
        const int sx = border_index(x + i - b.cols / 2, in.width(), b.border);
        const int sy = border_index(y + j - b.rows / 2, in.height(), b.border);
        if (sx >= 0 && sy >= 0) sum += b.weights[j * b.cols + i] * in.at(sx, sy, c);
      }
    run.out.at(x, y, c) = convolve_value(sum, b.bias, b.shift, b.up);
  });
}

}  // namespace lensd
#endif
