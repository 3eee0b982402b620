// Filters whose output sample depends on the samples of the same channel around it.
//
//   struct Laplacian : WindowFilter<Laplacian, LaplacianParams, 1> {
//     static FilterSchema make_schema();  // with add_border()
//     static LENSD_HD int value(const Block&, const auto& at, int max) {
//       return at(-1, 0) + at(1, 0) - 2 * at(0, 0);
//     }
//   };
//
// Both backends and the oracle call value(). at(dx, dy) is the sample `dx` columns to the right and `dy` rows
// down; dx and dy are in [-kRadius, kRadius]. Samples are in [0, max], where `max` is 255 or 65535. The
// parameter `border` defines the samples outside the image. The result is clamped to [0, max]. Alpha passes
// through.
#pragma once

#include <utility>

#include "kernels/common/border/border.hpp"
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/row_ring.hpp"
#include "kernels/common/single_pass.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {

/// Window around sample x of row y; `step` is the distance between pixels in samples of type S.
template <class S>
struct BorderedWindow {
  ImageView<const S> in;
  int step, x, y;
  Border border;

  LENSD_HD int operator()(int dx, int dy) const {
    const int column = border_index(x / step + dx, in.extent.width, border);
    const int row = border_index(y + dy, in.extent.height, border);
    return column < 0 || row < 0 ? 0 : in.row(row)[column * step + x % step];
  }
};

template <class Self, class P, int kRadius, class B = ParamsBlock<P>>
class WindowFilter : public SinglePass<Self, P, B> {
 public:
  static constexpr int radius = kRadius;
  static constexpr PassCost cost{.operations = 2.0 * (2 * kRadius + 1) * (2 * kRadius + 1)};

  Layout configure(const FilterInputs& inputs) override {
    Layout layout = WindowFilter::single_pass(inputs.images[0], Self::cost);
    layout.worker_bytes = RowRing::bytes(layout.output, kRadius);
    return layout;
  }

  void apply(const PassArgs& args, Band band) const {
    const B block = WindowFilter::block_of(args);
    using Rows = std::make_index_sequence<2 * kRadius + 1>;
    const ConstImageRef in = args.in[0];
    RowRing ring(in, kRadius, block.border, args.worker);
    for (int y = band.begin; y < band.end; ++y) {
      ring.move_to(y);
      const uint8_t* rows[2 * kRadius + 1];
      for (int dy = -kRadius; dy <= kRadius; ++dy) rows[dy + kRadius] = ring.row(dy);
      uint8_t* out = args.out.row(y);
      with_sample_type(in.format.format, [&]<class S>() {
        if (in.channels() == 1)
          window_row<S, 1>(block, rows, out, in.format.row_samples(), Rows());
        else
          window_row<S, 4>(block, rows, out, in.format.row_samples(), Rows());
      });
      if (in.channels() == 1) continue;
      if (in.is_deep())
        keep_alpha(in.samples<uint16_t>(y), args.out.template samples<uint16_t>(y), in.width());
      else
        keep_alpha(in.row(y), out, in.row_bytes());
    }
  }
  void launch_apply(const PassArgs& args, CudaStream stream) const { launch_filter<Self>(args, stream); }

  void reference(ReferenceRun& run) const override {
    const Image& in = run.in[0];
    const B block = B::make(this->params_);
    const int most = max_sample(in.format.format);
    run.out = in;
    for_each_sample(in.format.extent, colour_channels(in.format.format), [&](int x, int y, int c) {
      const auto at = [&](int dx, int dy) {
        const int column = border_index(x + dx, in.width(), block.border);
        const int row = border_index(y + dy, in.height(), block.border);
        return column < 0 || row < 0 ? 0 : in.sample(column, row, c);
      };
      run.out.set_sample(x, y, c, clamp_to(most, Self::value(block, at, most)));
    });
  }

 private:
  template <class S, int kStep, size_t... i>
  static void window_row(const B& block, const uint8_t* const* rows, uint8_t* row_out, size_t samples,
                         std::index_sequence<i...>) {
#ifndef __CUDACC__  // host code: nvcc need not parse the loops
    vectorised([=, &block] {
      // Copies, so that stores to `out` cannot change them.
      const B params = block;
      const S* const from[] = {reinterpret_cast<const S*>(rows[i])...};
      S* out = reinterpret_cast<S*>(row_out);
      const int n = static_cast<int>(samples);
#pragma GCC ivdep
      for (int x = 0; x < n; ++x) {
        const auto at = [&from, x](int dx, int dy) -> int { return from[dy + kRadius][x + dx * kStep]; };
        out[x] = static_cast<S>(clamp_to(kWhite<S>, Self::value(params, at, kWhite<S>)));
      }
    });
#endif
  }
};

}  // namespace lensd
