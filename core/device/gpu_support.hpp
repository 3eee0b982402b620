// Decides whether a CUDA device can run this build, and explains why not. Pure functions; thread-safe.
//
//   driver, runtime, devices, architectures ── CudaFacts ── cuda_obstacle() ──▶ nothing, or reason and advice
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lensd {

/// GPU code in a build. An `arch` of 75 is compute capability 7.5, as in sm_75.
struct CudaArch {
  int arch = 0;
  bool machine_code = false, ptx = false;
  bool operator==(const CudaArch&) const = default;
};
/// Parses a list such as "75-real 90-virtual 120": CMake's CUDA_ARCHITECTURES, separated by spaces. "-real"
/// is machine code, "-virtual" is PTX, no suffix is both.
std::vector<CudaArch> parse_cuda_archs(std::string_view list);
/// Returns a text such as "machine code for 7.5, 9.0; PTX for 9.0".
std::string describe(const std::vector<CudaArch>& archs);
/// Returns "7.5" for 75.
std::string capability_text(int arch);

struct CudaDevice {
  std::string name;
  int arch = 0;  ///< 75 for compute capability 7.5
};

struct CudaFacts {
  int driver = 0, runtime = 0;  ///< CUDA versions; 12040 is 12.4; driver 0: no driver
  std::vector<CudaArch> archs;  ///< GPU code in this build
  std::vector<CudaDevice> devices;
  int ordinal = 0;    ///< number of the requested device
  std::string error;  ///< name of a CUDA error, such as cudaErrorNoDevice, from listing or using the devices
  bool kernel_driver = false;  ///< NVIDIA's kernel driver is loaded
  bool no_uvm = false;  ///< /dev/nvidia-uvm, which CUDA needs, cannot be opened; set after an error only
};

/// Returns true if a user expects the GPU to be used: libcuda is installed, and there is a device or a kernel
/// driver. libcuda alone is not enough, because Debian's CUDA Toolkit installs it on machines without an
/// NVIDIA GPU.
bool gpu_expected(const CudaFacts& facts);

struct CudaObstacle {
  std::string what;  ///< what is missing, and on which device
  std::string hint;  ///< what to do; may be empty
  bool operator==(const CudaObstacle&) const = default;
};

/// Returns why the device cannot run the build, or nullopt if it can.
std::optional<CudaObstacle> cuda_obstacle(const CudaFacts& facts);

/// Returns which code of `archs` a device of architecture `arch` runs, for example "machine code for 8.6" or
/// "PTX for 7.5". Returns an empty string if there is none. `ptx_usable`: the driver is at least as new as
/// the CUDA runtime; only then can it compile the build's PTX.
std::string code_for(int arch, const std::vector<CudaArch>& archs, bool ptx_usable);

/// Returns what to do about a CUDA error, given its name, or an empty string if the error is unknown.
std::string cuda_error_hint(std::string_view error);

/// Returns why a graph that needs `needed` bytes does not fit into the memory of `device`, or nullopt if it
/// fits.
std::optional<CudaObstacle> memory_obstacle(const std::string& device, size_t needed, size_t free,
                                            size_t total);

}  // namespace lensd
