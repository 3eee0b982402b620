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

/// GPU code in a build. Architectures are written as in sm_75: compute capability 7.5.
struct CudaArch {
  int arch = 0;
  bool machine_code = false, ptx = false;
  bool operator==(const CudaArch&) const = default;
};
/// Parses CMake's list, with blanks: "75-real 90-virtual 120". Without a suffix there is both kinds of code.
std::vector<CudaArch> parse_cuda_archs(std::string_view list);
/// Returns "machine code for 7.5, 9.0; PTX for 9.0".
std::string describe(const std::vector<CudaArch>& archs);
/// Returns "7.5" for 75.
std::string capability_text(int arch);

struct CudaDevice {
  std::string name;
  int arch = 0;  ///< 75 for compute capability 7.5
};

struct CudaFacts {
  int driver = 0, runtime = 0;  ///< CUDA versions as 12040; driver 0: there is none
  std::vector<CudaArch> archs;  ///< of the build
  std::vector<CudaDevice> devices;
  int ordinal = 0;    ///< the wanted device
  std::string error;  ///< name of the error of the query or of the first use, such as cudaErrorNoDevice
};

struct CudaObstacle {
  std::string what;  ///< what is missing on what
  std::string hint;  ///< what to do; may be empty
  bool operator==(const CudaObstacle&) const = default;
};

/// Returns why the device cannot run the build, or nullopt if it can.
std::optional<CudaObstacle> cuda_obstacle(const CudaFacts& facts);

/// Returns the code that the device runs: "machine code for 8.6" or "PTX for 7.5". The PTX of a runtime needs
/// a driver that is at least as new. Returns an empty string if there is none.
std::string code_for(int arch, const std::vector<CudaArch>& archs, bool ptx_usable);

/// Returns what to do about an error of the CUDA runtime, or an empty string.
std::string cuda_error_hint(std::string_view error);

/// Returns why a graph does not fit into the memory of `device`, or nullopt if it does.
std::optional<CudaObstacle> memory_obstacle(const std::string& device, size_t needed, size_t free,
                                            size_t total);

}  // namespace lensd
