// The backend that runs the graph, and the reason for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device/gpu_support.hpp"

namespace lensd {

enum class Backend : uint8_t { cpu, cuda };
enum class BackendRequest : uint8_t { automatic, cuda, cpu };

constexpr const char* name(Backend backend) {
  return backend == Backend::cpu ? "cpu" : "cuda";
}

/// CUDA support on this machine. Strings other than pci_bus_id are for display.
struct CudaStatus {
  bool built = false;         ///< this binary contains the CUDA backend
  bool available = false;     ///< the driver lists the device, and it can run this build
  bool gpu_expected = false;  ///< see gpu_expected()
  std::string reason;         ///< why CUDA is not available; empty if it is
  std::string hint;           ///< what to do about it; may be empty
  std::string device, driver, runtime;
  std::string pci_bus_id;  ///< for example "0000:3b:00.0"; identifies the device in NVML
  int multiprocessors = 0;
  size_t memory_bytes = 0, l2_bytes = 0;
  int compute_major = 0, compute_minor = 0;
  std::string code;                 ///< see code_for(); empty if not available
  std::vector<CudaDevice> devices;  ///< all devices that the driver lists
};

/// Returns the GPU code in this build. Empty without CUDA, or if CMake chose the architectures ("native").
const std::vector<CudaArch>& built_cuda_archs();

/// Queries device `ordinal`. Does not throw and does not create a context. If the device is available, sets
/// the flags of its future context so that FFmpeg's hardware decoders can share it.
CudaStatus probe_cuda(int ordinal = 0);

/// Like probe_cuda(), but also creates the device's context. Reports a device that is busy, broken or out of
/// memory as not available.
CudaStatus usable_cuda(int ordinal);

struct BackendChoice {
  Backend backend = Backend::cpu;
  std::string reason;     ///< for display
  bool fallback = false;  ///< a GPU is expected, but the CPU is used without having been requested
};

/// Returns the backend for a request and the reason. Throws Error(unavailable) if the request is cuda and
/// CUDA is not available.
BackendChoice choose_backend(BackendRequest request, const CudaStatus& status);
/// Calls the function above with usable_cuda(device) and logs the choice. A fallback is logged as a warning.
BackendChoice choose_backend(BackendRequest request, int device);

}  // namespace lensd
