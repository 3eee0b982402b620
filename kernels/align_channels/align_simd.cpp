// The passes of align_channels on the CPU.
#include <atomic>
#include <cstring>

#include "kernels/align_channels/align_channels.hpp"
#include "kernels/common/samples.hpp"
#include "kernels/resize/deep_resize_simd.hpp"
#include "kernels/resize/resize_simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/align_channels/align_simd.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#include "kernels/common/pair_dot-inl.hpp"

template <class Sample>
int split_vectors(const Sample* in, int width, Sample* r, Sample* g, Sample* b) {
  const hn::ScalableTag<Sample> d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + lanes <= width; x += lanes) {
    hn::Vec<decltype(d)> red, green, blue, alpha;
    hn::LoadInterleaved4(d, in + std::ptrdiff_t{x} * 4, red, green, blue, alpha);
    hn::StoreU(red, d, r + x), hn::StoreU(green, d, g + x), hn::StoreU(blue, d, b + x);
  }
  return x;
}

int split_row(const uint8_t* in, int width, uint8_t* r, uint8_t* g, uint8_t* b) {
  return split_vectors(in, width, r, g, b);
}
int split_deep_row(const uint16_t* in, int width, uint16_t* r, uint16_t* g, uint16_t* b) {
  return split_vectors(in, width, r, g, b);
}

/// Adds Σc, Σc² and Σg·c of the samples in whole vectors to `sums`. Returns the number of these samples. `n`
/// is at most 16384.
int add_row(const uint8_t* g, const uint8_t* c, int n, AlignSums& sums) {
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<int16_t, decltype(d8)> d16;
  const hn::Repartition<int32_t, decltype(d8)> d32;
  const hn::Repartition<uint64_t, decltype(d8)> d64;
  const int lanes = static_cast<int>(hn::Lanes(d8));
  const auto zero = hn::Zero(d8);
  int x = 0;
  const auto low = [&](auto v) HWY_ATTR { return hn::BitCast(d16, hn::InterleaveLower(d8, v, zero)); };
  const auto high = [&](auto v) HWY_ATTR { return hn::BitCast(d16, hn::InterleaveUpper(d8, v, zero)); };
  auto value = hn::Zero(d64);
  auto square = hn::Zero(d32), product = hn::Zero(d32);  // at most 1024 additions of 4 · 255² per lane
  for (; x + lanes <= n; x += lanes) {
    const auto green = hn::LoadU(d8, g + x), channel = hn::LoadU(d8, c + x);
    const auto c_low = low(channel), c_high = high(channel);
    value = hn::Add(value, hn::SumsOf8(channel));
    square = hn::Add(square, hn::Add(pair_dot(d32, c_low, c_low), pair_dot(d32, c_high, c_high)));
    product = hn::Add(product, hn::Add(pair_dot(d32, low(green), c_low), pair_dot(d32, high(green), c_high)));
  }
  const auto total = [&](auto v) HWY_ATTR {  // sum over unsigned 32-bit lanes
    const auto wide = hn::BitCast(d64, v);
    const auto sum = hn::Add(hn::And(wide, hn::Set(d64, 0xffffffffu)), hn::ShiftRight<32>(wide));
    return hn::GetLane(hn::SumOfLanes(d64, sum));
  };
  sums.value += static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(d64, value)));
  sums.square += static_cast<int64_t>(total(square)), sums.product += static_cast<int64_t>(total(product));
  return x;
}

/// Variant of add_row() for 16-bit samples, from which it subtracts kAlignMiddle.
int add_deep_row(const uint16_t* g, const uint16_t* c, int n, AlignSums& sums) {
  const hn::ScalableTag<uint16_t> d;
  const hn::Repartition<int16_t, decltype(d)> d16;
  const hn::Repartition<int32_t, decltype(d)> d32;
  const hn::Repartition<uint32_t, decltype(d)> unsigned32;
  const hn::Repartition<uint64_t, decltype(d)> d64;
  const int lanes = static_cast<int>(hn::Lanes(d));
  const auto middle = hn::Set(d, uint16_t{kAlignMiddle});
  const auto one = hn::Set(d16, int16_t{1});
  // Sums of two products lie in [−2³¹ + 2¹⁶, 2³¹]. Plus this number they are 32-bit unsigned numbers.
  constexpr uint32_t kOffset = 0x7fff0000u;
  const auto offset = hn::Set(unsigned32, kOffset);
  const auto load = [&](const uint16_t* p)
                        HWY_ATTR { return hn::BitCast(d16, hn::Xor(hn::LoadU(d, p), middle)); };
  const auto dot = [&](auto a, auto b) HWY_ATTR { return hn::BitCast(unsigned32, pair_dot(d32, a, b)); };
  const auto halves = [&](auto v) HWY_ATTR {  // sums of two unsigned 32-bit lanes
    const auto wide = hn::BitCast(d64, v);
    return hn::Add(hn::And(wide, hn::Set(d64, 0xffffffffu)), hn::ShiftRight<32>(wide));
  };
  auto value = hn::Zero(d32);  // at most 2048 additions of 2¹⁶ per lane
  auto square = hn::Zero(d64), product = hn::Zero(d64);
  int x = 0;
  for (; x + lanes <= n; x += lanes) {
    const auto green = load(g + x), channel = load(c + x);
    value = hn::Add(value, pair_dot(d32, channel, one));
    square = hn::Add(square, halves(dot(channel, channel)));
    product = hn::Add(product, halves(hn::Add(dot(green, channel), offset)));
  }
  sums.value += hn::GetLane(hn::SumOfLanes(d32, value));
  sums.square += static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(d64, square)));
  sums.product += static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(d64, product))) - int64_t{x / 2} * kOffset;
  return x;
}

