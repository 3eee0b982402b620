// median of 8-bit images with radius 4 and more on CUDA: the search of median_tiles_simd.cpp with a warp per
// tile. When columns are counted, a lane processes one word (four pixels) of every row. When windows are
// counted, a lane processes one row of the tile. So neither step needs shuffles.
#include "kernels/common/tiles/planar_tile.cuh"
#include "kernels/common/warp.cuh"
#include "kernels/median/median.hpp"

namespace lensd {
namespace {

constexpr int kRows = 32;   ///< rows of a tile, one per lane
constexpr int kWords = 32;  ///< words of a row with its border, one per lane
constexpr int kPitch = 33;  ///< words of a row of column sums; avoids bank conflicts between rows
/// Size of the result array. At most 28 words are used, but an array of 28 words is 2 to 13 % slower.
constexpr int kMaxOutputs = 30;
constexpr uint32_t kEach = 0x01010101u;

struct MedianTilesJob {
  TileSource in;
  ImageView<uint8_t> out;
  const MedianBlock* block;
  int radius;  ///< radius from configure()
  int channels;
  bool aligned;  ///< output rows start at multiples of 4 bytes
};

/// Returns the border left and right of a tile in pixels: the radius and one column, rounded up to words.
__host__ __device__ constexpr int tile_border(int radius) {
  return (radius + 4) / 4 * 4;
}
__host__ __device__ constexpr int tile_width(int radius) {
  return 4 * kWords - 2 * tile_border(radius);
}

/// Compares four bytes with a threshold. Bit 7 of each byte of ge() is set if the byte is at or above the
/// threshold; the other bits are arbitrary. ones() returns 1 or 0 in each byte.
struct Threshold {
  uint32_t low, high;
  __device__ explicit Threshold(int t)
      : low(static_cast<uint32_t>(128 - (t & 127)) * kEach), high(t & 128 ? ~0u : 0u) {}
  __device__ uint32_t ge(uint32_t bytes) const {
    const uint32_t sum = (bytes & 0x7f7f7f7fu) + low;
    return (high & bytes & sum) | (~high & (bytes | sum));
  }
  __device__ uint32_t ones(uint32_t bytes) const { return ge(bytes) >> 7 & kEach; }
};

/// Copies bit 7 of each byte to all its bits. Written in assembly, since __byte_perm ignores the selectors'
/// sign bits.
__device__ uint32_t spread_top_bits(uint32_t word) {
  uint32_t spread;
  asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(spread) : "r"(word));
  return spread;
}

/// Counts samples at or above the threshold in the lane's four columns over 2r + 1 rows, for each row of the
/// tile.
__device__ void count_columns(const uint32_t* samples, int radius, Threshold threshold, int lane,
                              uint32_t* columns) {
  uint32_t sum = 0;
#pragma unroll 4
  for (int row = 0; row < 2 * radius; ++row) sum += threshold.ones(samples[row * kWords + lane]);
#pragma unroll 8
  for (int y = 0; y < kRows; ++y) {
    sum += threshold.ones(samples[(y + 2 * radius) * kWords + lane]);
    columns[y * kPitch + lane] = sum;
    sum -= threshold.ones(samples[y * kWords + lane]);
  }
}

/// Slides the window along a row of column sums, four pixels per step. Totals are packed in bytes up to
/// radius 7, where they are at most 225, and in 16-bit halves for larger radii. A bias sets the top bit if a
/// total exceeds half the window. Packed totals are added with plain integer arithmetic, because borrows
/// between neighbours cancel out in complete totals.
template <bool kWide>
class Window {
 public:
  __device__ Window(const uint32_t* row, int radius) : row_(row) {
    const int side = 2 * radius + 1, left = tile_border(radius) - radius - 1,
              right = tile_border(radius) + radius;
    right_word_ = right / 4, left_shift_ = 8 * left, right_shift_ = 8 * (right % 4);
    uint32_t total = __dp4a(row[0] >> left_shift_, kEach, 0u);
    for (int i = 1; i < right_word_; ++i) total = __dp4a(row[i], kEach, total);
    total = __dp4a(row[right_word_] & ((1u << right_shift_) - 1), kEach, total);
    const uint32_t bias = (kWide ? 32767 : 127) - static_cast<uint32_t>(side * side / 2);
    total_ = (total + bias) * (kWide ? 0x00010001u : kEach);
    left_ = row[0], right_ = row[right_word_];
  }

