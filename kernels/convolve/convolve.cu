// convolve on the tensor cores. For each kernel row, the left factor holds pixels of 16 image rows. The right
// factor holds the row's weights, shifted by one column for each of 8 output columns. The products of all
// kernel rows accumulate in the same sums. Weights are split into bytes; the highest byte is signed. The sums
// of the bytes are combined from the highest byte down, modulo 2^32.
#include "kernels/common/tiles/byte_products.cuh"
#include "kernels/common/tiles/stage_ring.cuh"
#include "kernels/convolve/convolve.hpp"

namespace lensd {
namespace {

/// A block computes a tile of 128 grey or 64 colour columns by 64 rows; each of the four warps computes a
/// quarter of the columns, 32 rows at a time.
template <int kChannels>
struct ConvolveShape : StageShape<kChannels, kChannels == 1 ? 128 : 64, 8> {
  using Stage = StageShape<kChannels, kChannels == 1 ? 128 : 64, 8>;
  static constexpr int planes = kChannels == 1 ? 1 : 3;
  static constexpr int windows = kChannels == 1 ? 2 : 1;  ///< windows of 16 columns per warp
  static constexpr int units = planes * windows;
  static constexpr int rows = 64, group = 32;
  static constexpr int blocks = kChannels == 1 ? 5 : 4;  ///< blocks per multiprocessor
  static constexpr int stages = (rows + kConvolveMaxSide - 1 + kStageRows - 1) / kStageRows;
};

struct ConvolveTables {
  static constexpr int entries = 16 + 16 + 12;
  int weights[kConvolveMaxSide * kConvolveMaxSide];
  /// words[b][row][i] holds byte b of four adjacent weights of kernel row `row`. The first of them is in
  /// column i − 23 + cols / 2. Weights outside the kernel are 0.
  uint32_t words[4][kConvolveMaxSide][entries];

