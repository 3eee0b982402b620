#include "kernels/deinterlace/deinterlace.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/common/keep_alpha.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/deinterlace/deinterlace.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Lane type that can hold the sum of three differences.
template <class S>
using FieldLane = std::conditional_t<sizeof(S) == 1, int16_t, int32_t>;

/// Computes predict_in_field() for samples whose neighbours are all inside the rows.
template <class S, class D>
hn::Vec<D> predicted_lanes(D d, const S* above, const S* below, int step) {
  const hn::Rebind<S, D> ds;
  const auto load = [&](const S* row, int k) { return hn::PromoteTo(d, hn::LoadU(ds, row + k * step)); };
  hn::Vec<D> a[7], b[7];
  for (int k = -3; k <= 3; ++k) a[k + 3] = load(above, k), b[k + 3] = load(below, k);
  const auto difference = [&](int j) {
    const auto one = [&](int k) { return hn::Abs(hn::Sub(a[3 + j + k], b[3 + k - j])); };
    return hn::Add(hn::Add(one(-1), one(0)), one(1));
  };
  const auto sum = [&](int j) { return hn::Add(a[3 + j], b[3 - j]); };
  auto least = hn::Sub(difference(0), hn::Set(d, 1));
  auto best = sum(0);
  for (const int side : {-1, 1}) {
    const auto near = difference(side), far = difference(2 * side);
    const auto better = hn::Lt(near, least);
    const auto best_far = hn::And(better, hn::Lt(far, near));
    least = hn::IfThenElse(better, hn::Min(near, far), least);
    best = hn::IfThenElse(best_far, sum(2 * side), hn::IfThenElse(better, sum(side), best));
  }
  return hn::ShiftRight<1>(best);
}

/// Computes limit_to_fields() in each lane.
template <class S, class D>
hn::Vec<D> limited_lanes(D d, const FieldRows<const S*>& rows, int i, hn::Vec<D> predicted, bool check) {
  const hn::Rebind<S, D> ds;
  const auto load = [&](const S* row) { return hn::PromoteTo(d, hn::LoadU(ds, row + i)); };
  const auto half = [](auto v) { return hn::ShiftRight<1>(v); };
  const auto distance = [](auto a, auto b) { return hn::Abs(hn::Sub(a, b)); };
  const auto c = load(rows.above), e = load(rows.below), past = load(rows.past), now = load(rows.now);
  const auto mean = half(hn::Add(past, now));
  auto diff = hn::Max(half(distance(past, now)),
                      half(hn::Add(distance(load(rows.kept_above), c), distance(load(rows.kept_below), e))));
  if (check) {
    const auto b = half(hn::Add(load(rows.past_above), load(rows.now_above)));
    const auto f = half(hn::Add(load(rows.past_below), load(rows.now_below)));
    const auto de = hn::Sub(mean, e), dc = hn::Sub(mean, c), bc = hn::Sub(b, c), fe = hn::Sub(f, e);
    const auto most = hn::Max(hn::Max(de, dc), hn::Min(bc, fe));
    const auto least = hn::Min(hn::Min(de, dc), hn::Max(bc, fe));
    diff = hn::Max(diff, hn::Max(least, hn::Neg(most)));
  }
  return hn::Min(hn::Max(predicted, hn::Sub(mean, diff)), hn::Add(mean, diff));
}

/// Predicts the `n` samples of a row, alpha included. `known`: the state holds the previous frame.
template <class S>
void predict_row(const FieldRows<const S*>& rows, S* out, int n, int step, bool known, bool check) {
  const hn::ScalableTag<FieldLane<S>> d;
  const hn::Rebind<S, decltype(d)> ds;
  const int lanes = static_cast<int>(hn::Lanes(d)), margin = 3 * step;
  const auto predict_one = [&](int i) {
    const int s = predict_in_field(rows, i, n, step);
    out[i] = static_cast<S>(known ? limit_to_fields(rows, i, s, check) : s);
  };
  int i = 0;
  for (; i < std::min(margin, n); ++i) predict_one(i);
  for (; i + lanes + margin <= n; i += lanes) {
    auto v = predicted_lanes(d, rows.above + i, rows.below + i, step);
    if (known) v = limited_lanes(d, rows, i, v, check);
    hn::StoreU(hn::DemoteTo(ds, v), ds, out + i);
  }
  for (; i < n; ++i) predict_one(i);
}

