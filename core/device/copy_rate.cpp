#include "core/device/copy_rate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/device/memory.hpp"
#include "core/device/workers.hpp"

#if LENSD_CUDA
#include "core/device/cuda_handles.hpp"
#endif

namespace lensd {
namespace {

constexpr int kRuns = 5;
constexpr size_t kChunk = size_t{1} << 20, kCpuChunks = 64;  // 64 MiB, larger than most caches

struct Buffers {
  std::unique_ptr<uint8_t[]> from, to;
};

void copy_chunks(void* opaque, Band band, int) {
  const auto& buffers = *static_cast<const Buffers*>(opaque);
  const size_t offset = static_cast<size_t>(band.begin) * kChunk;
  std::memcpy(buffers.to.get() + offset, buffers.from.get() + offset,
              static_cast<size_t>(band.end - band.begin) * kChunk);
}

}  // namespace

double measure_cpu_copy_rate(int threads) {
  constexpr size_t bytes = kChunk * kCpuChunks;
  Buffers buffers{std::unique_ptr<uint8_t[]>(new (std::nothrow) uint8_t[bytes]),
                  std::unique_ptr<uint8_t[]>(new (std::nothrow) uint8_t[bytes])};
  if (!buffers.from || !buffers.to) return 0;
  std::memset(buffers.from.get(), 1, bytes);  // untouched pages all map to the zero page
  std::memset(buffers.to.get(), 2, bytes);
  Workers workers(threads);
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const int64_t begin = now_ns();
    workers.run(static_cast<int>(kCpuChunks), 1, &copy_chunks, &buffers);
    best = std::max(best, 2.0 * static_cast<double>(bytes) / to_s(std::max<int64_t>(1, now_ns() - begin)));
  }
  return best;
}

#if LENSD_CUDA
double measure_gpu_copy_rate(int device) try {
  constexpr size_t bytes = size_t{256} << 20;
  LENSD_CUDA_CHECK(cudaSetDevice(device));
  const MemoryBlock from(MemoryKind::device, bytes), to(MemoryKind::device, bytes);
  const cuda::Stream stream;
  cuda::Event begin(cuda::Timing::on), end(cuda::Timing::on);
  double best = 0;
  for (int run = 0; run <= kRuns; ++run) {
    begin.record(stream);
    LENSD_CUDA_CHECK(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream.get()));
    end.record(stream);
    LENSD_CUDA_CHECK(cudaEventSynchronize(end.get()));
    float ms = 0;
    LENSD_CUDA_CHECK(cudaEventElapsedTime(&ms, begin.get(), end.get()));
    if (run > 0 && ms > 0) best = std::max(best, 2e3 * static_cast<double>(bytes) / ms);  // run 0 warms up
  }
  return best;
} catch (const Error&) {
  cudaGetLastError();
  return 0;
}
#else
double measure_gpu_copy_rate(int) {
  return 0;
}
#endif

}  // namespace lensd
