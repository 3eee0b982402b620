#include "kernels/compare/compare.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "core/device/memory.hpp"
#include "kernels/common/add_shared.hpp"
#include "kernels/common/tally.hpp"
#include "kernels/common/vectorised.hpp"
#include "kernels/scopes/scope_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/compare/compare.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace lensd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Adds squared differences of a row's 16-bit samples to four sums; sample i belongs to sum i % 4. A row has
/// at most 65536 samples, so 32-bit sums of the squares' low and high halves cannot overflow.
void add_deep_squares(const uint16_t* a, const uint16_t* b, size_t samples, uint64_t* sums) {
  const hn::ScalableTag<uint16_t> d16;
  const hn::Repartition<uint32_t, decltype(d16)> d32;
  const size_t lanes = hn::Lanes(d16);
  const auto even_lanes = hn::Set(d32, 65535u);
  auto low_even = hn::Zero(d32), low_odd = hn::Zero(d32), high_even = hn::Zero(d32), high_odd = hn::Zero(d32);
  size_t i = 0;
  for (; i + lanes <= samples; i += lanes) {
    const auto p = hn::LoadU(d16, a + i), q = hn::LoadU(d16, b + i);
    const auto distance = hn::Sub(hn::Max(p, q), hn::Min(p, q));
    const auto low = hn::BitCast(d32, hn::Mul(distance, distance));
    const auto high = hn::BitCast(d32, hn::MulHigh(distance, distance));
    low_even = hn::Add(low_even, hn::And(low, even_lanes));
    low_odd = hn::Add(low_odd, hn::ShiftRight<16>(low));
    high_even = hn::Add(high_even, hn::And(high, even_lanes));
    high_odd = hn::Add(high_odd, hn::ShiftRight<16>(high));
  }
  uint32_t low[2][HWY_MAX_BYTES / 4], high[2][HWY_MAX_BYTES / 4];
  hn::StoreU(low_even, d32, low[0]), hn::StoreU(low_odd, d32, low[1]);
  hn::StoreU(high_even, d32, high[0]), hn::StoreU(high_odd, d32, high[1]);
  for (size_t k = 0; k < lanes; ++k) sums[k % 4] += low[k % 2][k / 2] + (uint64_t{high[k % 2][k / 2]} << 16);
  for (; i < samples; ++i) {
    const int64_t d = a[i] - b[i];
    sums[i % 4] += static_cast<uint64_t>(d * d);
  }
}

}  // namespace lensd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lensd {

HWY_EXPORT(add_deep_squares);

namespace {

/// Minimum rows of blocks or windows per band. With this many, adding a band's sums to the totals costs
/// little.
constexpr int kRows = 4;

/// Worker memory: a luma row of each image, and the column sums of four rows.
template <class S>
struct Rows {
  using Sum = std::conditional_t<sizeof(S) == 1, uint16_t, uint32_t>;
  using Square = typename BlockSums<S>::Square;
  S *luma_a, *luma_b;
  Sum *a, *b;
  Square *squares, *products;
  size_t sum_bytes;  ///< bytes of the sums, which begin at `a`