  __device__ void load(const ConvolveBlock& block) {
    for (int i = static_cast<int>(threadIdx.x); i < block.rows * block.cols; i += kStageThreads)
      weights[i] = block.weights[i];
  }
  __device__ void make(const ConvolveBlock& block) {
    for (int i = static_cast<int>(threadIdx.x); i < block.rows * entries; i += kStageThreads) {
      const int row = i / entries, entry = i - row * entries, first = entry - 23 + block.cols / 2;
      uint32_t w[4];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int column = first + k;
        w[k] = column >= 0 && column < block.cols ? static_cast<uint32_t>(weights[row * block.cols + column])
                                                  : 0;
      }
      for (int byte = 0; byte < block.bytes; ++byte) {
        const auto pick = static_cast<uint32_t>(byte | (byte + 4) << 4);
        words[byte][row][entry] =
            __byte_perm(__byte_perm(w[0], w[1], pick), __byte_perm(w[2], w[3], pick), 0x5410);
      }
    }
  }
};

struct ConvolveJob {
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
  const ConvolveBlock* block;
  bool wide;         ///< input rows are aligned to 16 bytes
  bool out_wide;     ///< output rows are aligned to 16 (colour) or 4 (grey) bytes
  bool out_aligned;  ///< output rows are aligned to 4 bytes
};

/// Sums of a lane: [first or second 16 rows][plane or window][first or second pair of columns].
template <class Shape>
using ConvolveSums = ByteSums[2][Shape::units][2];

/// Adds the products of the pixels and one byte of each weight. `words`: ConvolveTables::words of this byte.
/// `line`: the lane's first pixels in the top row of its window. `g` is lane / 4, `t` is lane % 4.
template <class Shape, bool kSigned>
__device__ void add_byte(ConvolveSums<Shape>& sums, const uint32_t (*words)[ConvolveTables::entries],
                         int rows, const uint8_t* line, int g, int t) {
  const uint32_t* entry = words[0] + 15 + 4 * t - (g / 2 * 4 + g % 2);
#pragma unroll 1
  for (int row = 0; row < rows; ++row, line += Shape::pitch, entry += ConvolveTables::entries) {
    const uint32_t weights[2][2] = {{entry[0], entry[16]}, {entry[-2], entry[14]}};
#pragma unroll
    for (int m = 0; m < 2; ++m) {
      ByteRows pixels[Shape::planes][1 + Shape::windows];
#pragma unroll
      for (int v = 0; v < 2; ++v)
#pragma unroll
        for (int i = 0; i < 1 + Shape::windows; ++i) {
          uint32_t planes[Shape::planes];
          planes_of_four<Shape::channels>(line + (16 * m + 8 * v) * Shape::pitch + 16 * Shape::channels * i,
                                          planes);
#pragma unroll
          for (int p = 0; p < Shape::planes; ++p) pixels[p][i][v] = planes[p];
        }
#pragma unroll
      for (int u = 0; u < Shape::units; ++u)
#pragma unroll
        for (int n = 0; n < 2; ++n) {
          const auto& from = pixels[u % Shape::planes];
          const int window = u / Shape::planes;
          multiply_32<kSigned>(sums[m][u][n], from[window], from[window + 1], weights[n][0], weights[n][1]);
        }
    }
  }
}

/// Returns four output values of row g + 8 · v.
__device__ uint32_t four_values(const ByteSums (&sums)[2], int v, int bias, int shift, int up) {
  const auto value = [&](int sum) { return static_cast<uint32_t>(convolve_value(sum, bias, shift, up)); };
  return value(sums[0][2 * v]) | value(sums[0][2 * v + 1]) << 8 | value(sums[1][2 * v]) << 16 |
         value(sums[1][2 * v + 1]) << 24;
}

/// Loads the pixels under a tile, beginning with row y, and fills the tables. Ends with a barrier.
template <class Tile>
__device__ void load_tile(const StageSource<Tile>& source, int y, const ConvolveBlock& block, uint8_t* tile,
                          ConvolveTables& tables) {
  const int stages = (Tile::rows + block.rows - 1 + kStageRows - 1) / kStageRows;
  StageFeed<Tile> feed(source, y);
#pragma unroll 1
  for (int i = 0; i < stages; ++i) feed.fetch(source, tile + i * Tile::bytes);
  close_stage();
  tables.load(block);
  __syncthreads();
  tables.make(block);
  await_stages<0>();
  __syncthreads();
  if (!source.edge()) return;
  for (int i = 0; i < stages; ++i) fill_sides<Tile>(source, y + kStageRows * i, tile + i * Tile::bytes);
  __syncthreads();
}

/// Adds the products of the pixels and the weights, from the highest byte of the weights down; arguments as
/// in add_byte().
template <class Shape>
__device__ void add_bytes(ConvolveSums<Shape>& sums, const ConvolveTables& tables, const ConvolveBlock& block,
                          const uint8_t* line, int g, int t) {
  int byte = block.bytes - 1;
  add_byte<Shape, true>(sums, tables.words[byte], block.rows, line, g, t);
#pragma unroll 1
  while (--byte >= 0) {
#pragma unroll
    for (auto& half : sums)
#pragma unroll
      for (auto& unit : half)
#pragma unroll
        for (auto& columns : unit)
#pragma unroll
          for (int& sum : columns) sum = static_cast<int>(static_cast<uint32_t>(sum) << 8);
    add_byte<Shape, false>(sums, tables.words[byte], block.rows, line, g, t);
  }
}

/// Writes a lane's pixels.
template <int kChannels>
struct ConvolveWriter {
  using Tile = ConvolveShape<kChannels>;
  const ConvolveJob& job;
  bool whole;  ///< the tile is inside the picture and aligned
  int x, y0, g;
  const uint8_t* centre;  ///< input pixels of the tile's top row, for alpha
  int bias, shift, up;

