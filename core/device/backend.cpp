#include "core/device/backend.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"

#if LENSD_CUDA
#include <dlfcn.h>

#include "core/device/cuda_check.hpp"
#endif

namespace lensd {
namespace {

#if LENSD_CUDA
/// FFmpeg's hardware decoders share the device's context only when its threads block while they wait, and not
/// one flag beside that, which cudaSetDeviceFlags would add. To be called before anything makes the context;
/// later it does nothing, and without it only they are missed.
void share_context_with_ffmpeg(int ordinal) {
  using SetFlags = int (*)(int device, unsigned flags);
  constexpr unsigned kBlockingSync = 4;  // CU_CTX_SCHED_BLOCKING_SYNC
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return;
  if (const auto set = reinterpret_cast<SetFlags>(dlsym(driver, "cuDevicePrimaryCtxSetFlags_v2")))
    set(ordinal, kBlockingSync);
}
#endif

}  // namespace

CudaStatus probe_cuda([[maybe_unused]] int ordinal) {
  CudaStatus status;
#if LENSD_CUDA
  status.built = true;
  const auto version = [](int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); };
  int driver = 0, runtime = 0, count = 0;
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  status.runtime = version(runtime);
  status.driver = driver ? version(driver) : "";
  if (driver == 0) {
    status.reason = "no NVIDIA driver (libcuda.so.1 is not there)";
    return status;
  }
  if (const cudaError_t error = cudaGetDeviceCount(&count); error != cudaSuccess || count == 0) {
    status.reason = error == cudaSuccess ? "the driver lists no device" : cudaGetErrorString(error);
    cudaGetLastError();
    return status;
  }
  cudaDeviceProp properties{};
  if (ordinal < 0 || ordinal >= count || cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) {
    cudaGetLastError();
    status.reason = fmt::format("there is no device {}, the driver lists {}", ordinal, count);
    return status;
  }
  share_context_with_ffmpeg(ordinal);
  status.available = true;
  status.device = properties.name;
  char bus[32] = {};
  if (cudaDeviceGetPCIBusId(bus, sizeof bus, ordinal) == cudaSuccess) status.pci_bus_id = bus;
  cudaGetLastError();
  status.multiprocessors = properties.multiProcessorCount;
  status.memory_bytes = properties.totalGlobalMem;
  status.l2_bytes = static_cast<size_t>(properties.l2CacheSize);
  status.compute_major = properties.major;
  status.compute_minor = properties.minor;
#else
  status.reason = "this build has no CUDA backend (the CUDA Toolkit was not found when it was built)";
#endif
  return status;
}

BackendChoice choose_backend(BackendRequest wish, const CudaStatus& status) {
  if (wish == BackendRequest::cpu) return {Backend::cpu, "asked for"};
  if (status.available)
    return {Backend::cuda, fmt::format("{}, driver API {}", status.device, status.driver)};
  if (wish == BackendRequest::cuda)
    throw Error(ExitCode::unavailable, "--backend=cuda", status.reason,
                "--backend=cpu gives the same output; `lensd doctor` tells more");
  return {Backend::cpu, status.reason};
}

}  // namespace lensd
