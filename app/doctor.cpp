// lensd doctor: what works on this machine, and the reason for every path not taken.

#include <fmt/format.h>

#include <hwy/targets.h>
#include <filesystem>
#include <thread>

#include "app/run.hpp"
#include "core/base/error.hpp"
#include "core/device/backend.hpp"
#include "core/media/capabilities.hpp"
#include "kernels/registry.hpp"
#include "ui/display_path.hpp"
#include "ui/window.hpp"

namespace lensd {
namespace {

void row(const char* what, bool works, const std::string& text) {
  fmt::print("{} {:<12} {}\n", works ? "+" : "-", what, text);
}

void report_cuda(const CudaStatus& cuda) {
  if (cuda.available)
    row("CUDA", true,
        fmt::format("{}, compute {}.{}, {} multiprocessors, {:.1f} GiB, driver API {}, runtime {}",
                    cuda.device, cuda.compute_major, cuda.compute_minor, cuda.multiprocessors,
                    static_cast<double>(cuda.memory_bytes) / (1 << 30), cuda.driver, cuda.runtime));
  else
    row("CUDA", false, cuda.reason);
}

void report_display(const BackendChoice& choice, int device) {
  try {
    const ui::Window window({.title = "lensd doctor",
                             .width = 64,
                             .height = 64,
                             .fullscreen = false,
                             .hidden = true,
                             .vsync = false});
    row("OpenGL", true,
        fmt::format("{}, {}{}", window.version(), window.renderer(),
                    window.software_rendering() ? " (on the CPU)" : ""));
    const ui::DisplayChoice display = ui::choose_display_path(choice.backend, device);
    row("interop", display.kind == ui::DisplayKind::cuda_interop,
        display.kind == ui::DisplayKind::cuda_interop
            ? display.reason
            : fmt::format("{}; pixel buffers are used", display.reason));
  } catch (const Error& e) {
    row("OpenGL", false, e.what());
    row("interop", false, "needs a display");
  }
}

void report_cameras() {
  int cameras = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", ignored))
    if (entry.path().filename().string().starts_with("video")) ++cameras;
  row("cameras", cameras > 0,
      cameras > 0 ? fmt::format("{} video devices under /dev; this version does not read them", cameras)
                  : "no /dev/video* device");
}

}  // namespace

void run_doctor(const CommandLine& line) {
  fmt::print("lensd {}\n", LENSD_VERSION);
  const CudaStatus cuda = probe_cuda(line.device);
  row("CPU", true,
      fmt::format("{} threads, SIMD {}, {} filters", std::thread::hardware_concurrency(),
                  hwy::TargetName(hwy::SupportedTargets() & -hwy::SupportedTargets()),
                  registry().filters.size()));
  report_cuda(cuda);
  const BackendChoice choice = choose_backend(BackendWish::automatic, cuda);
  row("backend", true, fmt::format("{} ({})", name(choice.backend), choice.reason));
  report_display(choice, line.device);
  row("FFmpeg", true, ffmpeg_versions());
  const std::string obstacle = hardware_decoding_obstacle(line.device);
  row("NVDEC", obstacle.empty(), obstacle.empty() ? "FFmpeg decodes on the GPU (--hwdec=cuda)" : obstacle);
  report_cameras();
}

}  // namespace lensd
