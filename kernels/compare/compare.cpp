#include "kernels/compare/compare.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "core/device/memory.hpp"
#include "kernels/common/tally.hpp"
#include "kernels/scopes/scope_rows.hpp"

namespace lensd {
namespace {

/// Minimum rows of blocks or windows per band, so that adding a band's sums to the totals costs little.
constexpr int kRows = 4;

template <class T>
void add(T& total, T part) {
  std::atomic_ref(total).fetch_add(part, std::memory_order_relaxed);
}

/// Worker memory: a luma row of each image, and the column sums of four rows.
struct Rows {
  uint8_t *luma_a, *luma_b;
  uint16_t *a, *b;
  uint32_t *squares, *products;

  static size_t stride(int width) { return align_up(static_cast<size_t>(width), 64); }
  static size_t bytes(int width) { return stride(width) * (2 + 2 * 2 + 2 * 4); }
  Rows(uint8_t* worker, int width) {
    const size_t n = stride(width);
    luma_a = worker, luma_b = worker + n;
    a = reinterpret_cast<uint16_t*>(worker + 2 * n), b = a + n;
    squares = reinterpret_cast<uint32_t*>(b + n), products = squares + n;
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

/// Does the same for samples of 16 bits.
void add_deep_squares(const uint16_t* a, const uint16_t* b, int samples, uint64_t sums[4]) {
  for (int x = 0; x < samples; ++x) {
    const int64_t d = a[x] - b[x];
    sums[x & 3] += static_cast<uint64_t>(d * d);
  }
}

void add_columns(const uint8_t* a, const uint8_t* b, int width, const Rows& rows) {
  for (int x = 0; x < width; ++x) rows.a[x] = static_cast<uint16_t>(rows.a[x] + a[x]);
  for (int x = 0; x < width; ++x) rows.b[x] = static_cast<uint16_t>(rows.b[x] + b[x]);
  for (int x = 0; x < width; ++x) {
    const uint32_t p = a[x], q = b[x];
    rows.squares[x] += p * p + q * q;
    rows.products[x] += p * q;
  }
}

/// Processes up to four rows from y on: adds their squared differences to `sums`, and writes a row of block
/// sums to `out` unless it is null.
void blocks_row(const PassArgs& args, int y, const LumaBlock& weights, const Rows& rows, BlockSums* out,
                uint64_t sums[4]) {
  const ConstImageRef a = args.in[0], b = args.in[1];
  const int width = a.width(), blocks = compare_blocks(width), end = std::min(y + kCompareBlock, a.height());
  std::memset(rows.a, 0,
              Rows::bytes(width) - static_cast<size_t>(reinterpret_cast<uint8_t*>(rows.a) - rows.luma_a));
  for (int row = y; row < end; ++row) {
    if (a.is_deep())
      add_deep_squares(a.samples<uint16_t>(row), b.samples<uint16_t>(row), width * a.channels(), sums);
    else
      add_squares(a.row(row), b.row(row), static_cast<int>(a.row_bytes()), sums);
    if (!out) continue;
    add_columns(luma_of_row(a, row, 0, width, weights, rows.luma_a),
                luma_of_row(b, row, 0, width, weights, rows.luma_b), width, rows);
  }
  for (int i = 0; out && i < blocks; ++i) {
    BlockSums block{};
    for (int x = kCompareBlock * i; x < kCompareBlock * (i + 1); ++x)
      block.a += rows.a[x], block.b += rows.b[x], block.squares += rows.squares[x],
          block.products += rows.products[x];
    out[i] = block;
  }
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
                      .bytes = static_cast<double>(blocks * sizeof(BlockSums)),
                      .operations = static_cast<double>(blocks) * 40}},
          .scratch_bytes = {std::max<size_t>(blocks, 1) * sizeof(BlockSums)},
          .worker_bytes = Rows::bytes(width),
          .stats_bytes = sizeof(Comparison)};
}

void Compare::sum_blocks(const PassArgs& args, Band band) const {
  const ConstImageRef in = args.in[0];
  const int width = in.width(), height = in.height(), blocks = compare_blocks(width);
  auto* sums = reinterpret_cast<BlockSums*>(args.scratch[0]);
  auto& total = *static_cast<Comparison*>(args.stats);
  const Rows rows(args.worker, width);
  uint64_t squares[4] = {};
  for (int i = band.begin; i < band.end; ++i) {
    BlockSums* out =
        i < compare_blocks(height) ? sums + static_cast<size_t>(i) * static_cast<size_t>(blocks) : nullptr;
    blocks_row(args, i * kCompareBlock, block_of(args).luma, rows, out, squares);
  }
  const int channels = colour_channels(in.format.format);
  if (channels == 1) squares[0] += squares[1] + squares[2] + squares[3];
  for (int c = 0; c < channels; ++c) add(total.squares[c], squares[c]);
  if (band.begin == 0) {
    total.samples = static_cast<uint64_t>(width) * static_cast<uint64_t>(height);
    total.channels = static_cast<uint64_t>(channels);
    total.white = static_cast<uint64_t>(max_sample(in.format.format));
    total.windows =
        static_cast<uint64_t>(compare_windows(width)) * static_cast<uint64_t>(compare_windows(height));
  }
}

void Compare::sum_windows(const PassArgs& args, Band band) const {
  const int width = args.in[0].width(), height = args.in[0].height(), blocks = compare_blocks(width);
  const auto* sums = reinterpret_cast<const BlockSums*>(args.scratch[0]);
  int64_t ssim = 0;
  for (int y = band.begin; y < std::min(band.end, compare_windows(height)); ++y) {
    const BlockSums* upper = sums + static_cast<size_t>(y) * static_cast<size_t>(blocks);
    const BlockSums* lower = upper + blocks;
    for (int x = 0; x < compare_windows(width); ++x) {
      BlockSums window = upper[x];
      window.add(upper[x + 1]), window.add(lower[x]), window.add(lower[x + 1]);
      ssim += window_ssim(window);
    }
  }
  add(static_cast<Comparison*>(args.stats)->ssim_q24, ssim);
}

void Compare::reference(ReferenceRun& run) const {
  run.out = Image({PixelFormat::gray8, {1, 1}});
}

Comparison Compare::compare_reference(const Image& a, const Image& b) const {
  const LumaBlock weights = CompareBlock::make(params_).luma;
  const auto luma_at = [&](const Image& i, int x, int y) {
    const auto at = [&](int c) { return i.sample(x, y, c); };
    if (!i.is_deep())
      return static_cast<uint32_t>(i.channels() == 1 ? at(0) : luma(weights, at(0), at(1), at(2)));
    const int value = i.channels() == 1 ? at(0) : luma16(weights, at(0), at(1), at(2));
    return static_cast<uint32_t>((value + 128) / 257);
  };
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
  for (int wy = 0; wy < compare_windows(a.height()); ++wy)
    for (int wx = 0; wx < compare_windows(a.width()); ++wx) {
      BlockSums window{};
      for (int y = 4 * wy; y < 4 * wy + 8; ++y)
        for (int x = 4 * wx; x < 4 * wx + 8; ++x) window.add(luma_at(a, x, y), luma_at(b, x, y));
      total.ssim_q24 += window_ssim(window), ++total.windows;
    }
  return total;
}

}  // namespace lensd
