#include "kernels/convert/convert.hpp"

#include <cmath>

#include "kernels/common/copy_rows.hpp"
#include "kernels/common/vectorised.hpp"
#include "kernels/convert/convert_pixel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/convert/convert.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Writes each grey byte as the word 0xff'gg'gg'gg.
void spread_row(const uint8_t* gray, uint8_t* rgba, size_t pixels) {
  const hn::ScalableTag<uint32_t> d32;
  const hn::Repartition<uint8_t, decltype(d32)> d8;
  const hn::Rebind<uint8_t, decltype(d32)> d8_quarter;
  const auto alpha = hn::Set(d32, 0xff000000u);
  const size_t lanes = hn::Lanes(d32);
  size_t x = 0;
  for (; x + lanes <= pixels; x += lanes) {
    const auto v = hn::PromoteTo(d32, hn::LoadU(d8_quarter, gray + x));
    const auto word = hn::Or(hn::Or(v, hn::ShiftLeft<8>(v)), hn::Or(hn::ShiftLeft<16>(v), alpha));
    hn::StoreU(hn::BitCast(d8, word), d8, rgba + 4 * x);
  }
  for (; x < pixels; ++x) {
    rgba[4 * x] = rgba[4 * x + 1] = rgba[4 * x + 2] = gray[x];
    rgba[4 * x + 3] = 255;
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(spread_row);

FilterSchema Convert::make_schema() {
  return Schema<ConvertParams>(
             "convert",
             "converts between grey and colour, and between 8 and 16 bits, where the next filter needs it")
      .build();
}

namespace {

/// Converts between formats of which at least one has 16 bits per sample.
template <PixelFormat kFrom, PixelFormat kTo>
void convert_rows(ConstImageRef in, ImageRef out, Band band, const LumaBlock& weights) {
  vectorised([&in, &out, &weights, band] {
    const LumaBlock w = weights;
    for (int y = band.begin; y < band.end; ++y) {
      const uint8_t* __restrict from = in.row(y);
      uint8_t* __restrict to = out.row(y);
      const int width = in.width();
      for (int x = 0; x < width; ++x) store_pixel<kFrom, kTo>(to, x, load_pixel<kFrom>(from, x), w);
    }
  });
}

}  // namespace

Layout Convert::configure(const FilterInputs& inputs) {
  const auto bytes = [](PixelFormat format) { return channels(format) * sample_bytes(format); };
  const double ratio = static_cast<double>(bytes(inputs.images[0].format)) / bytes(to_);
  return single_pass({to_, inputs.images[0].extent}, {.bytes = 1 + ratio, .operations = 1 + ratio});
}

void Convert::apply(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  if (in.format.format == to_) {
    copy_rows(in, args.out, band);
  } else if (in.is_deep() || args.out.is_deep()) {
    with_formats(in.format.format, to_, [&]<PixelFormat kFrom, PixelFormat kTo>() {
      convert_rows<kFrom, kTo>(in, args.out, band, block_of(args).weights);
    });
  } else if (to_ == PixelFormat::gray8) {
    luma_rows(in, args.out, band, block_of(args).weights);
  } else {
    const auto row = &HWY_DYNAMIC_DISPATCH(spread_row);
    for (int y = band.begin; y < band.end; ++y)
      row(in.row(y), args.out.row(y), static_cast<size_t>(in.width()));
  }
}

void Convert::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  if (in.format.format == to_) {
    run.out = in;
    return;
  }
  const auto depth_of = [&](const Image& from) {  // returns `from` with the depth of the result
    Image result({make_format(is_gray(from.format.format), sample_bytes(to_)), from.format.extent});
    const double scale = static_cast<double>(max_sample(to_)) / max_sample(from.format.format);
    for_each_sample(from.format.extent, from.channels(), [&](int x, int y, int c) {
      result.set_sample(x, y, c, static_cast<int>(std::floor(from.sample(x, y, c) * scale + 0.5)));
    });
    return result;
  };
  if (is_gray(to_) && in.channels() == 4) {
    const LumaBlock weights = LumaBlock::make(LumaWeights::bt601);
    run.out = in.is_deep() ? depth_of(luma_reference(in, weights)) : luma_reference(depth_of(in), weights);
    return;
  }
  const Image from = depth_of(in);
  run.out = Image({to_, in.format.extent});
  for_each_sample(in.format.extent, run.out.channels(), [&](int x, int y, int c) {
    run.out.set_sample(x, y, c,
                       from.channels() == 4 || c == 0 ? from.sample(x, y, c)
                       : c == 3                       ? max_sample(to_)
                                                      : from.sample(x, y));
  });
}

}  // namespace lensd
#endif
