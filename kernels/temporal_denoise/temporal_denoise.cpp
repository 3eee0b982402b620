#include "kernels/temporal_denoise/temporal_denoise.hpp"

#include <cstring>

#include "kernels/common/deep/samples.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/temporal_denoise/temporal_denoise.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Filters `bytes` values of a row. Reads the previous frame's estimates from `before` and writes this
/// frame's to `after`. `known`: 0xffff, or 0 if there is no previous frame. `colour`: mask of the bytes to
/// filter, repeated every 4 bytes; other bytes are copied unchanged.
void denoise_row(const uint8_t* in, uint8_t* out, const uint16_t* before, uint16_t* after, uint16_t known,
                 size_t bytes, TemporalDenoiseBlock block, uint32_t colour) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::RebindToSigned<decltype(d16)> di16;  // DemoteTo needs signed lanes
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const auto is_colour = hn::BitCast(d8, hn::Set(d32, colour));
  const auto base = hn::Set(d16, block.base_q8), slope = hn::Set(d16, block.slope);
  const auto threshold = hn::Set(d16, block.threshold);
  const auto is_known = hn::Set(d16, known);
  const auto none = hn::Zero(d16), one = hn::Set(d16, 1), most = hn::Set(d16, 255), half = hn::Set(d16, 128);
  const size_t lanes = hn::Lanes(d16);
  size_t x = 0;
  for (; x + lanes <= bytes; x += lanes) {
    const auto v = hn::LoadU(d8, in + x);
    const auto now = hn::ShiftLeft<8>(hn::PromoteTo(d16, v));
    const auto stored = hn::And(hn::LoadU(d16, before + x), is_known);
    const auto last = hn::Sub(stored, one);
    const auto distance = hn::Sub(hn::Max(now, last), hn::Min(now, last));
    const auto part = hn::Min(hn::Add(base, hn::MulHigh(distance, slope)), most);
    const auto step = hn::MulHigh(distance, hn::ShiftLeft<8>(part));
    const auto moved = hn::IfThenElse(hn::Gt(now, last), hn::Add(last, step), hn::Sub(last, step));
    const auto rests = hn::And(hn::Lt(distance, threshold), hn::Ne(stored, none));
    const auto estimate = hn::IfThenElse(rests, moved, now);
    hn::StoreU(hn::Add(estimate, one), d16, after + x);
    const auto rounded = hn::DemoteTo(d8, hn::BitCast(di16, hn::ShiftRight<8>(hn::Add(estimate, half))));
    hn::StoreU(hn::Or(hn::And(rounded, is_colour), hn::AndNot(is_colour, v)), d8, out + x);
  }
  for (; x < bytes; ++x) {
    after[x] = static_cast<uint16_t>(next_estimate(before[x] & known, in[x], block));
    out[x] = is_colour_byte(colour, x) ? static_cast<uint8_t>(estimated_value(after[x])) : in[x];
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(denoise_row);

FilterSchema TemporalDenoise::make_schema() {
  using P = TemporalDenoiseParams;
  return Schema<P>("temporal_denoise", "averages over time where nothing moves")
      .real("strength", &P::strength, 0, 0.98, "weight of earlier frames where nothing moves")
      .real("motion_threshold", &P::motion_threshold, 0, 255, "change above which a pixel counts as moving",
            {.unit = "levels"})
      .build();
}

Layout TemporalDenoise::configure(const FilterInputs& inputs) {
  Layout layout = single_pass(inputs.images[0], {.bytes = 6, .operations = 8});
  layout.state_bytes = state_pitch(layout.output) * static_cast<size_t>(layout.output.extent.height);
  return layout;
}

void TemporalDenoise::apply_deep(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const size_t pitch = state_pitch(in.format) / sizeof(uint32_t);
  const StatePair<uint32_t> state = args.state_of<uint32_t>();
  const uint32_t known = args.frame->reset ? 0 : ~0u;
  const TemporalDenoiseBlock block = block_of(args);
  deep_samples(in, args.out, band, [&, pitch, known](int y) {
    const size_t offset = pitch * static_cast<size_t>(y);
    return
        [block, known, before = state.before() + offset, after = state.after() + offset](int i, uint32_t v) {
          after[i] = next_deep_estimate(before[i] & known, v, block);
          return estimated_value(after[i]);
        };
  });
}

void TemporalDenoise::apply(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  if (in.is_deep()) return apply_deep(args, band);
  const size_t pitch = state_pitch(in.format);
  const StatePair<uint16_t> state = args.state_of<uint16_t>();
  const uint16_t known = args.frame->reset ? 0 : 0xffff;
  const auto row = &HWY_DYNAMIC_DISPATCH(denoise_row);
  for (int y = band.begin; y < band.end; ++y) {
    const size_t offset = pitch / 2 * static_cast<size_t>(y);
    row(in.row(y), args.out.row(y), state.before() + offset, state.after() + offset, known, in.row_bytes(),
        block_of(args), colour_bits(in.format.format));
  }
}

void TemporalDenoise::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const TemporalDenoiseBlock block = TemporalDenoiseBlock::make(params_);
  run.out = in;
  const size_t channels = static_cast<size_t>(in.channels()), width = static_cast<size_t>(in.width());
  run.state.resize(in.pixels.size() / static_cast<size_t>(sample_bytes(in.format.format)) * 4);
  for_each_sample(in.format.extent, colour_channels(in.format.format), [&](int x, int y, int c) {
    const size_t i =
        (static_cast<size_t>(y) * width + static_cast<size_t>(x)) * channels + static_cast<size_t>(c);
    uint32_t kept;
    std::memcpy(&kept, &run.state[4 * i], 4);
    const auto v = static_cast<uint32_t>(in.sample(x, y, c));
    kept = in.is_deep() ? next_deep_estimate(kept, v, block) : next_estimate(kept, v, block);
    std::memcpy(&run.state[4 * i], &kept, 4);
    run.out.set_sample(x, y, c, static_cast<int>(estimated_value(kept)));
  });
}

}  // namespace lensd
#endif
