// Exact means of large footprints on CUDA. A block sums a strip of rows of one footprint, so that small
// outputs also use the whole GPU. A second kernel adds the strips. With one strip, the first kernel writes
// the result.
#include "kernels/common/warp.cuh"
#include "kernels/resize/resize_area.cuh"

namespace lensd {
namespace {

constexpr int kLargeThreads = 256, kLargeWarps = kLargeThreads / 32;

/// Sums one strip of a footprint with one block. `columns`: number of neighbouring columns that the block
/// reads at once, a power of two up to 32. `partial` is indexed by output pixel, strip and channel.
template <class Sample, int kChannels>
__global__ void __launch_bounds__(kLargeThreads)
    area_strip_kernel(AreaArgs<Sample> a, int columns, unsigned long long* partial) {
  const int t = static_cast<int>(threadIdx.x), strip = static_cast<int>(blockIdx.z);
  const int strips = static_cast<int>(gridDim.z);
  AreaPart part = AreaPart::whole(a, static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y));
  const int top = part.begin_y, rows = part.end_y - top;
  part.begin_x += t % columns, part.step_x = columns;
  part.begin_y = top + rows * strip / strips + t / columns, part.step_y = kLargeThreads / columns;
  part.end_y = top + rows * (strip + 1) / strips;
  unsigned long long sum[kChannels] = {};
  add_footprint(a, part, sum);
  __shared__ unsigned long long warps[kLargeWarps][kChannels];
  for (int c = 0; c < kChannels; ++c) {
    sum[c] = warp_sum(sum[c]);
    if (t % 32 == 0) warps[t / 32][c] = sum[c];
  }
  __syncthreads();
  if (t >= kChannels) return;
  unsigned long long all = 0;
  for (int w = 0; w < kLargeWarps; ++w) all += warps[w][t];
  const int pixel = part.y * a.out.extent.width + part.x;
  if (strips > 1)
    partial[(pixel * strips + strip) * kChannels + t] = all;
  else
    a.out.row(part.y)[part.x * kChannels + t] = area_value<Sample>(all, a.total);
}

/// Adds the strips of a footprint. One warp computes an output pixel.
template <class Sample, int kChannels>
__global__ void __launch_bounds__(32)
    area_strips_kernel(AreaArgs<Sample> a, int strips, const unsigned long long* partial) {
  const int x = static_cast<int>(blockIdx.x), y = static_cast<int>(blockIdx.y);
  const unsigned long long* const from = partial + (y * a.out.extent.width + x) * strips * kChannels;
  for (int c = 0; c < kChannels; ++c) {
    unsigned long long sum = 0;
    for (int i = static_cast<int>(threadIdx.x); i < strips; i += 32) sum += from[i * kChannels + c];
    sum = warp_sum(sum);
    if (threadIdx.x == 0) a.out.row(y)[x * kChannels + c] = area_value<Sample>(sum, a.total);
  }
}

template <class Sample, int kChannels>
void launch_strips(const ResizeGeometry& g, const PassArgs& args, CudaStream stream) {
  const auto area = area_args<Sample>(g, args);
  const int strips = AreaStrips::make(g, sizeof(Sample) == 2).count;
  int columns = 1;
  while (columns < 32 && columns * g.x.m < g.x.n) columns *= 2;
  auto* const partial = strips > 1 ? reinterpret_cast<unsigned long long*>(args.scratch[0]) : nullptr;
  const dim3 outputs(static_cast<unsigned>(g.x.m), static_cast<unsigned>(g.y.m));
  const dim3 grid(outputs.x, outputs.y, static_cast<unsigned>(strips));
  area_strip_kernel<Sample, kChannels><<<grid, kLargeThreads, 0, stream>>>(area, columns, partial);
  LENSD_LAUNCHED();
  if (strips == 1) return;
  area_strips_kernel<Sample, kChannels><<<outputs, 32, 0, stream>>>(area, strips, partial);
  LENSD_LAUNCHED();
}

}  // namespace

void Resize::launch_large_area(const PassArgs& args, CudaStream stream) const {
  const bool deep = args.out.is_deep(), rgba = args.out.channels() == 4;
  const auto launch = deep   ? rgba ? launch_strips<uint16_t, 4> : launch_strips<uint16_t, 1>
                        : rgba ? launch_strips<uint8_t, 4>
                             : launch_strips<uint8_t, 1>;
  launch(geometry_, args, stream);
}

}  // namespace lensd
