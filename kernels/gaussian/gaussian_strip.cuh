// gaussian and unsharp on CUDA: both passes are exact matrix products on the tensor cores.
//
//   global ── ring of 16-row stages (common/tiles/stage_ring.cuh) ── × horizontal weights ──▶ 16-bit samples
//   in registers ── × vertical weights (gaussian_sums.cuh) ──▶ finish (unsharp: the difference) ──▶ global
//
// A block processes a segment of rows in a strip of columns, 16 rows at a time. A warp computes 32 grey or 16
// colour columns.
#pragma once

#include <algorithm>

#include "core/graph/filter.hpp"
#include "kernels/gaussian/gaussian_sums.cuh"

namespace lensd {

struct BlurJob {
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
  const GaussianBlock* params;
  int segment_rows;  ///< rows of a block, a multiple of 16
  bool wide;         ///< input rows are aligned to 16 bytes
  bool out_wide;     ///< output rows are aligned to 16 (colour) or 4 (grey) bytes
  bool out_aligned;  ///< output rows are aligned to 4 bytes
};

/// Writes a lane's pixels.
template <class Shape>
struct BlurWriter {
  const BlurJob& job;
  bool full;  ///< all columns of the tile are inside the picture and aligned
  int x, y, g;
  uint8_t* to;

  /// Writes 16 rows. `input(v)` points to the input pixels of row g + 8 · v in shared memory.
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
  using Strip = BlurShape<kChannels, kHalo, kChannels == 4 || Finish::needs_input>;
  const Finish finish(job.params);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, g = thread % 32 / 4, t = thread % 4;
  const int y0 = static_cast<int>(blockIdx.y) * job.segment_rows;
  const StageSource<Strip> source{job.in, job.params->border, job.wide,
                                  static_cast<int>(blockIdx.x) * Strip::tile_w};
  const bool edge = source.edge();
  const int rows = min(job.segment_rows, job.in.extent.height - y0);
  const int stages = (rows + kStageRows - 1) / kStageRows + Strip::halves - 1;
  StageFeed<Strip> feed(source, y0 - kHalo);
  const auto fetch = [&](int stage, int slot) {
    if (stage < stages) feed.fetch(source, ring + slot * Strip::bytes);
    close_stage();
  };
#pragma unroll 1
  for (int i = 0; i < kStagesAhead; ++i) fetch(i, i);
  make_blur_tables(*job.params, kHalo, tables);
  __syncthreads();
  const BlurWeights<Strip> weights(tables, g, t);

  const int column = warp * 16 * Strip::windows + 4 * t;
  const int centre_at = (Strip::margin + column) * kChannels;  // byte position in a stage's row
  const uint8_t* const lane = ring + g * Strip::pitch + centre_at - kHalo * kChannels;
  BlurSamples<Strip> samples = {};
  BlurWriter<Strip> writer{job,
                           job.out_wide && source.x0 + Strip::tile_w <= job.out.extent.width,
                           source.x0 + column,
                           y0,
                           g,
                           job.out.row(y0 + g) + (source.x0 + column) * kChannels};
  int stage = 0, slot = 0, next = kStagesAhead % Strip::stages;
  const auto arrive = [&] {
    await_stages<kStagesAhead - 1>();
    __syncthreads();
    if (edge) {
      fill_sides<Strip>(source, y0 - kHalo + kStageRows * stage, ring + slot * Strip::bytes);
      __syncthreads();
    }
    fetch(stage + kStagesAhead, next);
    if (++next == Strip::stages) next = 0;
  };
  const auto across = [&] { samples.add_rows(weights, lane + slot * Strip::bytes); };
  const auto down = [&] {
    uint32_t blurred[2][Strip::units];
    samples.sum_down(weights, blurred);
    writer.rows(blurred, finish, [&](int v) {
      int from = slot - Strip::behind(v);
      if (from < 0) from += Strip::stages;
      return ring + from * Strip::bytes + ((kHalo + 8 * v) % 16 + g) * Strip::pitch + centre_at;
    });
  };
  const auto advance = [&] {
    ++stage;
    if (++slot == Strip::stages) slot = 0;
  };
  constexpr int kFilling = Strip::halves - (Strip::overlapped ? 0 : 1);
#pragma unroll 1
  for (int i = 0; i < kFilling; ++i) arrive(), across(), advance();
#pragma unroll 1
  while (stage < stages) {
    arrive();
    if constexpr (Strip::overlapped) {
      down();
      across();
    } else {
      across();
      down();
    }
    advance();
  }
  if constexpr (Strip::overlapped) down();
}

/// Blocks per multiprocessor, limited by the registers of the widest windows.
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

/// Returns the bytes of the largest ring over all radii.
template <int kChannels, class Finish>
constexpr int blur_ring_bytes() {
  constexpr bool kKeeps = kChannels == 4 || Finish::needs_input;
  return std::max({BlurShape<kChannels, 8, kKeeps>::ring_bytes, BlurShape<kChannels, 16, kKeeps>::ring_bytes,
                   BlurShape<kChannels, 24, kKeeps>::ring_bytes,
                   BlurShape<kChannels, 32, kKeeps>::ring_bytes});
}

/// Returns the number of rows per block, chosen so that the blocks fill the device a whole number of times.
/// `resident`: number of blocks that run at the same time. More segments balance the load better, but each
/// segment also reads the rows above and below it that its windows cover.
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
  const int multiprocessors = device_attribute(cudaDevAttrMultiProcessorCount);
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

/// Launches the blur. `args.block` begins with a GaussianBlock; the device constructs a Finish from its
/// address. If Finish::needs_input, the Finish computes the output from four blurred grey pixels or one
/// blurred colour pixel and from their input; otherwise the output is the blurred picture.
template <class Finish>
void launch_blur(const PassArgs& args, CudaStream stream) {
  (args.in[0].channels() == 1 ? launch_blur_as<1, Finish> : launch_blur_as<4, Finish>)(args, stream);
}

template <int kChannels, class Finish>
void prepare_blur_as() {
  static_assert(blur_ring_bytes<kChannels, Finish>() <= kMaxSharedBytes);
  prefer_shared_memory(&blur_kernel<kChannels, Finish>, blur_ring_bytes<kChannels, Finish>());
}

/// Lets the kernels use more than the default shared memory. Call before the first launch on a device.
template <class Finish>
void prepare_blur() {
  prepare_blur_as<1, Finish>();
  prepare_blur_as<4, Finish>();
}

}  // namespace lensd
