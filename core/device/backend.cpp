#include "core/device/backend.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.hpp"
#include "core/base/log.hpp"
#include "core/base/unique_fd.hpp"

#if LENSD_CUDA
#include <dlfcn.h>

#include "core/device/cuda_check.hpp"
#endif

namespace lensd {
namespace {

#if LENSD_CUDA
/// Sets the flags of the device's primary context to exactly CU_CTX_SCHED_BLOCKING_SYNC. FFmpeg's hardware
/// decoders refuse a context that has other flags, and cudaSetDeviceFlags() would set one more flag. Call
/// before the context exists. If this fails, only hardware decoding is unavailable.
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

const std::vector<CudaArch>& built_cuda_archs() {
#if LENSD_CUDA
  static const std::vector<CudaArch> archs = parse_cuda_archs(LENSD_BUILT_ARCHS);
#else
  static const std::vector<CudaArch> archs;
#endif
  return archs;
}

namespace {

constexpr const char* kDriverVersion = "/proc/driver/nvidia/version";

/// Returns true if the system has an NVIDIA driver. /dev/dxg is the GPU of the Windows Subsystem for Linux.
bool has_kernel_driver() {
  return access(kDriverVersion, F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

#if LENSD_CUDA
/// Returns true if the driver is loaded, but its device for CUDA does not exist or is refused, for example by
/// the sandbox of a service.
bool lacks_uvm() {
  return access(kDriverVersion, F_OK) == 0 && !UniqueFd(open("/dev/nvidia-uvm", O_RDWR | O_CLOEXEC));
}

/// Queries the versions of driver and runtime, and the devices. If the devices cannot be listed, or device
/// `ordinal` cannot be queried, stores the name of the CUDA error in CudaFacts::error.
CudaFacts query(int ordinal) {
  CudaFacts facts{.archs = built_cuda_archs(), .ordinal = ordinal};
  cudaRuntimeGetVersion(&facts.runtime);
  cudaDriverGetVersion(&facts.driver);
  int count = 0;
  const cudaError_t error = facts.driver ? cudaGetDeviceCount(&count) : cudaSuccess;
  if (error != cudaSuccess) facts.error = cudaGetErrorName(error);
  for (int i = 0; error == cudaSuccess && i < count; ++i) {
    cudaDeviceProp properties{};
    const cudaError_t queried = cudaGetDeviceProperties(&properties, i);
    if (queried == cudaSuccess) {
      facts.devices.push_back({properties.name, properties.major * 10 + properties.minor});
    } else {  // for example a lost device
      facts.devices.push_back({fmt::format("device {}", i), 0});
      if (i == ordinal) facts.error = cudaGetErrorName(queried);
    }
  }
  cudaGetLastError();
  facts.kernel_driver = has_kernel_driver();
  facts.no_uvm = !facts.error.empty() && lacks_uvm();
  return facts;
}

void set_obstacle(CudaStatus& status, const CudaObstacle& obstacle) {
  status.available = false, status.reason = obstacle.what, status.hint = obstacle.hint;
}
#endif

/// Creates the device's context. Sets `status` to unavailable if this fails.
void create_context([[maybe_unused]] int ordinal, [[maybe_unused]] CudaStatus& status) {
#if LENSD_CUDA
  const cudaError_t selected = cudaSetDevice(ordinal);
  const cudaError_t error = selected == cudaSuccess ? cudaFree(nullptr) : selected;
  if (error == cudaSuccess) return;
  CudaFacts facts = query(ordinal);
  facts.error = cudaGetErrorName(error), facts.no_uvm = lacks_uvm();
  if (const auto obstacle = cuda_obstacle(facts)) set_obstacle(status, *obstacle);
#endif
}

}  // namespace

CudaStatus probe_cuda([[maybe_unused]] int ordinal) {
  CudaStatus status;
#if LENSD_CUDA
  status.built = true;
  const auto version = [](int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); };
  const CudaFacts facts = query(ordinal);
  status.gpu_expected = gpu_expected(facts);
  status.runtime = version(facts.runtime);
  status.driver = facts.driver ? version(facts.driver) : "";
  status.devices = facts.devices;
  if (const auto obstacle = cuda_obstacle(facts)) {
    set_obstacle(status, *obstacle);
    return status;
  }
  cudaDeviceProp properties{};
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, ordinal); error != cudaSuccess) {
    cudaGetLastError();
    CudaFacts broken = facts;
    broken.error = cudaGetErrorName(error);
    set_obstacle(status, *cuda_obstacle(broken));
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
  status.code =
      code_for(properties.major * 10 + properties.minor, facts.archs, facts.driver >= facts.runtime);
#else
  status.reason = "this build has no CUDA backend";
  status.hint = "the package lensd-cuda has one, and a build for which nvcc is found";
  status.gpu_expected = has_kernel_driver();
#endif
  return status;
}

CudaStatus usable_cuda(int ordinal) {
  CudaStatus status = probe_cuda(ordinal);
  if (status.available) create_context(ordinal, status);
  return status;
}

BackendChoice choose_backend(BackendRequest request, const CudaStatus& status) {
  if (request == BackendRequest::cpu) return {Backend::cpu, "as requested"};
  if (status.available)
    return {Backend::cuda, fmt::format("{}, driver API {}", status.device, status.driver)};
  if (request == BackendRequest::cuda)
    throw Error(ExitCode::unavailable, "--backend=cuda", status.reason,
                status.hint.empty() ? "--backend=cpu gives the same output; see `lensd doctor`"
                                    : status.hint + "; --backend=cpu gives the same output");
  return {Backend::cpu, status.hint.empty() ? status.reason : status.reason + "; " + status.hint,
          status.gpu_expected};
}

BackendChoice choose_backend(BackendRequest request, int device) {
  const CudaStatus status = request == BackendRequest::cpu ? CudaStatus{} : usable_cuda(device);
  const BackendChoice choice = choose_backend(request, status);
  if (choice.fallback)
    log::warn("the CPU is used, with the same output: {}", choice.reason);
  else
    log::info("backend {}: {}", name(choice.backend), choice.reason);
  return choice;
}

}  // namespace lensd
