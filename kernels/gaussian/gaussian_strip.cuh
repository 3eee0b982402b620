// The CUDA side of gaussian and unsharp: both passes as products of matrices on the tensor cores, exactly.
//
//   global ── ring of 16-row stages (common/stage_ring.cuh) ── × weights across ──▶ 16-bit samples in
//   registers ── × weights down ──▶ finish (unsharp: the difference) ──▶ global
//
// A block owns a strip of columns and walks down a segment of rows, 16 at a time; a warp owns 32 grey or 16
// colour columns of it. Weights (16 bits) and samples (16 bits, the lowest 0) are split into bytes, and the
// products of bytes (common/byte_products.cuh) are put together again: the sums are the definition's, to the
// last bit.
//
// Horizontally the weights are the left factor (rows: 16 output columns, summed: 16 + 2 · halo pixels) and
// pixels of 8 image rows the right one. The sums then have a column's neighbouring rows in one lane, and that
// is, packed, the right factor of the vertical product, whose left one are weights again: no sample leaves
// the registers.
#pragma once

#include <algorithm>

#include "core/graph/filter.hpp"
#include "kernels/common/byte_products.cuh"
#include "kernels/common/stage_ring.cuh"
#include "kernels/gaussian/gaussian_math.hpp"

namespace lensd {

struct BlurJob {
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
  const GaussianBlock* params;
  int segment_rows;     ///< rows of a block, a multiple of 16
  bool wide, out_wide;  ///< rows start at multiples of 16; of the output: 16 (colour) or 4 (grey)
  bool out_aligned;     ///< … of 4
};

/// Sizes for windows that reach `kHalo` (8, 16, 24 or 32) pixels at most.
template <int kChannels, int kHalo, bool kKeepsInput>
struct BlurShape : StageShape<kChannels, kChannels == 1 ? 128 : 64, kHalo> {
  using Stage = StageShape<kChannels, kChannels == 1 ? 128 : 64, kHalo>;
  static constexpr int planes = kChannels == 1 ? 1 : 3;
  static constexpr int windows = kChannels == 1 ? 2 : 1;  ///< of 16 columns, a warp's
  static constexpr int units = planes * windows;
  static constexpr int halves = 1 + kHalo / 8;  ///< half blocks of a window
  /// Rows are written while the next ones are summed across: independent work for the pipes, as long as the
  /// registers suffice.
  static constexpr bool overlapped = kHalo <= 16;
  /// Stages between the first that rows are written from and the one that arrives meanwhile.
  static constexpr int span = kHalo / 8 + (overlapped ? 1 : 0);
  /// How many stages behind the newest one the input of output rows g + 8 · v lies.
  static constexpr int behind(int v) { return span - (kHalo + 8 * v) / 16; }
  static constexpr int stages = kStagesAhead + 1 + (kKeepsInput ? span - kHalo / 16 : 0);
  static constexpr int ring_bytes = stages * Stage::bytes;
};

/// Words of four weights, low and high bytes: for four neighbours (across) from each first one on, and for
/// rows 0, 1, 8 and 9 (down).
struct BlurTables {
  static constexpr int entries = 16 + 16 * (1 + 32 / 8);
  uint32_t across[2][entries], down[2][entries];
};

/// Entry q begins with tap q − 15 − halo + radius. A tap of 65536 becomes 65535: all others are zero then,
/// and the rounded results are the same.
__device__ inline void make_blur_tables(const GaussianBlock& block, int halo, BlurTables& tables) {
  const int radius = block.radius;
  const auto tap = [&](int i) {
    if (i < 0 || i > 2 * radius) return 0u;
    const int value = block.taps[i] + (i == radius ? block.whole_centre << 16 : 0);
    return static_cast<uint32_t>(min(value, 65535));
  };
  for (int q = static_cast<int>(threadIdx.x); q < BlurTables::entries; q += kStageThreads) {
    const int i = q - 15 - halo + radius;
    const uint32_t a = tap(i) | tap(i + 1) << 16, b = tap(i + 2) | tap(i + 3) << 16,
                   c = tap(i + 8) | tap(i + 9) << 16;
    tables.across[0][q] = __byte_perm(a, b, 0x6420), tables.across[1][q] = __byte_perm(a, b, 0x7531);
    tables.down[0][q] = __byte_perm(a, c, 0x6420), tables.down[1][q] = __byte_perm(a, c, 0x7531);
  }
}

/// The left factors as a lane holds them: [low or high bytes][half block].
template <class Shape>
struct BlurWeights {
  ByteRows across[2][Shape::halves], down[2][Shape::halves];

