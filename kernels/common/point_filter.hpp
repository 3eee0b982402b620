// Filters whose output sample depends only on the same input sample.
//
//   struct Invert : PointFilter<Invert, InvertParams> {
//     static FilterSchema make_schema();
//     static LENSD_HD int value(const Block&, int v, int max) { return max - v; }
//   };
//
// Both backends and the oracle call value(). `v` is in [0, max], where `max` is 255 or 65535; the result is
// clamped to that range. Alpha passes through. `Block` is the third template argument; by default it contains
// the parameters.
//
// A filter may add `four(const Block&, auto& word)`, which does the same for the four bytes of a word with
// max = 255, if that is faster.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels/common/single_pass.hpp"
#include "kernels/common/vectorised.hpp"

namespace lensd {

/// Applies value() to the four samples of a word.
template <class F>
LENSD_HD uint32_t four_values(const typename F::Block& block, uint32_t word) {
  if constexpr (requires { F::four(block, word); }) {
    F::four(block, word);
    return word;
  } else {
    uint32_t result = 0;
    for (int shift = 0; shift < 32; shift += 8) {
      const int v = static_cast<int>(word >> shift & 255);
      result |= static_cast<uint32_t>(clamp_to_byte(F::value(block, v, 255))) << shift;
    }
    return result;
  }
}

template <class Self, class P, class B = ParamsBlock<P>>
class PointFilter : public SinglePass<Self, P, B> {
 public:
  void apply(const PassArgs& args, Band band) const {
    vectorised([&args, band] {
      const B block = PointFilter::block_of(args);  // a copy, so that stores to `out` cannot change it
      const ConstImageRef in = args.in[0];
      for (int y = band.begin; y < band.end && in.is_deep(); ++y)
        deep_row(block, in.samples<uint16_t>(y), args.out.template samples<uint16_t>(y),
                 static_cast<int>(in.format.row_samples()), in.channels() == 4);
      for (int y = band.begin; y < band.end && !in.is_deep(); ++y)
        point_row(block, in.row(y), args.out.row(y), in.row_bytes(), colour_bits(in.format.format));
    });
  }
  void launch_apply(const PassArgs& args, CudaStream stream) const { launch_filter<Self>(args, stream); }

  void reference(ReferenceRun& run) const override {
    const B block = B::make(this->params_);
    const int colours = colour_channels(run.in[0].format.format);
    run.out = run.in[0];
    const int most = max_sample(run.out.format.format);
    for_each_sample(run.out.format.extent, colours, [&](int x, int y, int c) {
      const int value = Self::value(block, run.out.sample(x, y, c), most);
      run.out.set_sample(x, y, c, std::clamp(value, 0, most));
    });
  }

 private:
  /// Filters a row of 16-bit samples.
  static void deep_row(const B& block, const uint16_t* __restrict in, uint16_t* __restrict out, int n,
                       bool rgba) {
#ifndef __CUDACC__  // host code: nvcc need not parse the loops
    constexpr int kStep = 32;
    uint16_t is_colour[kStep];
    for (int i = 0; i < kStep; ++i) is_colour[i] = rgba && i % 4 == 3 ? 0 : 65535;
    int x = 0;
    for (; x + kStep <= n; x += kStep)
      for (int i = 0; i < kStep; ++i) {
        const auto v = static_cast<uint16_t>(clamp_to(65535, Self::value(block, in[x + i], 65535)));
        out[x + i] = static_cast<uint16_t>((v & is_colour[i]) | (in[x + i] & ~is_colour[i]));
      }
    for (; x < n; ++x)
      out[x] = rgba && x % 4 == 3 ? in[x]
                                  : static_cast<uint16_t>(clamp_to(65535, Self::value(block, in[x], 65535)));
#endif
  }

  /// Filters a row of 8-bit samples. `colour` is a mask that repeats every 4 bytes; bytes outside it pass
  /// through.
  static void point_row(const B& block, const uint8_t* __restrict in, uint8_t* __restrict out, size_t bytes,
                        uint32_t colour) {
#ifndef __CUDACC__  // host code: nvcc need not parse the loops
    const int n = static_cast<int>(bytes);
    int x = 0;
    if constexpr (requires { Self::four(block, colour); }) {
      for (; x + 4 <= n; x += 4) {
        uint32_t from, word;
        std::memcpy(&from, in + x, 4);
        word = from;
        Self::four(block, word);
        word = (word & colour) | (from & ~colour);
        std::memcpy(out + x, &word, 4);
      }
    } else {
      constexpr int kStep = 64;
      uint8_t is_colour[kStep];
      for (int i = 0; i < kStep; ++i) is_colour[i] = is_colour_byte(colour, i) ? 255 : 0;
      for (; x + kStep <= n; x += kStep)
        for (int i = 0; i < kStep; ++i) {
          const uint8_t v = clamp_to_byte(Self::value(block, in[x + i], 255));
          out[x + i] = static_cast<uint8_t>((v & is_colour[i]) | (in[x + i] & ~is_colour[i]));
        }
    }
    for (; x < n; ++x)
      out[x] = is_colour_byte(colour, x) ? clamp_to_byte(Self::value(block, in[x], 255)) : in[x];
#endif
  }
};

}  // namespace lensd