  /// Returns the results for the four pixels of word `i` in bit 7 of each byte; the other bits are arbitrary.
  __device__ uint32_t next(int i) {
    const uint32_t left = row_[i + 1], right = row_[right_word_ + i + 1];
    const uint32_t leave = __funnelshift_r(left_, left, left_shift_);
    const uint32_t enter = __funnelshift_r(right_, right, right_shift_);
    left_ = left, right_ = right;
    if constexpr (kWide) {
      // Prefix sums over the four bytes: at most 204.
      const uint32_t gain = enter * kEach, loss = leave * kEach;
      const uint32_t first = total_ + __byte_perm(gain, 0, 0x4140) - __byte_perm(loss, 0, 0x4140);
      const uint32_t second = total_ + __byte_perm(gain, 0, 0x4342) - __byte_perm(loss, 0, 0x4342);
      total_ = __byte_perm(second, 0, 0x3232);
      return __byte_perm(first, second, 0x7531);
    } else {
      const uint32_t totals = (enter - leave) * kEach + total_;
      total_ = __byte_perm(totals, 0, 0x3333);
      return totals;
    }
  }

 private:
  const uint32_t* row_;
  int right_word_, left_shift_, right_shift_;
  uint32_t total_, left_, right_;
};

/// Raises the lower bounds in `medians` (the lane's row) to `t` for pixels whose median is at least `t`.
/// Returns the number of such pixels in the tile.
template <bool kWide>
__device__ int raise_medians(const uint32_t* samples, uint32_t* columns, int radius, int words, int t,
                             int lane, uint32_t (&medians)[kMaxOutputs]) {
  const Threshold threshold(t);
  count_columns(samples, radius, threshold, lane, columns);
  __syncwarp();
  Window<kWide> window(columns + lane * kPitch, radius);
  const uint32_t value = static_cast<uint32_t>(t) * kEach;
  uint32_t counts = 0;
#pragma unroll
  for (int i = 0; i < kMaxOutputs; ++i) {
    if (i >= words) break;
    const uint32_t marks = window.next(i);
    counts += marks >> 7 & kEach;
    const uint32_t raise = spread_top_bits(marks & ~threshold.ge(medians[i]));
    medians[i] = (medians[i] & ~raise) | (value & raise);
  }
  __syncwarp();
  return static_cast<int>(warp_sum(__dp4a(counts, kEach, 0u)));
}

/// Loads colour plane `plane` of the tile at pixel (x, y). Returns its minimum and maximum.
__device__ int2 load_tile(const MedianTilesJob& job, int x, int y, int rows, int plane, int lane,
                          uint32_t* samples) {
  const Border border = job.block->border;
  uint32_t low = ~0u, high = 0;
#pragma unroll 4
  for (int row = 0; row < rows; ++row) {
    uint32_t word[1], colours[3];
    if (job.channels == 1) {
      load_quad<1>(job.in, x + 4 * lane, y + row, border, word);
    } else {
      load_quad<4>(job.in, x + 4 * lane, y + row, border, colours);
      word[0] = plane == 0 ? colours[0] : plane == 1 ? colours[1] : colours[2];
    }
    samples[row * kWords + lane] = word[0];
    low = __vminu4(low, word[0]), high = __vmaxu4(high, word[0]);
  }
  const auto byte = [](uint32_t word, int i) { return word >> (8 * i) & 255; };
  const uint32_t least = min(min(byte(low, 0), byte(low, 1)), min(byte(low, 2), byte(low, 3)));
  const uint32_t most = max(max(byte(high, 0), byte(high, 1)), max(byte(high, 2), byte(high, 3)));
  __syncwarp();
  return make_int2(static_cast<int>(warp_min(least)), static_cast<int>(warp_max(most)));
}

/// Stores the medians of one plane; with the first plane also stores alpha.
__device__ void store_tile(const MedianTilesJob& job, int x0, int y0, int words, int plane, int lane,
                           const uint32_t* medians) {
  const int x = x0 + 4 * lane, count = min(4, job.out.extent.width - x);
  if (lane >= words || count <= 0) return;
  for (int row = 0; row < min(kRows, job.out.extent.height - y0); ++row) {
    const uint32_t word = medians[row * kPitch + lane];
    const int step = job.channels;
    uint8_t* out = job.out.row(y0 + row) + x * step;
    if (step == 1) {
      store_bytes(out, word, count, job.aligned);
      continue;
    }
    const uint8_t* in = job.in.row(y0 + row) + 4 * x;
    for (int i = 0; i < count; ++i) {
      out[4 * i + plane] = static_cast<uint8_t>(word >> (8 * i));
      if (plane == 0) out[4 * i + 3] = in[4 * i + 3];
    }
  }
}

struct Interval {
  int from, to, at_from, at_to;  ///< range of thresholds, and number of medians ≥ each end
};

template <bool kWide>
__global__ void __launch_bounds__(32) median_tiles_kernel(MedianTilesJob job) {
  extern __shared__ uint32_t memory[];
  const int lane = static_cast<int>(threadIdx.x), radius = job.radius;
  const int width = tile_width(radius), words = width / 4, rows = kRows + 2 * radius;
  const int x0 = static_cast<int>(blockIdx.x) * width, y0 = static_cast<int>(blockIdx.y) * kRows;
  uint32_t *samples = memory, *columns = memory + rows * kWords;
  for (int plane = 0; plane < min(3, job.channels); ++plane) {
    const int2 range = load_tile(job, x0 - tile_border(radius), y0 - radius, rows, plane, lane, samples);
    uint32_t medians[kMaxOutputs];
#pragma unroll
    for (int i = 0; i < kMaxOutputs; ++i) medians[i] = static_cast<uint32_t>(range.x) * kEach;
    Interval open[12];  // stack for depth-first search over 256 values: at most nine are pending
    int count = 0;
    open[count++] = {range.x, range.y + 1, kRows * width, 0};
    while (count > 0) {
      const Interval now = open[--count];
      if (now.to - now.from < 2 || now.at_from == now.at_to) continue;
      const int middle = (now.from + now.to) / 2;
      const int at = raise_medians<kWide>(samples, columns, radius, words, middle, lane, medians);
      open[count++] = {now.from, middle, now.at_from, at};
      open[count++] = {middle, now.to, at, now.at_to};
    }
#pragma unroll
    for (int i = 0; i < kMaxOutputs; ++i) columns[lane * kPitch + i] = medians[i];
    __syncwarp();
    store_tile(job, x0, y0, words, plane, lane, columns);
    __syncwarp();
  }
}

}  // namespace

void Median::launch_tiles(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const MedianTilesJob job{
      TileSource(in), args.out.as<uint8_t>(), static_cast<const MedianBlock*>(args.block),
      radius_,        in.channels(),          rows_aligned(args.out, 4)};
  const dim3 grid(blocks_for(in.width(), tile_width(radius_)), blocks_for(in.height(), kRows));
  static_assert(4 * ((kRows + 2 * kMedianMaxRadius) * kWords + kRows * kPitch) <= kPlainSharedBytes);
  const auto bytes = static_cast<unsigned>(4 * ((kRows + 2 * radius_) * kWords + kRows * kPitch));
  const auto kernel = radius_ <= 7 ? median_tiles_kernel<false> : median_tiles_kernel<true>;
  kernel<<<grid, 32, bytes, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace lensd
