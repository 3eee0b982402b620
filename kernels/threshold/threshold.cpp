#include "kernels/threshold/threshold.hpp"

#include <algorithm>
#include <vector>

#include "kernels/common/deep/samples.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/threshold/threshold.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Applies the thresholds to a row. `levels` and `colour` repeat every 4 bytes; bytes outside `colour` pass
/// through.
void threshold_row(const uint8_t* in, uint8_t* out, size_t bytes, uint32_t levels, uint32_t colour) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const auto level = hn::BitCast(d8, hn::Set(d32, levels));
  const auto is_colour = hn::BitCast(d8, hn::Set(d32, colour));
  const size_t lanes = hn::Lanes(d8);
  size_t x = 0;
  for (; x + lanes <= bytes; x += lanes) {
    const auto v = hn::LoadU(d8, in + x);
    const auto binary = hn::VecFromMask(d8, hn::Gt(v, level));
    hn::StoreU(hn::Or(hn::And(binary, is_colour), hn::AndNot(is_colour, v)), d8, out + x);
  }
  for (; x < bytes; ++x) {
    const uint8_t binary = in[x] > (levels >> (x % 4 * 8) & 255) ? 255 : 0;
    out[x] = is_colour_byte(colour, x) ? binary : in[x];
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(threshold_row);

FilterSchema Threshold::make_schema() {
  using P = ThresholdParams;
  return Schema<P>("threshold", "255 where a channel is above the level, 0 elsewhere")
      .real("level", &P::level, 0, 255, "highest value that becomes 0")
      .boolean("otsu", &P::otsu, "take each channel's level from the frame's histogram, by Otsu's method",
               {.change = ParamChange::reconfigure})
      .build();
}

Layout Threshold::configure(const FilterInputs& inputs) {
  const ImageFormat format = inputs.images[0];
  const int height = format.extent.height;
  const double bytes = static_cast<double>(format.row_bytes()) * height;
  otsu_ = params_.otsu;
  Layout layout{.output = format, .scratch_bytes = {}, .stats_bytes = sizeof(ThresholdStats)};
  if (otsu_ && sample_bytes(format.format) == 2) {
    const auto channels = static_cast<size_t>(colour_channels(format.format));
    layout.passes = deep_otsu_passes(format);
    layout.scratch_bytes = {channels * kOtsuValues * sizeof(uint32_t)};
    layout.worker_bytes = kOtsuTables * kOtsuValues * sizeof(uint32_t);
    layout.stats_bytes = sizeof(DeepThresholdStats);
  } else if (otsu_) {
    layout.passes = {{.name = "histogram",
                      .run = cpu_pass<&Threshold::count>,
                      .launch = cuda_pass<&Threshold::launch_count>,
                      .items = height,
                      .grain = tally_grain(format.extent),
                      .bytes = bytes,
                      .operations = bytes},
                     {.name = "otsu",
                      .run = cpu_pass<&Threshold::choose_level>,
                      .launch = cuda_pass<&Threshold::launch_choose_level>,
                      .bytes = sizeof(Histogram),
                      .operations = 256 * 16}};
  }
  layout.passes.push_back({.name = "threshold",
                           .run = cpu_pass<&Threshold::apply>,
                           .launch = cuda_pass<&Threshold::launch_apply>,
                           .items = height,
                           .grain = 8,
                           .bytes = 2 * bytes,
                           .operations = bytes});
  return layout;
}

void Threshold::count(const PassArgs& args, Band band) const {
  add_tally(args.in[0], band, static_cast<ThresholdStats*>(args.stats)->histogram);
}

void Threshold::choose_level(const PassArgs& args, Band) const {
  const ConstImageRef in = args.in[0];
  auto& stats = *static_cast<ThresholdStats*>(args.stats);
  const double pixels = static_cast<double>(in.width()) * in.height();
  stats.describe(in.channels() == 1, false);
  for (uint32_t c = 0; c < stats.channels; ++c) stats.level[c] = otsu_level(stats.histogram.count[c], pixels);
}

void Threshold::apply_deep(const PassArgs& args, Band band, const uint32_t* level) const {
  const bool gray = is_gray(args.in[0].format.format);
  uint32_t levels[kDeepLanes];
  for (int k = 0; k < kDeepLanes; ++k) levels[k] = level[gray || k % 4 == 3 ? 0 : k % 4];
  deep_values(args.in[0], args.out, band, [&levels](int k, uint32_t v) { return v > levels[k] ? 65535 : 0; });
}

void Threshold::apply(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  auto& stats = *static_cast<ThresholdStats*>(args.stats);
  const auto colours = static_cast<uint32_t>(colour_channels(in.format.format));
  uint32_t level[3];
  std::fill_n(level, 3, in.is_deep() ? block_of(args).deep : block_of(args).level);
  if (otsu_) std::copy_n(stats.level, colours, level);
  if (!otsu_ && band.begin == 0)
    stats.describe(colours == 1, in.is_deep()), std::copy_n(level, colours, stats.level);
  if (in.is_deep()) return apply_deep(args, band, level);
  const bool gray = colours == 1;
  const uint32_t levels = gray ? level[0] * 0x01010101u : level[0] | level[1] << 8 | level[2] << 16;
  const auto row = &HWY_DYNAMIC_DISPATCH(threshold_row);
  for (int y = band.begin; y < band.end; ++y)
    row(in.row(y), args.out.row(y), in.row_bytes(), levels, colour_bits(in.format.format));
}

void Threshold::read_stats(const void* stats, std::vector<Statistic>& out) const {
  const auto& s = *static_cast<const ThresholdStats*>(stats);
  for (uint32_t c = 0; c < s.channels; ++c)
    out.push_back({channel_statistic("level", static_cast<int>(c), static_cast<int>(s.channels)),
                   static_cast<double>(s.level[c]) / s.unit});
}

void Threshold::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  run.out = in;
  run.stats.clear();
  const int colours = colour_channels(in.format.format), most = max_sample(in.format.format);
  const ThresholdBlock fixed = ThresholdBlock::make(params_);
  for (int c = 0; c < colours; ++c) {
    std::vector<uint32_t> count(static_cast<size_t>(most) + 1);
    for_each_sample(in.format.extent, 1,
                    [&](int x, int y, int) { ++count[static_cast<size_t>(in.sample(x, y, c))]; });
    const double pixels = static_cast<double>(in.width()) * in.height();
    const bool deep = in.is_deep();
    const uint32_t otsu = !params_.otsu ? 0
                          : deep        ? deep_otsu_level(count.data())
                                        : otsu_level(count.data(), pixels);
    const int level = static_cast<int>(params_.otsu ? otsu : deep ? fixed.deep : fixed.level);
    for_each_sample(in.format.extent, 1, [&](int x, int y, int) {
      run.out.set_sample(x, y, c, in.sample(x, y, c) > level ? most : 0);
    });
    run.stats.push_back({channel_statistic("level", c, colours), level / (deep ? 257. : 1.)});
  }
}

}  // namespace lensd
#endif
