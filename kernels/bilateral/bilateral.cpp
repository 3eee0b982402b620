#include "kernels/bilateral/bilateral.hpp"

#include <cstdlib>
#include <new>
#include <vector>

#include "kernels/bilateral/bilateral_simd.hpp"
#include "kernels/bilateral/deep_bilateral.hpp"
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/row_ring.hpp"

namespace lensd {

FilterSchema Bilateral::make_schema() {
  Schema<BilateralParams> schema(
      "bilateral", "smooths noise but keeps edges: weights fall with distance and difference of value");
  schema
      .real("sigma_space", &BilateralParams::sigma_space, 0.3, 20, "standard deviation in space",
            {.unit = "px", .widget = Widget::log_slider})
      .real("sigma_color", &BilateralParams::sigma_color, 0.3, 255, "standard deviation in value",
            {.widget = Widget::log_slider})
      .integer("radius", &BilateralParams::radius, 0, kBilateralMaxRadius,
               "radius of the disc; 0: 1.5 · sigma_space, at most 10", {.unit = "px", .zero = "from sigma"});
  return add_border(schema, &BilateralParams::border).build();
}

Layout Bilateral::configure(const FilterInputs& inputs) {
  const int r = params_.effective_radius();
  Layout layout = single_pass(inputs.images[0], {.operations = 20.0 * r * r});
  layout.passes[0].grain = 16;
  layout.worker_bytes = sizeof(BilateralRings) + RowRing::bytes(layout.output, kBilateralMaxRadius);
  return layout;
}

void Bilateral::apply(const PassArgs& args, Band band) const {
  const BilateralBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  if (in.is_deep()) return apply_deep(args, band);
  const int ch = in.channels();
  auto& rings = *new (args.worker) BilateralRings;
  rings.make(block);
  RowRing rows(in, block.radius, block.border, args.worker + sizeof(BilateralRings));
  const uint8_t* taps[kBilateralMaxTaps];
  for (int y = band.begin; y < band.end; ++y) {
    rows.move_to(y);
    for (int t = 0; t + 1 < block.taps_count; ++t)  // all taps except the centre
      taps[t] = rows.row(rings.taps[t].y) + rings.taps[t].x * ch;
    uint8_t* const out = args.out.row(y);
    bilateral_row(rows.row(0), taps, block, rings, out, in.row_bytes());
    if (ch == 4) keep_alpha(in.row(y), out, in.row_bytes());
  }
}

void Bilateral::apply_deep(const PassArgs& args, Band band) const {
  const BilateralBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  const int ch = in.channels();
  RowRing rows(in, block.radius, block.border, args.worker);
  const uint16_t* taps[kBilateralMaxTaps];
  for (int y = band.begin; y < band.end; ++y) {
    rows.move_to(y);
    const auto row = [&rows](int dy) { return reinterpret_cast<const uint16_t*>(rows.row(dy)); };
    for (int t = 0; t < block.deep_count; ++t)
      taps[t] = row(block.deep_taps[t].y) + block.deep_taps[t].x * ch;
    uint16_t* const out = args.out.samples<uint16_t>(y);
    deep_bilateral_row(row(0), taps, block, out, in.format.row_samples());
    if (ch == 4) keep_alpha(in.samples<uint16_t>(y), out, in.width());
  }
}

namespace {

/// Returns the filtered 8-bit sample. at(dx, dy) returns the neighbour at this offset.
template <class At>
int reference_mean(const BilateralBlock& b, const At& at) {
  uint32_t sum = 0, weights = 0;
  for (int t = 0; t < b.taps_count; ++t) {
    const int v = at(b.taps[t].x, b.taps[t].y);
    const uint32_t w =
        bilateral_weight(b.taps[t].weight, static_cast<uint32_t>(b.colour[std::abs(v - at(0, 0))]));
    weights += w, sum += w * static_cast<uint32_t>(v);
  }
  return bilateral_mean(sum, weights);
}

/// Returns the filtered 16-bit sample; at() as in reference_mean().
template <class At>
int deep_reference(const BilateralBlock& b, const At& at) {
  const float centre = static_cast<float>(at(0, 0));
  float sum = 0, weights = 1;
  for (int t = 0; t < b.deep_count; ++t) {
    const BilateralBlock::DeepTap& tap = b.deep_taps[t];
    const float d = static_cast<float>(at(tap.x, tap.y)) - centre;
    const float w = deep_bilateral_exp2(d * d * b.deep_colour + tap.space);
    weights += w, sum += w * d;
  }
  return deep_bilateral_mean(centre, sum, weights);
}

}  // namespace

void Bilateral::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const BilateralBlock b = BilateralBlock::make(params_);
  run.out = in;
  const int pitch = in.width() + 2 * b.radius, rows = in.height() + 2 * b.radius;
  std::vector<int> padded(static_cast<size_t>(pitch) *
                          static_cast<size_t>(rows));  // a channel with its border
  for (int c = 0; c < colour_channels(in.format.format); ++c) {
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < pitch; ++x) {
        const int sx = border_index(x - b.radius, in.width(), b.border),
                  sy = border_index(y - b.radius, in.height(), b.border);
        padded[static_cast<size_t>(y * pitch + x)] = sx < 0 || sy < 0 ? 0 : in.sample(sx, sy, c);
      }
    for (int y = 0; y < in.height(); ++y)
      for (int x = 0; x < in.width(); ++x) {
        const int* const centre = padded.data() + (y + b.radius) * pitch + x + b.radius;
        const auto at = [centre, pitch](int dx, int dy) { return centre[dy * pitch + dx]; };
        run.out.set_sample(x, y, c, in.is_deep() ? deep_reference(b, at) : reference_mean(b, at));
      }
  }
}

}  // namespace lensd
