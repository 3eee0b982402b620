#include "kernels/common/chunk.cuh"
#include "kernels/common/table/lut.cuh"
#include "kernels/levels/levels.hpp"

namespace lensd {
namespace {

/// Applies the saturation to a word. Reads the factor from device memory, so that a captured CUDA graph stays
/// valid when the factor changes.
struct Saturate {
  const LevelsBlock* block;
  bool gray;

  __device__ uint32_t operator()(uint32_t word) const {
    if (gray) return word;
    const int r = static_cast<int>(word & 255), g = static_cast<int>(word >> 8 & 255),
              b = static_cast<int>(word >> 16 & 255);
    const int luma = luma_q8(r, g, b), factor = block->saturation_q10;
    return saturated(r, luma, factor) | static_cast<uint32_t>(saturated(g, luma, factor)) << 8 |
           static_cast<uint32_t>(saturated(b, luma, factor)) << 16 | (word & 0xff000000u);
  }
};

/// One block per multiprocessor keeps the table in shared memory. A warp's reads at random addresses cause
/// bank conflicts there, but the L1 cache would need one access per cache line. Measured: see
/// docs/benchmarks.md.
struct DeepLevelsTuning {
  static constexpr int threads = 1024;
  static constexpr int ahead = 2;  ///< number of chunks that a thread loads ahead
  static constexpr int table_bytes = sizeof(DeepLevelsBlock::table);
};

struct DeepLevelsJob {
  ImageView<const uint8_t> in;
  ImageView<uint8_t> out;
  int row_bytes;
  bool aligned;
  const DeepLevelsBlock* block;
};

/// Applies table and saturation to the samples of a chunk.
template <bool kGray>
__device__ void deep_levels(Chunk& chunk, const uint16_t* table, int saturation_q10) {
  uint32_t(&word)[4] = chunk.word;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kGray) {
      word[i] = table[word[i] & 65535] | static_cast<uint32_t>(table[word[i] >> 16]) << 16;
    } else {
      if (i % 2 != 0) continue;
      const int r = table[word[i] & 65535], g = table[word[i] >> 16], b = table[word[i + 1] & 65535];
      const int luma = deep_luma(r, g, b);
      const auto moved = [=](int v) {
        return static_cast<uint32_t>(deep_saturated(v, luma, saturation_q10));
      };
      word[i] = moved(r) | moved(g) << 16;
      word[i + 1] = with_alpha(moved(b), word[i + 1], 0x0000ffffu);
    }
  }
}

/// Processes the image with all threads of the grid. `kShared`: copies the table to shared memory.
template <bool kGray, bool kShared>
__global__ void __launch_bounds__(DeepLevelsTuning::threads) deep_levels_kernel(DeepLevelsJob job) {
  extern __shared__ uint4 shared_table[];
  constexpr int kAhead = DeepLevelsTuning::ahead;
  struct Item {
    Chunk chunk;
    int x, y;
  };
  const int height = job.in.extent.height;
  ChunkWalk walk(job.row_bytes);
  const auto fetch = [&]() -> Item {
    Item item{{}, walk.x * ChunkShape::bytes, walk.y};
    if (item.y < height)
      item.chunk = load_chunk(job.in.row(item.y) + item.x, job.row_bytes - item.x, job.aligned);
    walk.next();
    return item;
  };
  Item next[kAhead];
#pragma unroll
  for (Item& item : next) item = fetch();
  const uint16_t* table = job.block->table;
  if constexpr (kShared) {
    const uint4* const from = reinterpret_cast<const uint4*>(job.block->table);
#pragma unroll
    for (int i = 0; i < DeepLevelsTuning::table_bytes / 16; i += DeepLevelsTuning::threads)
      shared_table[i + threadIdx.x] = from[i + threadIdx.x];
    table = reinterpret_cast<const uint16_t*>(shared_table);
  }
  const int saturation = job.block->saturation_q10;
  __syncthreads();
  while (next[0].y < height) {
    Item now[kAhead];
#pragma unroll
    for (int k = 0; k < kAhead; ++k) now[k] = next[k], next[k] = fetch();
#pragma unroll
    for (Item& item : now) {
      if (item.y >= height) break;
      deep_levels<kGray>(item.chunk, table, saturation);
      store_chunk(job.out.row(item.y) + item.x, item.chunk, job.row_bytes - item.x, job.aligned);
    }
  }
}

/// Returns true if the table fits in the shared memory of a block.
bool table_fits() {
  return device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) >= DeepLevelsTuning::table_bytes;
}

template <bool kGray>
void launch_deep_levels(const DeepLevelsJob& job, CudaStream stream) {
  const auto multiprocessors = static_cast<unsigned>(device_attribute(cudaDevAttrMultiProcessorCount));
  if (table_fits())
    deep_levels_kernel<kGray, true>
        <<<multiprocessors, DeepLevelsTuning::threads, DeepLevelsTuning::table_bytes, stream>>>(job);
  else
    deep_levels_kernel<kGray, false><<<multiprocessors, DeepLevelsTuning::threads, 0, stream>>>(job);
  LENSD_LAUNCHED();
}

}  // namespace

void Levels::prepare_kernels() {
  if (!table_fits()) return;
  for (const void* kernel : {reinterpret_cast<const void*>(&deep_levels_kernel<true, true>),
                             reinterpret_cast<const void*>(&deep_levels_kernel<false, true>)})
    LENSD_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                          DeepLevelsTuning::table_bytes));
}

void Levels::launch_deep(const PassArgs& args, CudaStream stream) const {
  const ConstImageRef in = args.in[0];
  const DeepLevelsJob job{in.as<const uint8_t>(), args.out.as<uint8_t>(), static_cast<int>(in.row_bytes()),
                          aligned16(in) && aligned16(args.out),
                          static_cast<const DeepLevelsBlock*>(args.block)};
  (in.channels() == 1 ? launch_deep_levels<true> : launch_deep_levels<false>)(job, stream);
}

void Levels::launch_apply(const PassArgs& args, CudaStream stream) const {
  if (deep_) return launch_deep(args, stream);
  const auto* block = static_cast<const LevelsBlock*>(args.block);
  launch_lut(args.in[0], args.out, &block->tables, stream,
             Saturate{block, is_gray(args.in[0].format.format)});
}

}  // namespace lensd