  static size_t stride(int width) { return align_up(static_cast<size_t>(width), 64); }
  static size_t bytes(int width) { return stride(width) * 2 * (sizeof(S) + sizeof(Sum) + sizeof(Square)); }
  Rows(uint8_t* worker, int width) {
    const size_t n = stride(width);
    luma_a = reinterpret_cast<S*>(worker), luma_b = luma_a + n;
    a = reinterpret_cast<Sum*>(luma_b + n), b = a + n;
    squares = reinterpret_cast<Square*>(b + n), products = squares + n;
    sum_bytes = n * 2 * (sizeof(Sum) + sizeof(Square));
  }
};

/// Adds squared differences of a row's bytes to four sums; byte i belongs to sum i % 4.
void add_squares(const uint8_t* a, const uint8_t* b, int bytes, uint64_t sums[4]) {
  int x = 0;
  while (bytes - x >= 4) {
    // 32-bit sums of up to 2^14 squares cannot overflow.
    const int end = x + std::min((bytes - x) & ~3, 4 << 14);
    uint32_t part[4] = {};
    for (; x < end; x += 4)
      for (int c = 0; c < 4; ++c) {
        const int d = a[x + c] - b[x + c];
        part[c] += static_cast<uint32_t>(d * d);
      }
    for (int c = 0; c < 4; ++c) sums[c] += part[c];
  }
  for (; x < bytes; ++x) sums[x & 3] += static_cast<uint64_t>((a[x] - b[x]) * (a[x] - b[x]));
}

/// Adds squared differences of a row's 16-bit samples to four sums.
void add_squares(const uint16_t* a, const uint16_t* b, int samples, uint64_t sums[4]) {
  HWY_DYNAMIC_DISPATCH(add_deep_squares)(a, b, static_cast<size_t>(samples), sums);
}

void add_columns(const uint8_t* a, const uint8_t* b, int width, const Rows<uint8_t>& rows) {
  for (int x = 0; x < width; ++x) rows.a[x] = static_cast<uint16_t>(rows.a[x] + a[x]);
  for (int x = 0; x < width; ++x) rows.b[x] = static_cast<uint16_t>(rows.b[x] + b[x]);
  for (int x = 0; x < width; ++x) {
    const uint32_t p = a[x], q = b[x];
    rows.squares[x] += p * p + q * q;
    rows.products[x] += p * q;
  }
}

void add_columns(const uint16_t* from_a, const uint16_t* from_b, int width, const Rows<uint16_t>& rows) {
  vectorised([from_a, from_b, width, &rows] {
    const uint16_t* __restrict a = from_a, * __restrict b = from_b;
    uint32_t* __restrict sum_a = rows.a, * __restrict sum_b = rows.b;
    uint64_t* __restrict squares = rows.squares, * __restrict products = rows.products;
    for (int x = 0; x < width; ++x) sum_a[x] += a[x], sum_b[x] += b[x];
    for (int x = 0; x < width; ++x) {
      const uint64_t p = a[x], q = b[x];
      squares[x] += p * p + q * q;
      products[x] += p * q;
    }
  });
}

/// Processes up to four rows from y on: adds their squared differences to `sums`, and writes a row of block
/// sums to `out` unless it is null.
template <class S>
void blocks_row(const PassArgs& args, int y, const LumaBlock& weights, const Rows<S>& rows, BlockSums<S>* out,
                uint64_t sums[4]) {
  const ConstImageRef a = args.in[0], b = args.in[1];
  const int width = a.width(), blocks = compare_blocks(width), end = std::min(y + kCompareBlock, a.height());
  std::memset(rows.a, 0, rows.sum_bytes);
  for (int row = y; row < end; ++row) {
    add_squares(a.samples<S>(row), b.samples<S>(row), width * a.channels(), sums);
    if (!out) continue;
    add_columns(luma_of_row(a, row, 0, width, weights, rows.luma_a),
                luma_of_row(b, row, 0, width, weights, rows.luma_b), width, rows);
  }
  for (int i = 0; out && i < blocks; ++i) {
    BlockSums<S> block{};
    for (int x = kCompareBlock * i; x < kCompareBlock * (i + 1); ++x)
      block.a += rows.a[x], block.b += rows.b[x], block.squares += rows.squares[x],
          block.products += rows.products[x];
    out[i] = block;
  }
}

/// Writes the sums of the band's blocks, and adds the squared differences of its rows to `squares`.
template <class S>
void blocks_rows(const PassArgs& args, Band band, const LumaBlock& weights, uint64_t squares[4]) {
  const int width = args.in[0].width(), blocks = compare_blocks(width);
  const int whole = compare_blocks(args.in[0].height());
  auto* sums = reinterpret_cast<BlockSums<S>*>(args.scratch[0]);
  const Rows<S> rows(args.worker, width);
  for (int i = band.begin; i < band.end; ++i) {
    BlockSums<S>* out = i < whole ? sums + static_cast<size_t>(i) * static_cast<size_t>(blocks) : nullptr;
    blocks_row(args, i * kCompareBlock, weights, rows, out, squares);
  }
}

/// Returns the sum of the similarity of the windows in row y.
template <class S>
int64_t windows_row(const PassArgs& args, int y) {
  const int width = args.in[0].width(), blocks = compare_blocks(width);
  const auto* upper = reinterpret_cast<const BlockSums<S>*>(args.scratch[0]) +
                      static_cast<size_t>(y) * static_cast<size_t>(blocks);
  const auto* lower = upper + blocks;
  int64_t ssim = 0;
  for (int x = 0; x < compare_windows(width); ++x) {
    BlockSums<S> window = upper[x];
    window.add(upper[x + 1]), window.add(lower[x]), window.add(lower[x + 1]);
    ssim += window_ssim(window);
  }
  return ssim;
}

/// Returns the sum of the similarity of all windows, for the oracle. `a` and `b` are grey.
template <class S>
int64_t all_windows(const Image& a, const Image& b) {
  const auto sample = [](const Image& i, int x, int y) { return static_cast<uint32_t>(i.sample(x, y)); };
  int64_t ssim = 0;
  for (int wy = 0; wy < compare_windows(a.height()); ++wy)
    for (int wx = 0; wx < compare_windows(a.width()); ++wx) {
      BlockSums<S> window{};
      for (int y = 4 * wy; y < 4 * wy + 8; ++y)
        for (int x = 4 * wx; x < 4 * wx + 8; ++x) window.add(sample(a, x, y), sample(b, x, y));
      ssim += window_ssim(window);
    }
  return ssim;
}

}  // namespace

