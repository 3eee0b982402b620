#include "kernels/convert/convert.hpp"

#include "kernels/common/copy_rows.hpp"

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
  return Schema<ConvertParams>("convert", "between grey and colour, where the next filter needs it").build();
}

Layout Convert::configure(const FilterInputs& inputs) {
  const double ratio = static_cast<double>(channels(inputs.images[0].format)) / channels(to_);
  return single_pass({to_, inputs.images[0].extent}, {.bytes = 1 + ratio, .operations = 1 + ratio});
}

void Convert::apply(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  if (in.format.format == to_) {
    copy_rows(in, args.out, band);
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
  } else if (to_ == PixelFormat::gray8) {
    run.out = luma_reference(in, LumaBlock::make(LumaWeights::bt601));
  } else {
    run.out = Image({PixelFormat::rgba8, in.format.extent});
    for_each_sample(in.format.extent, 4,
                    [&](int x, int y, int c) { run.out.at(x, y, c) = c == 3 ? uint8_t{255} : in.at(x, y); });
  }
}

}  // namespace lensd
#endif
