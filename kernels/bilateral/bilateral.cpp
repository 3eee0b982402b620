#include "kernels/bilateral/bilateral.hpp"

#include <cstdlib>
#include <new>

#include "kernels/bilateral/bilateral_simd.hpp"
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/row_ring.hpp"

namespace lensd {

FilterSchema Bilateral::make_schema() {
  Schema<BilateralParams> schema(
      "bilateral", "smooths but keeps edges: weights fall with distance and difference of value");
  schema
      .real("sigma_space", &BilateralParams::sigma_space, 0.3, 20, "reach in space",
            {.unit = "px", .widget = Widget::log_slider})
      .real("sigma_color", &BilateralParams::sigma_color, 0.3, 255, "reach in value",
            {.widget = Widget::log_slider})
      .integer("radius", &BilateralParams::radius, 0, kBilateralMaxRadius,
               "of the disc; 0 means 1.5 · sigma_space, at most 10", {.unit = "px", .zero = "from sigma"});
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

void Bilateral::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const BilateralBlock b = BilateralBlock::make(params_);
  run.out = in;
  for_each_sample(in.format.extent, colour_channels(in.format.format), [&](int x, int y, int c) {
    uint32_t sum = 0, weights = 0;
    for (int t = 0; t < b.taps_count; ++t) {
      const int sx = border_index(x + b.taps[t].x, in.width(), b.border),
                sy = border_index(y + b.taps[t].y, in.height(), b.border);
      const int v = sx < 0 || sy < 0 ? 0 : in.at(sx, sy, c);
      const uint32_t w =
          bilateral_weight(b.taps[t].weight, static_cast<uint32_t>(b.colour[std::abs(v - in.at(x, y, c))]));
      weights += w, sum += w * static_cast<uint32_t>(v);
    }
    run.out.at(x, y, c) = bilateral_mean(sum, weights);
  });
}

}  // namespace lensd
