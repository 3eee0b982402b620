// Filters whose output sample depends on the samples of the same channel around it.
//
//   struct Laplacian : WindowFilter<Laplacian, LaplacianParams, 1> {
//     static FilterSchema make_schema();  // with add_border()
//     static LENSD_HD int value(const Block&, const auto& at, int max) {
//       return at(-1, 0) + at(1, 0) - 2 * at(0, 0);
//     }
//   };
//
// The CPU side, the CUDA side and the oracle call value(). at(dx, dy) is the sample `dx` columns to the right
// and `dy` rows down, each from -kRadius to kRadius, in [0, max]; the parameter `border` defines the samples
// outside the image. The result is limited to [0, max]. Alpha passes through.
#pragma once

#include <utility>

#include "kernels/common/border.hpp"
#include "kernels/common/keep_alpha.hpp"
#include "kernels/common/row_ring.hpp"
#include "kernels/common/single_pass.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {

/// Window around the sample at byte x of row y; `step` is the distance between pixels in bytes.
struct BorderedWindow {
  ImageView<const uint8_t> in;
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
      if (in.channels() == 1) {
        window_row<1>(block, rows, out, in.row_bytes(), Rows());
      } else {
        window_row<4>(block, rows, out, in.row_bytes(), Rows());
        keep_alpha(in.row(y), out, in.row_bytes());
      }
    }
  }
  void launch_apply(const PassArgs& args, CudaStream stream) const { launch_filter<Self>(args, stream); }

  void reference(ReferenceRun& run) const override {
    const Image& in = run.in[0];
    const B block = B::make(this->params_);
    const int step = in.channels(), row_bytes = in.width() * step;
    const ImageView<const uint8_t> view{in.pixels.data(), row_bytes, in.format.extent};
    run.out = in;
    for (int y = 0; y < in.height(); ++y)
      for (int x = 0; x < row_bytes; ++x)
        if (x % step < 3)
          run.out.at(x / step, y, x % step) =
              clamp_to_byte(Self::value(block, BorderedWindow{view, step, x, y, block.border}, 255));
  }

 private:
  template <int kStep, size_t... i>
  static void window_row(const B& block, const uint8_t* const* rows, uint8_t* out, size_t bytes,
                         std::index_sequence<i...>) {
#ifndef __CUDACC__  // host code: nvcc need not parse the loops
    vectorised([=, &block] {
      // copies, so that stores to `out` cannot change them
      const B params = block;
      const uint8_t* const from[] = {rows[i]...};
      const int n = static_cast<int>(bytes);
#pragma GCC ivdep
      for (int x = 0; x < n; ++x) {
        const auto at = [&from, x](int dx, int dy) -> int { return from[dy + kRadius][x + dx * kStep]; };
        out[x] = clamp_to_byte(Self::value(params, at, 255));
      }
    });
#endif
  }
};

}  // namespace lensd