  /// Row m of the horizontal one makes column 4 · (m / 2) + m % 2 of its window, rows from 8 on two columns
  /// more: so a lane ends up with four neighbouring columns.
  __device__ BlurWeights(const BlurTables& tables, int g, int t) {
#pragma unroll
    for (int part = 0; part < 2; ++part)
#pragma unroll
      for (int i = 0; i < Shape::halves; ++i)
#pragma unroll
        for (int m = 0; m < 2; ++m) {
          across[part][i][m] = tables.across[part][15 + 16 * i + 4 * t - (g / 2 * 4 + g % 2 + 2 * m)];
          down[part][i][m] = tables.down[part][15 + 16 * i + 2 * t - (g + 8 * m)];
        }
  }
};

/// A lane's share of the rows that a vertical window spans: [window or plane][columns of the lower or upper
/// four][low or high bytes][half block of rows].
template <class Shape>
struct BlurSamples {
  uint32_t of[Shape::units][2][2][Shape::halves];

  /// The sums across of 16 rows become the newest half block. `line` is the lane's first word in the stage.
  __device__ void add_rows(const BlurWeights<Shape>& weights, const uint8_t* line) {
    constexpr int kWords = Shape::halves + Shape::windows - 1;
    uint32_t words[2][Shape::planes][kWords];
#pragma unroll
    for (int j = 0; j < 2; ++j)
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        uint32_t planes[Shape::planes];
        planes_of_four<Shape::channels>(line + 8 * j * Shape::pitch + 16 * Shape::channels * i, planes);
#pragma unroll
        for (int p = 0; p < Shape::planes; ++p) words[j][p][i] = planes[p];
      }
#pragma unroll
    for (int u = 0; u < Shape::units; ++u) {
      uint32_t sums[2][4];
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const uint32_t* from = words[j][u % Shape::planes] + u / Shape::planes;
        ByteSums low = {256, 256, 256, 256}, high = {};  // 256 rounds
        multiply<Shape::halves>(low, weights.across[0], from);
        multiply<Shape::halves>(high, weights.across[1], from);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sums[j][i] = static_cast<uint32_t>(high[i]) * 256 + static_cast<uint32_t>(low[i]);
      }
#pragma unroll
      for (int n = 0; n < 2; ++n) {  // a sample is bytes 1 and 2 of a sum without the lowest bit
        const uint32_t p0 = __byte_perm(sums[0][2 * n], sums[0][2 * n + 1], 0x6521),
                       p1 = __byte_perm(sums[1][2 * n], sums[1][2 * n + 1], 0x6521);
#pragma unroll
        for (auto& part : of[u][n])
#pragma unroll
          for (int i = 0; i + 1 < Shape::halves; ++i) part[i] = part[i + 1];
        of[u][n][0][Shape::halves - 1] = __byte_perm(p0, p1, 0x6420) & 0xfefefefeu;
        of[u][n][1][Shape::halves - 1] = __byte_perm(p0, p1, 0x7531);
      }
    }
  }

  /// The sums down: four blurred pixels of rows g and g + 8, a word each.
  __device__ void sum_down(const BlurWeights<Shape>& weights, uint32_t (&rows)[2][Shape::units]) const {
#pragma unroll
    for (int u = 0; u < Shape::units; ++u) {
      uint32_t sums[2][4];
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        ByteSums low = {1 << 23, 1 << 23, 1 << 23, 1 << 23}, middle = {}, high = {};
        multiply<Shape::halves>(low, weights.down[0], of[u][n][0]);
        multiply<Shape::halves>(middle, weights.down[0], of[u][n][1]);
        multiply<Shape::halves>(high, weights.down[1], of[u][n][1]);
        multiply<Shape::halves>(middle, weights.down[1], of[u][n][0]);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          sums[n][i] = static_cast<uint32_t>(high[i]) * 65536 + static_cast<uint32_t>(middle[i]) * 256 +
                       static_cast<uint32_t>(low[i]);
      }
#pragma unroll
      for (int v = 0; v < 2; ++v)  // the pixel is the highest byte: samples count twice
        rows[v][u] = __byte_perm(__byte_perm(sums[0][2 * v], sums[0][2 * v + 1], 0x0073),
                                 __byte_perm(sums[1][2 * v], sums[1][2 * v + 1], 0x0073), 0x5410);
    }
  }
};

/// Where a lane writes.
template <class Shape>
struct BlurWriter {
  const BlurJob& job;
  bool full;  ///< the tile's columns are all in the picture and words
  int x, y, g;
  uint8_t* to;