void predict_row8(const FieldRows<const uint8_t*>& rows, uint8_t* out, int n, int step, bool known,
                  bool check) {
  predict_row(rows, out, n, step, known, check);
}
void predict_row16(const FieldRows<const uint16_t*>& rows, uint16_t* out, int n, int step, bool known,
                   bool check) {
  predict_row(rows, out, n, step, known, check);
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(predict_row8);
HWY_EXPORT(predict_row16);

FilterSchema Deinterlace::make_schema() {
  using P = DeinterlaceParams;
  return Schema<P>("deinterlace", "makes full frames from interlaced ones, without combs at moving edges")
      .choice("parity", &P::parity, {"auto", "top", "bottom"},
              "the field that comes first; auto: as the stream says, else top")
      .choice("frames", &P::frames, {"all", "interlaced"},
              "the frames to change: all, or those that the stream marks as interlaced")
      .boolean("check", &P::check, "also smooth single lines that differ from the lines above and below")
      .build();
}

Layout Deinterlace::configure(const FilterInputs& inputs) {
  Layout layout = single_pass(inputs.images[0], {.bytes = 4, .operations = 30});
  layout.state_bytes = layout.output.row_bytes() * static_cast<size_t>(layout.output.extent.height);
  return layout;
}

void Deinterlace::apply(const PassArgs& args, Band band) const {
  const ConstImageRef& in = args.in[0];
  const DeinterlaceBlock& block = block_of(args);
  const int missing = block.missing_rows(*args.frame), step = in.channels();
  const int n = static_cast<int>(in.format.row_samples());
  const bool known = args.frame->reset == 0;
  const auto rows8 = &HWY_DYNAMIC_DISPATCH(predict_row8);
  const auto rows16 = &HWY_DYNAMIC_DISPATCH(predict_row16);
  with_sample_type(in.format.format, [&]<class S>() {
    const StatePair<S> state = args.state_of<S>();
    const auto stored = [n](auto* rows, int y) { return rows + static_cast<ptrdiff_t>(y) * n; };
    for (int y = band.begin; y < band.end; ++y) {
      std::memcpy(stored(state.after(), y), in.row(y), in.row_bytes());
      S* const out = args.out.samples<S>(y);
      if ((y & 1) != missing) {
        std::memcpy(out, in.row(y), in.row_bytes());
        continue;
      }
      const auto rows = FieldRows<const S*>::around(
          y, in.height(), [&](int row) { return in.samples<S>(row); },
          [&](int row) -> const S* { return stored(state.before(), row); });
      if constexpr (sizeof(S) == 1) {
        rows8(rows, out, n, step, known, block.check);
        if (step == 4) keep_alpha(in.samples<S>(y), out, static_cast<size_t>(n));
      } else {
        rows16(rows, out, n, step, known, block.check);
        if (step == 4) keep_alpha(in.samples<S>(y), out, in.width());
      }
    }
  });
}

void Deinterlace::reference(ReferenceRun& run) const {
  const Image& in = run.in[0];
  const DeinterlaceBlock block = DeinterlaceBlock::make(params_);
  const int missing = block.missing_rows(run.frame), step = in.channels();
  run.out = in;
  const bool known = !run.state.empty();
  Image before = in;
  if (known) before.pixels = run.state;
  const int n = static_cast<int>(in.format.row_samples());
  const auto row_of = [](const Image& image, int y) {
    std::vector<int> row;
    for (int x = 0; x < image.width(); ++x)
      for (int c = 0; c < image.channels(); ++c) row.push_back(image.sample(x, y, c));
    return row;
  };
  for (int y = 0; y < in.height(); ++y) {
    if ((y & 1) != missing) continue;
    std::vector<std::vector<int>> kept;
    kept.reserve(10);
    const auto rows_of = [&](const Image& image) {
      return [&](int row) -> const int* { return kept.emplace_back(row_of(image, row)).data(); };
    };
    const auto rows = FieldRows<const int*>::around(y, in.height(), rows_of(in), rows_of(before));
    for (int i = 0; i < n; ++i) {
      if (i % step == 3) continue;
      const int s = predict_in_field(rows, i, n, step);
      run.out.set_sample(i / step, y, i % step, known ? limit_to_fields(rows, i, s, block.check) : s);
    }
  }
  run.state = in.pixels;
}

}  // namespace lensd
#endif
