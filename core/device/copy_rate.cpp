#include "core/device/copy_rate.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "core/base/clock.hpp"
#include "core/device/workers.hpp"

#if LENSD_CUDA
#include "core/device/cuda_check.hpp"
#endif

namespace lensd {
namespace {

constexpr int kRuns = 5;
constexpr size_t kChunk = size_t{1} << 20, kCpuChunks = 64;  // 64 MiB: more than last-level caches hold

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
  std::memset(buffers.from.get(), 1, bytes);  // pages that were never touched are all the same one
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
double measure_gpu_copy_rate(int device) {
  constexpr size_t bytes = size_t{256} << 20;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || device >= devices ||
      cudaSetDevice(device) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  double best = 0;
  void *from = nullptr, *to = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  const bool ready = cudaMalloc(&from, bytes) == cudaSuccess && cudaMalloc(&to, bytes) == cudaSuccess &&
                     cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess &&
                     cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess;
  for (int run = 0; ready && run <= kRuns; ++run) {
    float ms = 0;
    const bool measured = cudaEventRecord(begin, stream) == cudaSuccess &&
                          cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess &&
                          cudaEventRecord(end, stream) == cudaSuccess &&
                          cudaEventSynchronize(end) == cudaSuccess &&
                          cudaEventElapsedTime(&ms, begin, end) == cudaSuccess;
    // The first run wakes the device up.
    if (measured && run > 0 && ms > 0)
      best = std::max(best, 2.0 * static_cast<double>(bytes) / (static_cast<double>(ms) * 1e-3));
  }
  if (begin) cudaEventDestroy(begin);
  if (end) cudaEventDestroy(end);
  if (stream) cudaStreamDestroy(stream);
  cudaFree(from);
  cudaFree(to);
  cudaGetLastError();  // what went wrong here concerns nobody else
  return best;
}
#else
double measure_gpu_copy_rate(int) {
  return 0;
}
#endif

}  // namespace lensd