  /// 16 rows. `input(v)` is where the input's pixels of rows g + 8 · v are, in shared memory.
  template <class Finish, class Input>
  __device__ void rows(const uint32_t (&blurred)[2][Shape::units], const Finish& finish, Input input) {
    const bool whole = full && y + kStageRows <= job.out.extent.height;
#pragma unroll
    for (int v = 0; v < 2; ++v) {
      uint8_t* at = to + v * 8 * job.out.pitch_bytes;
      if constexpr (Shape::channels == 1) {
#pragma unroll
        for (int w = 0; w < Shape::windows; ++w) {
          uint32_t px = blurred[v][w];
          if constexpr (Finish::needs_input)
            px = finish(px, *reinterpret_cast<const uint32_t*>(input(v) + 16 * w));
          if (whole)
            *reinterpret_cast<uint32_t*>(at + 16 * w) = px;
          else
            store_bordered(job.out, x + 16 * w, y + g + 8 * v, job.out_aligned, px);
        }
      } else {
        const uint4 in = *reinterpret_cast<const uint4*>(input(v));
        uint4 px = pixels_of_planes(blurred[v], in);
        if constexpr (Finish::needs_input)
          px = make_uint4(finish(px.x, in.x), finish(px.y, in.y), finish(px.z, in.z), finish(px.w, in.w));
        if (whole)
          *reinterpret_cast<uint4*>(at) = px;
        else
          store_bordered(job.out, x, y + g + 8 * v, job.out_aligned, px);
      }
    }
    y += kStageRows, to += kStageRows * job.out.pitch_bytes;
  }
};

template <int kChannels, int kHalo, class Finish>
__device__ void blur_segment(const BlurJob& job, BlurTables& tables, uint8_t* ring) {
  using Shape = BlurShape<kChannels, kHalo, kChannels == 4 || Finish::needs_input>;
  const Finish finish(job.params);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
  const int y0 = static_cast<int>(blockIdx.y) * job.segment_rows;
  const StageSource<Shape> source{job.in, job.params->border, job.wide,
                                  static_cast<int>(blockIdx.x) * Shape::tile_w};
  const bool edge = source.edge();
  const int rows = min(job.segment_rows, job.in.extent.height - y0);
  const int stages = (rows + kStageRows - 1) / kStageRows + Shape::halves - 1;
  StageFeed<Shape> feed(source, y0 - kHalo);
  const auto fetch = [&](int stage, int slot) {
    if (stage < stages) feed.fetch(source, ring + slot * Shape::bytes);
    close_stage();
  };
#pragma unroll 1
  for (int i = 0; i < kStagesAhead; ++i) fetch(i, i);
  make_blur_tables(*job.params, kHalo, tables);
  __syncthreads();
  const BlurWeights<Shape> weights(tables, g, t);

  const int column = warp * 16 * Shape::windows + 4 * t;
  const int centre_at = (Shape::margin + column) * kChannels;  // in a stage's row
  const uint8_t* const lane = ring + g * Shape::pitch + centre_at - kHalo * kChannels;
  BlurSamples<Shape> samples = {};
  BlurWriter<Shape> writer{job,
                           job.out_wide && source.x0 + Shape::tile_w <= job.out.extent.width,
                           source.x0 + column,
                           y0,
                           g,
                           job.out.row(y0 + g) + (source.x0 + column) * kChannels};
  int stage = 0, slot = 0, next = kStagesAhead % Shape::stages;
  const auto arrive = [&] {
    await_stages<kStagesAhead - 1>();
    __syncthreads();
    if (edge) {
      fill_sides<Shape>(source, y0 - kHalo + kStageRows * stage, ring + slot * Shape::bytes);
      __syncthreads();
    }
    fetch(stage + kStagesAhead, next);
    if (++next == Shape::stages) next = 0;
  };
  const auto across = [&] { samples.add_rows(weights, lane + slot * Shape::bytes); };
  const auto down = [&] {
    uint32_t blurred[2][Shape::units];
    samples.sum_down(weights, blurred);
    writer.rows(blurred, finish, [&](int v) {
      int from = slot - Shape::behind(v);
      if (from < 0) from += Shape::stages;
      return ring + from * Shape::bytes + ((kHalo + 8 * v) % 16 + g) * Shape::pitch + centre_at;
    });
  };
  const auto advance = [&] {
    ++stage;
    if (++slot == Shape::stages) slot = 0;
  };
  constexpr int kFilling = Shape::halves - (Shape::overlapped ? 0 : 1);
#pragma unroll 1
  for (int i = 0; i < kFilling; ++i) arrive(), across(), advance();
#pragma unroll 1
  while (stage < stages) {
    arrive();
    if constexpr (Shape::overlapped) {
      down();
      across();
    } else {
      across();
      down();
    }
    advance();
  }
  if constexpr (Shape::overlapped) down();
}

