#include "kernels/invert/invert.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/invert/invert.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// out = in XOR the repeated 4-byte mask, over `bytes` bytes.
void invert_row(const uint8_t* in, uint8_t* out, size_t bytes, uint32_t mask) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const auto flip = hn::BitCast(d8, hn::Set(d32, mask));
  const size_t lanes = hn::Lanes(d8);
  size_t x = 0;
  for (; x + lanes <= bytes; x += lanes) hn::StoreU(hn::Xor(hn::LoadU(d8, in + x), flip), d8, out + x);
  for (; x < bytes; ++x) out[x] = static_cast<uint8_t>(in[x] ^ (mask >> (x % 4 * 8)));
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(invert_row);

FilterSchema Invert::make_schema() {
  return Schema<InvertParams>("invert", "photographic negative: 255 minus each colour channel").build();
}

Layout Invert::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const double bytes = 2.0 * static_cast<double>(format.row_bytes()) * format.extent.height;
  return {.output = format,
          .passes = {{.name = "invert",
                      .items = format.extent.height,
                      .grain = 8,
                      .bytes = bytes,
                      .operations = bytes / 2}},
          .scratch_bytes = {}};
}

void Invert::run(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const auto row = &HWY_DYNAMIC_DISPATCH(invert_row);
  for (int y = band.begin; y < band.end; ++y)
    row(in.row(y), args.out.row(y), in.row_bytes(), invert_mask(in.format.format));
}

void Invert::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  run.out = Image(in.format);
  for (int y = 0; y < in.height(); ++y)
    for (int x = 0; x < in.width(); ++x)
      for (int c = 0; c < in.channels(); ++c)
        run.out.at(x, y, c) = static_cast<uint8_t>(c == 3 ? in.at(x, y, c) : 255 - in.at(x, y, c));
}

}  // namespace lensd
#endif
