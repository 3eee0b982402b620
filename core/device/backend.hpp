// Which backend runs the graph, and why.
#pragma once

#include <cstdint>
#include <string>

namespace lensd {

enum class Backend : uint8_t { cpu, cuda };
enum class BackendRequest : uint8_t { automatic, cuda, cpu };

constexpr const char* name(Backend backend) {
  return backend == Backend::cpu ? "cpu" : "cuda";
}

/// What was found on this machine. Text fields are for people.
struct CudaStatus {
  bool built = false;      ///< this binary contains the CUDA backend
  bool available = false;  ///< a device answered
  std::string reason;      ///< why not, empty when available
  std::string device, driver, runtime;
  std::string pci_bus_id;  ///< "0000:3b:00.0", by which other libraries of the driver know the device
  int multiprocessors = 0;
  size_t memory_bytes = 0, l2_bytes = 0;
  int compute_major = 0, compute_minor = 0;
};

/// Asks the driver about device `ordinal`; never throws, never creates a context when none is there.
CudaStatus probe_cuda(int ordinal = 0);

struct BackendChoice {
  Backend backend = Backend::cpu;
  std::string reason;  ///< one sentence for the log, the panel and doctor
};

/// Resolves the wish. Throws Error(unavailable) when CUDA was asked for by name and is not there.
BackendChoice choose_backend(BackendRequest wish, const CudaStatus& status);

}  // namespace lensd