FilterSchema Compare::make_schema() {
  return Schema<ScopeParams>("compare", "difference of two images").build();
}

Layout Compare::configure(const FilterInputs& inputs) {
  const ImageFormat in = inputs.images[0];
  params_.follow(inputs.picture);
  const int width = in.extent.width, height = in.extent.height;
  const size_t blocks =
      static_cast<size_t>(compare_blocks(width)) * static_cast<size_t>(compare_blocks(height));
  const bool deep = sample_bytes(in.format) == 2;
  const size_t block_bytes = deep ? sizeof(BlockSums<uint16_t>) : sizeof(BlockSums<uint8_t>);
  const double bytes = 2.0 * static_cast<double>(in.row_bytes()) * height;
  return {.output = {PixelFormat::gray8, {1, 1}},
          .passes = {{.name = "blocks",
                      .run = cpu_pass<&Compare::sum_blocks>,
                      .launch = cuda_pass<&Compare::launch_sum_blocks>,
                      .items = (height + kCompareBlock - 1) / kCompareBlock,
                      .grain = kRows,
                      .bytes = bytes,
                      .operations = 4 * bytes},
                     {.name = "windows",
                      .run = cpu_pass<&Compare::sum_windows>,
                      .launch = cuda_pass<&Compare::launch_sum_windows>,
                      .items = std::max(1, compare_windows(height)),
                      .grain = kRows,
                      .bytes = static_cast<double>(blocks * block_bytes),
                      .operations = static_cast<double>(blocks) * 40}},
          .scratch_bytes = {std::max<size_t>(blocks, 1) * block_bytes},
          .worker_bytes = deep ? Rows<uint16_t>::bytes(width) : Rows<uint8_t>::bytes(width),
          .stats_bytes = sizeof(Comparison)};
}

void Compare::sum_blocks(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const int width = in.width(), height = in.height();
  auto& total = *static_cast<Comparison*>(args.stats);
  uint64_t squares[4] = {};
  with_sample_type(in.format.format,
                   [&]<class S>() { blocks_rows<S>(args, band, block_of(args).luma, squares); });
  const int channels = colour_channels(in.format.format);
  if (channels == 1) squares[0] += squares[1] + squares[2] + squares[3];
  for (int c = 0; c < channels; ++c) add_shared(total.squares[c], squares[c]);
  if (band.begin == 0) {
    total.samples = static_cast<uint64_t>(width) * static_cast<uint64_t>(height);
    total.channels = static_cast<uint64_t>(channels);
    total.white = static_cast<uint64_t>(max_sample(in.format.format));
    total.windows =
        static_cast<uint64_t>(compare_windows(width)) * static_cast<uint64_t>(compare_windows(height));
  }
}

void Compare::sum_windows(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const int end = std::min(band.end, compare_windows(in.height()));
  int64_t ssim = 0;
  with_sample_type(in.format.format, [&]<class S>() {
    for (int y = band.begin; y < end; ++y) ssim += windows_row<S>(args, y);
  });
  add_shared(static_cast<Comparison*>(args.stats)->ssim_q24, ssim);
}

void Compare::reference(ReferenceRun& run) const {
  run.out = Image({PixelFormat::gray8, {1, 1}});
}

Comparison Compare::compare_reference(const Image& a, const Image& b) const {
  const LumaBlock weights = CompareBlock::make(params_).luma;
  Comparison total;
  total.channels = static_cast<uint64_t>(colour_channels(a.format.format));
  total.samples = static_cast<uint64_t>(a.width()) * static_cast<uint64_t>(a.height());
  total.white = static_cast<uint64_t>(max_sample(a.format.format));
  for (int y = 0; y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x)
      for (int c = 0; c < colour_channels(a.format.format); ++c) {
        const int64_t d = a.sample(x, y, c) - b.sample(x, y, c);
        total.squares[c] += static_cast<uint64_t>(d * d);
      }
  total.windows =
      static_cast<uint64_t>(compare_windows(a.width())) * static_cast<uint64_t>(compare_windows(a.height()));
  const auto grey = [&](const Image& i) { return i.channels() == 1 ? i : luma_reference(i, weights); };
  const Image grey_a = grey(a), grey_b = grey(b);
  with_sample_type(a.format.format, [&]<class S>() { total.ssim_q24 = all_windows<S>(grey_a, grey_b); });
  return total;
}

}  // namespace lensd
#endif
