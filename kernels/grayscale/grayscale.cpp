#include "kernels/grayscale/grayscale.hpp"

#include "kernels/common/copy_rows.hpp"
#include "kernels/common/vectorised.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/grayscale/grayscale.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

/// Computes the luma of a row. A pixel is a 32-bit lane. Its even bytes are the pair (r, b), and its odd
/// bytes are the pair (g, a).
void luma_row(const uint8_t* rgba, uint8_t* gray, size_t pixels, const LumaBlock& w) {
  const hn::ScalableTag<int32_t> d32;
  const hn::RepartitionToNarrow<decltype(d32)> d16;
  const hn::Repartition<uint8_t, decltype(d32)> d8;
  const hn::Rebind<uint8_t, decltype(d32)> d8_quarter;
  const auto weights_rb = hn::BitCast(d16, hn::Set(d32, w.r | w.b << 16));
  const auto weights_g = hn::BitCast(d16, hn::Set(d32, w.g));
  const auto low = hn::Set(d16, int16_t{0xff});
  const auto half = hn::Set(d32, 1 << 14);
  const size_t lanes = hn::Lanes(d32);
  size_t x = 0;
  for (; x + lanes <= pixels; x += lanes) {
    const auto pixel = hn::BitCast(d16, hn::LoadU(d8, rgba + 4 * x));
    const auto rb = hn::And(pixel, low), ga = hn::And(hn::ShiftRight<8>(pixel), low);
    const auto sum = hn::Add(hn::Add(pair_dot(d32, rb, weights_rb), pair_dot(d32, ga, weights_g)), half);
    hn::StoreU(hn::DemoteTo(d8_quarter, hn::ShiftRight<15>(sum)), d8_quarter, gray + x);
  }
  for (; x < pixels; ++x) gray[x] = luma(w, rgba[4 * x], rgba[4 * x + 1], rgba[4 * x + 2]);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(luma_row);

namespace {

void luma16_rows(ConstImageRef rgba, ImageRef gray, Band band, const LumaBlock& weights) {
  vectorised([&rgba, &gray, &weights, band] {
    const LumaBlock w = weights;
    for (int y = band.begin; y < band.end; ++y) {
      const uint16_t* __restrict from = rgba.samples<uint16_t>(y);
      uint16_t* __restrict to = gray.samples<uint16_t>(y);
      const int width = rgba.width();
      for (int x = 0; x < width; ++x) to[x] = luma16(w, from[4 * x], from[4 * x + 1], from[4 * x + 2]);
    }
  });
}

}  // namespace

void luma_rows(ConstImageRef rgba, ImageRef gray, Band band, const LumaBlock& weights) {
  if (rgba.is_deep()) return luma16_rows(rgba, gray, band, weights);
  const auto row = &HWY_DYNAMIC_DISPATCH(luma_row);
  for (int y = band.begin; y < band.end; ++y)
    row(rgba.row(y), gray.row(y), static_cast<size_t>(rgba.width()), weights);
}

Image luma_reference(const Image& rgba, const LumaBlock& weights) {
  Image gray({make_format(true, sample_bytes(rgba.format.format)), rgba.format.extent});
  if (sample_bytes(rgba.format.format) == 2) {
    for_each_sample(rgba.format.extent, 1, [&](int x, int y, int) {
      const auto weighted = [&](float weight, int c) {
        return weight * static_cast<float>(rgba.sample(x, y, c));
      };
      const float sum = weighted(weights.red, 0) + weighted(weights.green, 1) + weighted(weights.blue, 2);
      gray.set_sample(x, y, 0, static_cast<int>(sum + 0.5f));
    });
    return gray;
  }
  for_each_sample(rgba.format.extent, 1, [&](int x, int y, int) {
    const int64_t sum = int64_t{weights.r} * rgba.sample(x, y, 0) +
                        int64_t{weights.g} * rgba.sample(x, y, 1) + int64_t{weights.b} * rgba.sample(x, y, 2);
    gray.set_sample(x, y, 0, static_cast<int>((sum + (1 << 14)) >> 15));
  });
  return gray;
}

FilterSchema Grayscale::make_schema() {
  return Schema<GrayscaleParams>("grayscale", "one grey channel from red, green and blue")
      .choice("weights", &GrayscaleParams::weights, {"bt601", "bt709", "average"},
              "weights of the colours: television (bt601), high definition (bt709) or equal")
      .build();
}

Layout Grayscale::configure(const FilterInputs& inputs) {
  const PixelFormat from = inputs.images[0].format;
  const bool colour = !is_gray(from);
  return single_pass({make_format(true, sample_bytes(from)), inputs.images[0].extent},
                     {.bytes = colour ? 5.0 : 2.0, .operations = colour ? 7.0 : 1.0});
}

void Grayscale::apply(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  in.channels() == 4 ? luma_rows(in, args.out, band, block_of(args)) : copy_rows(in, args.out, band);
}

#if LENSD_CUDA
void Grayscale::launch_apply(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  in.channels() == 4 ? launch_luma(in, args.out, &block_of(args), stream) : launch_copy(in, args.out, stream);
}
#endif

void Grayscale::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  run.out = in.channels() == 4 ? luma_reference(in, LumaBlock::make(params_)) : in;
}

}  // namespace lensd
#endif
