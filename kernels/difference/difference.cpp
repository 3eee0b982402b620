#include "kernels/difference/difference.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/difference/difference.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
#include "kernels/common/combine_rows-inl.hpp"

/// Computes amplified_difference() of each byte. `colour` is a mask that repeats every 4 bytes; bytes outside
/// it are copied from `a`.
void difference_row(const uint8_t* a, const uint8_t* b, uint8_t* out, size_t bytes, uint32_t gain_q8,
                    uint32_t colour) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint16_t, decltype(d8)> d16;
  const auto gain = hn::Set(d16, static_cast<uint16_t>(gain_q8));
  const auto half = hn::Set(d16, 128), low_byte = hn::Set(d16, 0xff);
  // d·gain can exceed 16 bits: the result is 255 if the upper half of the product is not 0.
  const auto amplify = [&](auto d) {
    const auto beyond = hn::VecFromMask(d16, hn::Ne(hn::MulHigh(d, gain), hn::Zero(d16)));
    return hn::ShiftRight<8>(hn::SaturatedAdd(hn::Or(hn::Mul(d, gain), beyond), half));
  };
  combine_rows(
      a, b, out, bytes, colour,
      [&](auto va, auto vb) {
        const auto d = hn::BitCast(d16, hn::Or(hn::SaturatedSub(va, vb), hn::SaturatedSub(vb, va)));
        const auto even = amplify(hn::And(d, low_byte)), odd = amplify(hn::ShiftRight<8>(d));
        return hn::BitCast(d8, hn::Or(even, hn::ShiftLeft<8>(odd)));
      },
      [&](uint8_t p, uint8_t q) { return amplified_difference(p, q, gain_q8); });
}

/// Computes amplified_difference() of `n` 16-bit samples; `colour` repeats every 4 samples. The product
/// d·gain has up to 30 bits. The result is 1/256 of it, rounded and clamped to 65535.
void difference_deep_row(const uint16_t* a, const uint16_t* b, uint16_t* out, size_t n, uint32_t gain_q8,
                         uint64_t colour) {
  const hn::ScalableTag<uint16_t> d16;
  const auto gain = hn::Set(d16, static_cast<uint16_t>(gain_q8)), most_high = hn::Set(d16, 255);
  const auto one = hn::Set(d16, 1);
  combine_rows(
      a, b, out, n, colour,
      [&](auto va, auto vb) {
        const auto d = hn::Or(hn::SaturatedSub(va, vb), hn::SaturatedSub(vb, va));
        const auto low = hn::Mul(d, gain), high = hn::MulHigh(d, gain);
        const auto beyond = hn::VecFromMask(d16, hn::Gt(high, most_high));
        const auto floor = hn::Or(hn::Or(hn::ShiftLeft<8>(high), hn::ShiftRight<8>(low)), beyond);
        return hn::SaturatedAdd(floor, hn::And(hn::ShiftRight<7>(low), one));
      },
      [&](uint16_t p, uint16_t q) { return amplified_difference(p, q, gain_q8, 65535); });
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(difference_row);
HWY_EXPORT(difference_deep_row);

FilterSchema Difference::make_schema() {
  return Schema<DifferenceParams>("difference", "difference from a second input, or from the previous frame")
      .real("gain", &DifferenceParams::gain, 0, 64, "multiplies the difference")
      .build();
}

Layout Difference::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const bool two = inputs.images.size() > 1;
  Layout layout = single_pass(format, {.bytes = two ? 3.0 : 4.0, .operations = 3});
  if (!two) layout.state_bytes = state_pitch(format) * static_cast<size_t>(format.extent.height);
  return layout;
}

void Difference::apply_deep(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const uint32_t gain = block_of(args).gain_q8;
  const uint64_t colour = in.channels() == 1 ? ~uint64_t{0} : ~uint64_t{0} >> 16;
  const size_t pitch = state_pitch(in.format);
  const StatePair<uint8_t> state = args.state_of<uint8_t>();
  const bool two = args.in.size() > 1, first = args.frame->reset != 0;
  const auto row = &HWY_DYNAMIC_DISPATCH(difference_deep_row);
  for (int y = band.begin; y < band.end; ++y) {
    const size_t offset = pitch * static_cast<size_t>(y);
    const uint8_t* const before = two ? args.in[1].row(y) : first ? in.row(y) : state.before() + offset;
    row(in.samples<uint16_t>(y), reinterpret_cast<const uint16_t*>(before), args.out.samples<uint16_t>(y),
        in.format.row_samples(), gain, colour);
    if (!two) std::memcpy(state.after() + offset, in.row(y), in.row_bytes());
  }
}

void Difference::apply(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  if (in.is_deep()) return apply_deep(args, band);
  const size_t bytes = in.row_bytes(), pitch = state_pitch(in.format);
  const uint32_t gain = block_of(args).gain_q8;
  const uint32_t colour = colour_bits(in.format.format);
  const StatePair<uint8_t> state = args.state_of<uint8_t>();
  const bool first = args.frame->reset != 0;
  const auto row = &HWY_DYNAMIC_DISPATCH(difference_row);
  for (int y = band.begin; y < band.end; ++y) {
    if (args.in.size() > 1) {
      row(in.row(y), args.in[1].row(y), args.out.row(y), bytes, gain, colour);
      continue;
    }
    const size_t offset = pitch * static_cast<size_t>(y);
    row(in.row(y), first ? in.row(y) : state.before() + offset, args.out.row(y), bytes, gain, colour);
    std::memcpy(state.after() + offset, in.row(y), bytes);
  }
}

void Difference::reference(ReferenceRun& run) const {
  const Image& a = run.in[0];
  const bool two = run.in.size() > 1, first = run.state.empty();
  const uint32_t gain = DifferenceBlock::make(params_).gain_q8;
  run.out = a;
  Image before = two ? run.in[1] : a;
  if (!two && !first) before.pixels = run.state;
  const int most = max_sample(a.format.format);
  for_each_sample(a.format.extent, colour_channels(a.format.format), [&](int x, int y, int c) {
    const int64_t distance = std::abs(a.sample(x, y, c) - before.sample(x, y, c));
    run.out.set_sample(x, y, c, static_cast<int>(std::min<int64_t>(most, (distance * gain + 128) / 256)));
  });
  if (!two) run.state = a.pixels;
}

}  // namespace lensd
#endif
