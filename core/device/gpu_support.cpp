#include "core/device/gpu_support.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

namespace lensd {
namespace {

constexpr int kOldestArch = 75;  // Turing

struct ErrorHelp {
  const char* name;
  const char* what;
  const char* hint;
};
constexpr ErrorHelp kErrors[] = {
    {"cudaErrorNoDevice", "the driver lists no device",
     "see nvidia-smi and CUDA_VISIBLE_DEVICES; a container needs --gpus all"},
    {"cudaErrorDevicesUnavailable", "busy: another process uses the device exclusively",
     "end that process, or allow sharing with nvidia-smi -c DEFAULT"},
    {"cudaErrorSystemDriverMismatch",
     "the NVIDIA kernel module and the driver's library have different versions",
     "restart the machine after an update of the driver"},
    {"cudaErrorSystemNotReady", "the GPU system is not ready", "start nvidia-fabricmanager"},
    {"cudaErrorCompatNotSupportedOnDevice", "the CUDA compatibility library does not support the device",
     "remove the compatibility library from the library path, or update the driver"},
    {"cudaErrorMemoryAllocation", "no GPU memory is left for a context",
     "end other programs that use the GPU"},
    {"cudaErrorInitializationError", "the driver cannot be initialised",
     "see nvidia-smi; after suspend, reload the module nvidia_uvm"},
    {"cudaErrorOperatingSystem", "the operating system refuses access to the device",
     "check the permissions of /dev/nvidia*"},
    {"cudaErrorECCUncorrectable", "the GPU's memory has an uncorrectable error",
     "see nvidia-smi -q; reset the GPU or restart the machine"},
    {"cudaErrorUnknown", "the driver failed, perhaps the device was lost",
     "see nvidia-smi and dmesg; restart lensd when the device is back"},
    {"cudaErrorLaunchFailure", "a kernel failed or the device was lost",
     "see nvidia-smi and dmesg; restart lensd when the device is back"},
    {"cudaErrorLaunchTimeout", "a kernel took longer than the driver allows on a GPU with a display",
     "use a smaller picture or fewer nodes"}};

const ErrorHelp* find_error(std::string_view name) {
  for (const ErrorHelp& error : kErrors)
    if (name == error.name) return &error;
  return nullptr;
}

std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Returns the NVIDIA drivers that support a major version of CUDA, for example "525 or newer".
std::string driver_for(int cuda_major) {
  constexpr std::pair<int, int> kDrivers[] = {{11, 450}, {12, 525}, {13, 580}};
  for (const auto& [cuda, driver] : kDrivers)
    if (cuda == cuda_major) return fmt::format("{} or newer", driver);
  return "the newest version";
}

bool ptx_usable(const CudaFacts& facts) {
  return facts.driver >= facts.runtime;
}

/// Returns "--device 1 selects NAME, which can run it" for the first other device that can run the build, or
/// an empty string.
std::string other_device(const CudaFacts& facts) {
  for (size_t i = 0; i < facts.devices.size(); ++i)
    if (static_cast<int>(i) != facts.ordinal &&
        !code_for(facts.devices[i].arch, facts.archs, ptx_usable(facts)).empty())
      return fmt::format("--device {} selects {}, which can run it", i, facts.devices[i].name);
  return {};
}

CudaObstacle arch_obstacle(const CudaFacts& facts, const CudaDevice& device) {
  CudaObstacle obstacle{fmt::format("{} has compute capability {}, this build has {}", device.name,
                                    capability_text(device.arch), describe(facts.archs)),
                        other_device(facts)};
  if (!obstacle.hint.empty()) return obstacle;
  const bool newer_driver_helps = !code_for(device.arch, facts.archs, true).empty();
  if (device.arch < kOldestArch)
    obstacle.hint = fmt::format("lensd needs {} (Turing) or newer", capability_text(kOldestArch));
  else if (newer_driver_helps)
    obstacle.hint = fmt::format("PTX needs a driver for CUDA {}, this one supports {}: update it",
                                version_text(facts.runtime), version_text(facts.driver));
  else
    obstacle.hint = "build on this machine with LENSD_CUDA_ARCHS=native, or install the package lensd-cuda";
  return obstacle;
}

std::string list_devices(const std::vector<CudaDevice>& devices) {
  std::vector<std::string> names;
  for (size_t i = 0; i < devices.size(); ++i) names.push_back(fmt::format("{} {}", i, devices[i].name));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string mebibytes(size_t bytes) {
  return fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

std::vector<CudaArch> parse_cuda_archs(std::string_view list) {
  std::vector<CudaArch> archs;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(' '));
    list.remove_prefix(std::min(word.size() + 1, list.size()));
    CudaArch one;
    if (std::from_chars(word.data(), word.data() + word.size(), one.arch).ec != std::errc()) continue;
    one.machine_code = !word.ends_with("-virtual"), one.ptx = !word.ends_with("-real");
    archs.push_back(one);
  }
  return archs;
}

std::string capability_text(int arch) {
  return fmt::format("{}.{}", arch / 10, arch % 10);
}

std::string describe(const std::vector<CudaArch>& archs) {
  std::vector<std::string> code, ptx;
  for (const CudaArch& one : archs) {
    if (one.machine_code) code.push_back(capability_text(one.arch));
    if (one.ptx) ptx.push_back(capability_text(one.arch));
  }
  std::string text;
  if (!code.empty()) text = fmt::format("machine code for {}", fmt::join(code, ", "));
  if (!ptx.empty()) text += fmt::format("{}PTX for {}", text.empty() ? "" : "; ", fmt::join(ptx, ", "));
  return text.empty() ? "no GPU code" : text;
}

std::string code_for(int arch, const std::vector<CudaArch>& archs, bool ptx_usable) {
  int code = 0, ptx = 0;  // newest architectures that fit; 0: none
  for (const CudaArch& one : archs) {
    if (one.arch > arch) continue;
    // Machine code runs on devices with the same major and the same or a higher minor compute capability.
    if (one.machine_code && one.arch / 10 == arch / 10) code = std::max(code, one.arch);
    if (one.ptx) ptx = std::max(ptx, one.arch);
  }
  if (code) return fmt::format("machine code for {}", capability_text(code));
  return ptx && ptx_usable ? fmt::format("PTX for {}", capability_text(ptx)) : "";
}

std::string cuda_error_hint(std::string_view error) {
  const ErrorHelp* const help = find_error(error);
  return help ? help->hint : "";
}

bool gpu_expected(const CudaFacts& facts) {
  return facts.driver > 0 && (facts.kernel_driver || !facts.devices.empty());
}

std::optional<CudaObstacle> cuda_obstacle(const CudaFacts& facts) {
  if (facts.driver == 0)
    return CudaObstacle{"no NVIDIA driver (libcuda.so.1 is missing)",
                        "with an NVIDIA GPU, install the driver; a container needs --gpus all"};
  // Within a major version, newer runtimes run on older drivers.
  if (facts.driver / 1000 < facts.runtime / 1000)
    return CudaObstacle{fmt::format("the NVIDIA driver supports CUDA {}, this build needs {}.0 or newer",
                                    version_text(facts.driver), facts.runtime / 1000),
                        "update the NVIDIA driver to " + driver_for(facts.runtime / 1000)};
  const bool listed = facts.ordinal >= 0 && facts.ordinal < static_cast<int>(facts.devices.size());
  if (!facts.error.empty() && facts.error != "cudaErrorNoDevice" && facts.no_uvm)
    return CudaObstacle{
        "/dev/nvidia-uvm cannot be opened, perhaps because the module nvidia_uvm is not loaded",
        "run nvidia-modprobe -u as root; for a service, see systemctl status lensd-nvidia"};
  if (!facts.error.empty()) {
    const ErrorHelp* const help = find_error(facts.error);
    const std::string what = help ? help->what : facts.error;
    return CudaObstacle{listed ? facts.devices[static_cast<size_t>(facts.ordinal)].name + ": " + what : what,
                        help ? help->hint : "see nvidia-smi and dmesg"};
  }
  if (facts.devices.empty())
    return CudaObstacle{"the driver lists no device", cuda_error_hint("cudaErrorNoDevice")};
  if (!listed)
    return CudaObstacle{fmt::format("there is no device {}, the driver lists {}: {}", facts.ordinal,
                                    facts.devices.size(), list_devices(facts.devices)),
                        "choose one of these with --device"};
  const CudaDevice& device = facts.devices[static_cast<size_t>(facts.ordinal)];
  const bool known = !facts.archs.empty();  // empty if CMake chose them, as with "native"
  if (known && code_for(device.arch, facts.archs, ptx_usable(facts)).empty())
    return arch_obstacle(facts, device);
  return std::nullopt;
}

std::optional<CudaObstacle> memory_obstacle(const std::string& device, size_t needed, size_t free,
                                            size_t total) {
  if (needed <= free) return std::nullopt;
  return CudaObstacle{fmt::format("the graph needs {} of GPU memory, {} of {} are free on {}",
                                  mebibytes(needed), mebibytes(free), mebibytes(total), device),
                      "use a smaller picture or fewer nodes, end other programs that use the GPU, or use "
                      "--backend=cpu"};
}

}  // namespace lensd