  __device__ uint32_t four(const ByteSums (&sums)[2], int v) const {
    return four_values(sums, v, bias, shift, up);
  }
  /// Writes the 32 rows from row `first` of the tile on.
  __device__ void rows(const ConvolveSums<Tile>& sums, int first) const {
#pragma unroll
    for (int m = 0; m < 2; ++m)
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const int row = first + 16 * m + 8 * v + g, y = y0 + row;
        if constexpr (kChannels == 1) {
#pragma unroll
          for (int w = 0; w < Tile::windows; ++w) {
            const uint32_t px = four(sums[m][w], v);
            if (whole)
              *reinterpret_cast<uint32_t*>(job.out.row(y) + x + 16 * w) = px;
            else
              store_bordered(job.out, x + 16 * w, y, job.out_aligned, px);
          }
        } else {
          uint32_t planes[Tile::planes];
#pragma unroll
          for (int p = 0; p < Tile::planes; ++p) planes[p] = four(sums[m][p], v);
          const uint4 px =
              pixels_of_planes(planes, *reinterpret_cast<const uint4*>(centre + row * Tile::pitch));
          if (whole)
            *reinterpret_cast<uint4*>(job.out.row(y) + 4 * x) = px;
          else
            store_bordered(job.out, x, y, job.out_aligned, px);
        }
      }
  }
};

template <int kChannels>
__global__ void __launch_bounds__(kStageThreads, ConvolveShape<kChannels>::blocks)
    convolve_tile_kernel(const __grid_constant__ ConvolveJob job) {
  using Tile = ConvolveShape<kChannels>;
  __shared__ uint4 memory[Tile::stages * Tile::Stage::bytes / 16];
  __shared__ ConvolveTables tables;
  auto* tile = reinterpret_cast<uint8_t*>(memory);
  const ConvolveBlock& block = *job.block;
  const int y0 = static_cast<int>(blockIdx.y) * Tile::rows, above = block.rows / 2;
  const StageSource<Tile> source{job.in, block.border, job.wide, static_cast<int>(blockIdx.x) * Tile::tile_w};
  load_tile(source, y0 - above, block, tile, tables);

  const int thread = static_cast<int>(threadIdx.x), g = thread % 32 / 4, t = thread % 4;
  const int column = thread / 32 * 16 * Tile::windows + 4 * t;
  const int centre_at = (Tile::margin + column) * kChannels;
  const bool whole = job.out_wide && source.x0 + Tile::tile_w <= job.out.extent.width &&
                     y0 + Tile::rows <= job.out.extent.height;
  const ConvolveWriter<kChannels> writer{job,        whole,       source.x0 + column,
                                         y0,         g,           tile + above * Tile::pitch + centre_at,
                                         block.bias, block.shift, block.up};
#pragma unroll 1
  for (int first = 0; first < Tile::rows && y0 + first < job.out.extent.height; first += Tile::group) {
    ConvolveSums<Tile> sums = {};
    add_bytes<Tile>(sums, tables, block,
                    tile + (first + g) * Tile::pitch + centre_at - Tile::halo * kChannels, g, t);
    writer.rows(sums, first);
  }
}

template <int kChannels>
void launch_convolve(const PassArgs& args, CudaStream stream) {
  using Tile = ConvolveShape<kChannels>;
  const ConstImageRef in = args.in[0];
  const ConvolveJob job{in.as<const uint8_t>(),
                        args.out.as<uint8_t>(),
                        static_cast<const ConvolveBlock*>(args.block),
                        rows_aligned(in, 16),
                        rows_aligned(args.out, kChannels == 1 ? 4 : 16),
                        rows_aligned(args.out, 4)};
  const dim3 grid(blocks_for(in.width(), Tile::tile_w), blocks_for(in.height(), Tile::rows));
  convolve_tile_kernel<kChannels><<<grid, kStageThreads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace

void Convolve::prepare_kernels() {
  prefer_shared_memory(&convolve_tile_kernel<1>);
  prefer_shared_memory(&convolve_tile_kernel<4>);
  prepare_deep_kernels();
}

void Convolve::launch_apply(const PassArgs& args, CudaStream stream) const {
  if (args.in[0].is_deep()) return launch_deep(args, stream);
  (args.in[0].channels() == 1 ? launch_convolve<1> : launch_convolve<4>)(args, stream);
}

}  // namespace lensd
