#include "kernels/levels/levels.hpp"

#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/levels/levels.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/luma_lanes-inl.hpp"

/// Applies the saturation to a row of RGBA pixels in place.
void saturate_row(uint8_t* row, size_t width, int saturation_q10) {
  const hn::ScalableTag<int16_t> d16;
  const hn::RebindToUnsigned<decltype(d16)> du16;
  const hn::Rebind<uint8_t, decltype(d16)> d8;
  const auto factor = hn::Set(d16, static_cast<int16_t>(saturation_q10));
  size_t x = 0;
  for (; x + hn::Lanes(d16) <= width; x += hn::Lanes(d16)) {
    hn::Vec<decltype(d8)> r, g, b, a;
    hn::LoadInterleaved4(d8, row + 4 * x, r, g, b, a);
    const auto luma = hn::BitCast(d16, luma_lanes(du16, r, g, b));
    // (32·difference · factor + 2^14) >> 15 equals (difference · factor + 512) >> 10.
    const auto move = [&](auto v) {
      const auto difference = hn::ShiftLeft<5>(hn::Sub(hn::PromoteTo(d16, v), luma));
      return hn::DemoteTo(d8, hn::Add(luma, hn::MulFixedPoint15(difference, factor)));
    };
    hn::StoreInterleaved4(move(r), move(g), move(b), a, d8, row + 4 * x);
  }
  for (; x < width; ++x) {
    uint8_t* p = row + 4 * x;
    const int luma = luma_q8(p[0], p[1], p[2]);
    for (int c = 0; c < 3; ++c) p[c] = saturated(p[c], luma, saturation_q10);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(saturate_row);

FilterSchema Levels::make_schema() {
  using P = LevelsParams;
  return Schema<P>("levels", "black and white points, gamma, contrast, brightness, saturation")
      .real("brightness", &P::brightness, -1, 1, "added to every channel, as a fraction of full scale")
      .real("contrast", &P::contrast, 0, 4, "stretches values away from mid-gray")
      .real("gamma", &P::gamma, 0.1, 10, "above 1 lightens the middle tones", {.widget = Widget::log_slider})
      .real("saturation", &P::saturation, 0, 4, "0 removes all colour, above 1 increases it")
      .real("black", &P::black, 0, 255, "value that becomes black")
      .real("white", &P::white, 0, 255, "value that becomes white; below `black` gives a negative")
      .build();
}

Layout Levels::configure(const FilterInputs& inputs) {
  deep_ = sample_bytes(inputs.images[0].format) == 2;
#if LENSD_CUDA
  if (deep_ && inputs.backend == Backend::cuda) prepare_kernels();
#endif
  return SinglePass::configure(inputs);
}

size_t Levels::block_bytes() const {
  return deep_ ? sizeof(DeepLevelsBlock) : sizeof(LevelsBlock);
}

void Levels::fill_block(void* block) const {
  if (!deep_) return FilterBase::fill_block(block);
  auto& deep = *static_cast<DeepLevelsBlock*>(block);
  for (int v = 0; v < 65536; ++v) deep.table[v] = static_cast<uint16_t>(levels_value(params_, v, 65535));
  deep.saturation_q10 = static_cast<int>(std::lround(params_.saturation * 1024));
}

void Levels::apply_deep(const PassArgs& args, Band band) const {
  const auto& block = *static_cast<const DeepLevelsBlock*>(args.block);
  const ConstImageRef in = args.in[0];
  const int width = in.width(), saturation = block.saturation_q10;
  for (int y = band.begin; y < band.end; ++y) {
    const uint16_t* const from = in.samples<uint16_t>(y);
    uint16_t* const to = args.out.samples<uint16_t>(y);
    if (in.channels() == 1) {
      for (int x = 0; x < width; ++x) to[x] = block.table[from[x]];
      continue;
    }
    for (int x = 0; x < width; ++x) {
      int v[3];
      for (int c = 0; c < 3; ++c) v[c] = block.table[from[4 * x + c]];
      const int luma = deep_luma(v[0], v[1], v[2]);
      for (int c = 0; c < 3; ++c)
        to[4 * x + c] =
            static_cast<uint16_t>(saturation == 1024 ? v[c] : deep_saturated(v[c], luma, saturation));
      to[4 * x + 3] = from[4 * x + 3];
    }
  }
}

void Levels::apply(const PassArgs& args, Band band) const {
  if (deep_) return apply_deep(args, band);
  const LevelsBlock& block = block_of(args);
  const ConstImageRef in = args.in[0];
  const bool saturate = !is_gray(in.format.format) && block.saturation_q10 != 1024;
  if (!saturate) return apply_lut(in, args.out, block.tables, band);
  for (int y = band.begin; y < band.end; y += 4) {  // a few rows at a time, so that they stay in the L1 cache
    const Band rows{y, std::min(y + 4, band.end)};
    apply_lut(in, args.out, block.tables, rows);
    for (int row = rows.begin; row < rows.end; ++row) HWY_DYNAMIC_DISPATCH(saturate_row)
    (args.out.row(row), static_cast<size_t>(in.width()), block.saturation_q10);
  }
}

void Levels::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  run.out = in;
  const int saturation = static_cast<int>(std::lround(params_.saturation * 1024));
  const int most = max_sample(in.format.format);
  std::vector<int> values(static_cast<size_t>(most) + 1, -1);  // −1: not computed yet
  const auto value = [&](int v) {
    int& known = values[static_cast<size_t>(v)];
    if (known < 0) known = levels_value(params_, v, most);
    return known;
  };
  for_each_sample(in.format.extent, 1, [&](int x, int y, int) {
    if (in.channels() == 1) {
      run.out.set_sample(x, y, 0, value(in.sample(x, y)));
      return;
    }
    int v[3];
    for (int c = 0; c < 3; ++c) v[c] = value(in.sample(x, y, c));
    const int luma = in.is_deep() ? deep_luma(v[0], v[1], v[2]) : luma_q8(v[0], v[1], v[2]);
    for (int c = 0; c < 3; ++c)
      run.out.set_sample(
          x, y, c, in.is_deep() ? deep_saturated(v[c], luma, saturation) : saturated(v[c], luma, saturation));
  });
}

}  // namespace lensd
#endif
