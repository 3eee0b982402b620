// deinterlace: keeps the lines of a frame's first field and predicts the lines of the second field at the
// time of the first.
//
// The method is that of yadif, "yet another deinterlacing filter" by Michael Niedermayer, as described in
// HandBrake's "Understanding Yadif" (trac.handbrake.fr/wiki/yadif). For a missing sample at (x, y), with
// c(k) = (x + k, y − 1) and e(k) = (x + k, y + 1) of this frame:
//
//   s     (c(j) + e(−j)) / 2 along the direction j in −2 … 2 with the least |c(j+i) − e(i−j)| summed over
//         i = −1, 0, 1. The sum of j = 0 counts 1 less; ±2 is tried only if ±1 beats the best so far.
//   d     (p + n) / 2: the mean of the second fields before and after the first field, that is of (x, y) of
//         the previous frame and of this frame. b and f are the same mean at (x, y − 2) and (x, y + 2).
//   diff  the larger of |p − n| / 2 and the mean change of (x, y − 1) and (x, y + 1) since the previous frame
//   check diff is at least min(d − e, d − c, max(b − c, f − e)), with e = e(0) and c = c(0), and at least the
//         same with all signs inverted. This admits s where the lines of both fields alternate (combing).
//   out   s, limited to d − diff … d + diff
//
// All halves are rounded down. In yadif, diff has a further term: the change from this frame's first field to
// that of the next frame. Filters cannot read the next frame, so this term is omitted, which avoids a delay
// of a frame. In the first frame, and the first after a seek, out = s.
//
// With parity=auto, the first field is the one that the stream marks as first, or the top field if there is
// no mark. frames=interlaced copies frames that are not marked as interlaced. Alpha is copied.
//
// Formats: all. Aliasing: none. Border rule: reflect101 for rows, which keeps a row's field; replicate for
// columns. Temporal reach: one frame (state: a copy of the frame). Exact: integers.
#pragma once

#include "kernels/common/border/border.hpp"
#include "kernels/common/single_pass.hpp"

namespace lensd {

enum class FieldParity : uint8_t { automatic, top, bottom };
enum class FramesToDeinterlace : uint8_t { all, interlaced };

struct DeinterlaceParams {
  FieldParity parity = FieldParity::automatic;
  FramesToDeinterlace frames = FramesToDeinterlace::all;
  bool check = true;
};

struct DeinterlaceBlock {
  FieldParity parity;
  bool marked_only, check;

  static DeinterlaceBlock make(const DeinterlaceParams& p) {
    return {p.parity, p.frames == FramesToDeinterlace::interlaced, p.check};
  }
  /// Returns y % 2 of the rows y that are predicted, or -1 if all rows are copied.
  LENSD_HD int missing_rows(const FrameBlock& frame) const {
    if (marked_only && frame.fields == FieldOrder::progressive) return -1;
    if (parity == FieldParity::automatic) return frame.fields == FieldOrder::bottom_first ? 0 : 1;
    return parity == FieldParity::bottom ? 0 : 1;
  }
};

/// The samples around a missing one. `Row` is a pointer to samples.
template <class Row>
struct FieldRows {
  Row above, below;                  ///< this frame's rows y − 1 and y + 1
  Row now, now_above, now_below;     ///< this frame's rows y, y − 2 and y + 2
  Row past, past_above, past_below;  ///< the same rows of the previous frame
  Row kept_above, kept_below;        ///< the previous frame's rows y − 1 and y + 1

  /// `at` and `before` return the rows of this frame and of the previous one.
  template <class At, class Before>
  LENSD_HD static FieldRows around(int y, int height, const At& at, const Before& before) {
    const auto index = [height](int i) { return border_index(i, height, Border::reflect101); };
    const int up = index(y - 1), down = index(y + 1), up2 = index(y - 2), down2 = index(y + 2);
    return {at(up),    at(down),    at(y),         at(up2),    at(down2),
            before(y), before(up2), before(down2), before(up), before(down)};
  }
};

/// Returns the prediction along the best direction for sample `i` of rows with `n` samples. `step`: samples
/// per pixel.
template <class Row>
LENSD_HD int predict_in_field(const FieldRows<Row>& rows, int i, int n, int step) {
  const int first = i % step, last = n - step + first;
  const auto at = [=](Row row, int k) {
    const int x = i + k * step;
    return static_cast<int>(row[x < first ? first : x > last ? last : x]);
  };
  const auto difference = [&](int j) {
    int sum = 0;
    for (int k = -1; k <= 1; ++k) {
      const int d = at(rows.above, j + k) - at(rows.below, k - j);
      sum += d < 0 ? -d : d;
    }
    return sum;
  };
  int least = difference(0) - 1, best = 0;
  for (int side = -1; side <= 1; side += 2) {
    const int near = difference(side);
    if (near >= least) continue;
    least = near, best = side;
    const int far = difference(2 * side);
    if (far < least) least = far, best = 2 * side;
  }
  return (at(rows.above, best) + at(rows.below, -best)) >> 1;
}

/// Returns `predicted`, limited to d − diff … d + diff for sample `i`; see the top of this file.
template <class Row>
LENSD_HD int limit_to_fields(const FieldRows<Row>& rows, int i, int predicted, bool check) {
  const auto larger = [](int a, int b) { return a > b ? a : b; };
  const auto smaller = [](int a, int b) { return a < b ? a : b; };
  const auto distance = [](int a, int b) { return a < b ? b - a : a - b; };
  const int c = rows.above[i], e = rows.below[i];
  const int d = (rows.past[i] + rows.now[i]) >> 1;
  int diff = larger(distance(rows.past[i], rows.now[i]) >> 1,
                    (distance(rows.kept_above[i], c) + distance(rows.kept_below[i], e)) >> 1);
  if (check) {
    const int b = (rows.past_above[i] + rows.now_above[i]) >> 1;
    const int f = (rows.past_below[i] + rows.now_below[i]) >> 1;
    // Not written as max(least, −most), which ptxas 13.0 compiles wrongly for compute capability 9.0.
    const int above = smaller(smaller(d - e, d - c), larger(b - c, f - e));
    const int below = smaller(smaller(e - d, c - d), larger(c - b, e - f));
    diff = larger(diff, larger(above, below));
  }
  return smaller(larger(predicted, d - diff), d + diff);
}

class Deinterlace final : public SinglePass<Deinterlace, DeinterlaceParams, DeinterlaceBlock> {
 public:
  static FilterSchema make_schema();
  Layout configure(const FilterInputs& inputs) override;
  void apply(const PassArgs& args, Band band) const;
  void launch_apply(const PassArgs& args, CudaStream stream) const;
  void reference(ReferenceRun& run) const override;
};

}  // namespace lensd