/// Blocks of a multiprocessor: what the registers of the widest windows allow.
template <int kChannels>
inline constexpr int kBlurBlocks = kChannels == 1 ? 4 : 3;

template <int kChannels, class Finish>
__global__ void __launch_bounds__(kStageThreads, kBlurBlocks<kChannels>)
    blur_kernel(const __grid_constant__ BlurJob job) {
  extern __shared__ uint4 memory[];
  __shared__ BlurTables tables;
  auto* ring = reinterpret_cast<uint8_t*>(memory);
  const int radius = job.params->radius;
  if (radius <= 8)
    blur_segment<kChannels, 8, Finish>(job, tables, ring);
  else if (radius <= 16)
    blur_segment<kChannels, 16, Finish>(job, tables, ring);
  else if (radius <= 24)
    blur_segment<kChannels, 24, Finish>(job, tables, ring);
  else
    blur_segment<kChannels, 32, Finish>(job, tables, ring);
}

/// The ring that suffices for all radii.
template <int kChannels, class Finish>
constexpr int blur_ring_bytes() {
  constexpr bool kKeeps = kChannels == 4 || Finish::needs_input;
  return std::max({BlurShape<kChannels, 8, kKeeps>::ring_bytes, BlurShape<kChannels, 16, kKeeps>::ring_bytes,
                   BlurShape<kChannels, 24, kKeeps>::ring_bytes,
                   BlurShape<kChannels, 32, kKeeps>::ring_bytes});
}

/// Rows of a block: so many that the blocks fill the device a whole number of times. More times even out
/// better, but every segment costs the rows of its window besides its own.
inline int blur_segment_rows(int height, int strips, int resident) {
  int rows = 32;
  for (int times = 1; times <= 8; ++times) {
    const int segments = std::max(1, times * resident / strips);
    const int fitting = ((height + segments - 1) / segments + 15) / 16 * 16;
    if (times == 1 || fitting >= 24 * times) rows = std::max(32, fitting);
  }
  return rows;
}

template <int kChannels, class Finish>
void launch_blur_as(const PassArgs& args, CudaStream stream) {
  constexpr int kTile = BlurShape<kChannels, 8, false>::tile_w;
  int device = 0, multiprocessors = 0;
  LENSD_CUDA_CHECK(cudaGetDevice(&device));
  LENSD_CUDA_CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  const ConstImageRef in = args.in[0];
  const unsigned strips = blocks_for(in.width(), kTile);
  const int rows =
      blur_segment_rows(in.height(), static_cast<int>(strips), multiprocessors * kBlurBlocks<kChannels>);
  const BlurJob job{in.as<const uint8_t>(),
                    args.out.as<uint8_t>(),
                    static_cast<const GaussianBlock*>(args.block),
                    rows,
                    rows_aligned(in, 16),
                    rows_aligned(args.out, kChannels == 1 ? 4 : 16),
                    rows_aligned(args.out, 4)};
  blur_kernel<kChannels, Finish><<<dim3(strips, blocks_for(in.height(), rows)), kStageThreads,
                                   blur_ring_bytes<kChannels, Finish>(), stream>>>(job);
  LENSD_LAUNCHED();
}

/// `args.block` begins with a GaussianBlock, from whose address a Finish is made on the device. A Finish
/// turns four blurred grey pixels (or one colour pixel) and, if needs_input, those of the input into what is
/// written.
template <class Finish>
void launch_blur(const PassArgs& args, CudaStream stream) {
  if (args.in[0].channels() == 1)
    launch_blur_as<1, Finish>(args, stream);
  else
    launch_blur_as<4, Finish>(args, stream);
}

template <int kChannels, class Finish>
void prepare_blur_as() {
  const auto set = [](cudaFuncAttribute attribute, int value) {
    LENSD_CUDA_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(&blur_kernel<kChannels, Finish>),
                                          attribute, value));
  };
  set(cudaFuncAttributeMaxDynamicSharedMemorySize, blur_ring_bytes<kChannels, Finish>());
  set(cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
}

/// Before the first launch on a device: lets the kernels use more than the default shared memory.
template <class Finish>
void prepare_blur() {
  prepare_blur_as<1, Finish>();
  prepare_blur_as<4, Finish>();
}

}  // namespace lensd