/// Writes the pixels [x0, x1) in whole vectors. `red` and `blue` point to the shifted rows, which must be
/// readable for these pixels. Returns the first pixel that is not written.
int merge_row(const uint8_t* red, const uint8_t* row, const uint8_t* blue, int x0, int x1, uint8_t* out) {
  int x = x0;
  const hn::ScalableTag<uint8_t> d8;
  const hn::Repartition<uint32_t, decltype(d8)> d32;
  const int lanes = static_cast<int>(hn::Lanes(d32));
  const auto load = [&](const uint8_t* p, uint32_t mask)
                        HWY_ATTR { return hn::And(hn::BitCast(d32, hn::LoadU(d8, p)), hn::Set(d32, mask)); };
  for (; x + lanes <= x1; x += lanes) {
    const std::ptrdiff_t at = std::ptrdiff_t{x} * 4;
    const auto v = hn::Or(hn::Or(load(red + at, 0x000000ffu), load(row + at, 0xff00ff00u)),
                          load(blue + at, 0x00ff0000u));
    hn::StoreU(hn::BitCast(d8, v), d8, out + at);
  }
  return x;
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(split_row);
HWY_EXPORT(split_deep_row);
HWY_EXPORT(add_row);
HWY_EXPORT(add_deep_row);
HWY_EXPORT(merge_row);

namespace {

void add(int64_t& to, int64_t value) {
  std::atomic_ref<int64_t>(to).fetch_add(value, std::memory_order_relaxed);
}

template <class Sample>
Sample* row_of(uint8_t* plane, const AlignLevel& level, int y) {
  return reinterpret_cast<Sample*>(plane + static_cast<std::ptrdiff_t>(y) * level.pitch);
}

int add_vectors(const uint8_t* g, const uint8_t* c, int n, AlignSums& sums) {
  return HWY_DYNAMIC_DISPATCH(add_row)(g, c, n, sums);
}
int add_vectors(const uint16_t* g, const uint16_t* c, int n, AlignSums& sums) {
  return HWY_DYNAMIC_DISPATCH(add_deep_row)(g, c, n, sums);
}

/// Returns the sums of one candidate over `rows` of the window; row 0 is the window's top row.
template <class Sample>
AlignSums sum_rows(uint8_t* green, uint8_t* channel, const AlignLevel& level, AlignShift shift, Band rows) {
  constexpr int middle = sizeof(Sample) == 2 ? kAlignMiddle : 0;
  AlignSums sums{};
  const int n = level.extent.width - 2 * level.margin_x;
  for (int y = rows.begin + level.margin_y; y < rows.end + level.margin_y; ++y) {
    const Sample* g = row_of<Sample>(green, level, y) + level.margin_x;
    const Sample* c = row_of<Sample>(channel, level, y + shift.y) + level.margin_x + shift.x;
    for (int x = add_vectors(g, c, n, sums); x < n; ++x) {
      const int64_t v = c[x] - middle;
      sums.value += v, sums.square += v * v, sums.product += v * (g[x] - middle);
    }
  }
  return sums;
}

int split_whole_vectors(const uint8_t* pixels, int width, uint8_t* const to[3]) {
  return HWY_DYNAMIC_DISPATCH(split_row)(pixels, width, to[0], to[1], to[2]);
}
int split_whole_vectors(const uint16_t* pixels, int width, uint16_t* const to[3]) {
  return HWY_DYNAMIC_DISPATCH(split_deep_row)(pixels, width, to[0], to[1], to[2]);
}

/// Splits RGBA pixels into three planes.
template <class Sample>
void split_pixels(const Sample* pixels, int width, Sample* const to[3]) {
  for (int x = split_whole_vectors(pixels, width, to); x < width; ++x)
    for (int c = 0; c < 3; ++c) to[c][x] = pixels[x * 4 + c];
}

/// Writes red from `red_row`, green and alpha from `row`, and blue from `blue_row`. Red and blue are shifted
/// by `red` and `blue` pixels.
void merge_rows(const uint8_t* red_row, int red, const uint8_t* row, const uint8_t* blue_row, int blue,
                int width, uint8_t* out) {
  const auto pixels = [&](int from, int to) {
    for (int x = from; x < to; ++x) {
      out[x * 4] = red_row[std::clamp(x + red, 0, width - 1) * 4];
      out[x * 4 + 1] = row[x * 4 + 1];
      out[x * 4 + 2] = blue_row[std::clamp(x + blue, 0, width - 1) * 4 + 2];
      out[x * 4 + 3] = row[x * 4 + 3];
    }
  };
  const int begin = std::min(width, std::max({0, -red, -blue}));
  const int end = std::max(begin, std::min({width, width - red, width - blue}));
  pixels(0, begin);
  const int done = HWY_DYNAMIC_DISPATCH(merge_row)(red_row + std::ptrdiff_t{red} * 4, row,
                                                   blue_row + std::ptrdiff_t{blue} * 4, begin, end, out);
  pixels(done, width);
}

}  // namespace

void AlignChannels::split(const PassArgs& args, Band rows) const {
  const ConstImageRef in = args.in[0];
  if (rows.begin == 0) std::memset(args.scratch[1], 0, AlignWork::bytes(geometry_));
  with_sample_type(in.format.format, [&]<class Sample>() {
    for (int y = rows.begin; y < rows.end; ++y) {
      Sample* to[3];
      for (int c = 0; c < 3; ++c) to[c] = row_of<Sample>(plane(args, 0, c), geometry_.level[0], y);
      split_pixels(in.samples<Sample>(y), in.width(), to);
    }
  });
}

void AlignChannels::shrink(const PassArgs& args, Band rows) const {
  const int l = args.step;
  const AlignLevel &large = geometry_.level[l - 1], &small = geometry_.level[l];
  for (int c = 0; c < 3; ++c)
    for (int y = rows.begin; y < rows.end; ++y) {
      uint8_t *from = plane(args, l - 1, c), *to = plane(args, l, c);
      const auto n = static_cast<size_t>(small.extent.width);
      if (geometry_.deep)
        deep_half_row(row_of<uint16_t>(from, large, 2 * y), row_of<uint16_t>(from, large, 2 * y + 1), 1, n,
                      row_of<uint16_t>(to, small, y));
      else
        resize_half_row(row_of<uint8_t>(from, large, 2 * y), row_of<uint8_t>(from, large, 2 * y + 1), 1, n,
                        row_of<uint8_t>(to, small, y));
    }
}

void AlignChannels::score(const PassArgs& args, Band rows) const {
  const AlignGeometry& g = geometry_;
  AlignWork& work = work_of(args);
  const int l = args.step, before = l + 1;
  const AlignLevel& level = g.level[l];
  uint8_t* green = plane(args, l, 1);
  const auto sum = g.deep ? &sum_rows<uint16_t> : &sum_rows<uint8_t>;
  const AlignSums own = sum(green, green, level, {}, rows);
  add(work.green[l].value, own.value), add(work.green[l].square, own.square);
  for (int c = 0; c < 2; ++c) {
    AlignShift prediction{};
    if (before < g.levels) {
      const AlignShift shift = align_decide(g, work, before, c);
      if (rows.begin == 0) work.shift[before][c] = shift;
      prediction = level.prediction(shift);
    }
    AlignSums* sums = work.sums(l, c, g);
    for (int i = 0; i < level.candidates(); ++i) {
      const AlignShift candidate = level.candidate(prediction, i);
      if (!level.allowed(candidate)) continue;
      const AlignSums part = sum(green, plane(args, l, 2 * c), level, candidate, rows);
      add(sums[i].value, part.value), add(sums[i].square, part.square), add(sums[i].product, part.product);
    }
  }
}

void AlignChannels::shift(const PassArgs& args, Band rows) const {
  const ConstImageRef in = args.in[0];
  const AlignWork& work = work_of(args);
  const AlignShift shift[2] = {align_decide(geometry_, work, 0, 0), align_decide(geometry_, work, 0, 1)};
  if (rows.begin == 0) std::copy_n(shift, 2, stats_of(args).shift);
  const auto moved = [&](int y, int c) { return in.row(std::clamp(y + shift[c].y, 0, in.height() - 1)); };
  for (int y = rows.begin; y < rows.end && in.is_deep(); ++y) {
    const auto* const red = reinterpret_cast<const uint16_t*>(moved(y, 0));
    const auto* const blue = reinterpret_cast<const uint16_t*>(moved(y, 1));
    const uint16_t* const row = in.samples<uint16_t>(y);
    uint16_t* const out = args.out.samples<uint16_t>(y);
    const int width = in.width();
    for (int x = 0; x < width; ++x) {
      out[x * 4] = red[std::clamp(x + shift[0].x, 0, width - 1) * 4];
      out[x * 4 + 1] = row[x * 4 + 1];
      out[x * 4 + 2] = blue[std::clamp(x + shift[1].x, 0, width - 1) * 4 + 2];
      out[x * 4 + 3] = row[x * 4 + 3];
    }
  }
  for (int y = rows.begin; y < rows.end && !in.is_deep(); ++y)
    merge_rows(moved(y, 0), shift[0].x, in.row(y), moved(y, 1), shift[1].x, in.width(), args.out.row(y));
}

}  // namespace lensd
#endif
