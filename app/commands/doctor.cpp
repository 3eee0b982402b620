// lensd doctor: what works on this machine, and the reason for every path not taken.

#include <fmt/format.h>

#include <hwy/targets.h>
#include <algorithm>
#include <thread>

#include "app/run.hpp"
#include "core/base/error.hpp"
#include "core/device/backend.hpp"
#include "core/device/clock_speed.hpp"
#include "core/media/cameras.hpp"
#include "core/media/capabilities.hpp"
#include "kernels/registry.hpp"
#include "ui/gl/display_path.hpp"
#include "ui/gl/window.hpp"

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

void report_clock(const char* what, const ClockSpeed& clock) {
  row(what, clock.mhz > 0, clock.mhz > 0 ? fmt::format("{} MHz", clock.mhz) : clock.reason);
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

/// "mjpeg 1920×1080 30, 1280×720 60": the largest modes of a format.
std::string modes_text(const CameraFormat& format) {
  constexpr size_t kShown = 3;
  std::string text = format.format.empty() ? format.fourcc : format.format;
  for (size_t i = 0; i < std::min(kShown, format.modes.size()); ++i) {
    const CameraMode& mode = format.modes[i];
    text += fmt::format("{} {}×{}", i ? "," : "", mode.size.width, mode.size.height);
    if (!mode.rates.empty()) text += fmt::format(" at {:.4g} fps", mode.rates.front());
  }
  return format.modes.size() > kShown ? text + ", …" : text;
}

void report_cameras() {
  const std::vector<Camera> cameras = list_cameras();
  if (cameras.empty()) row("cameras", false, "no /dev/video* device that captures video");
  for (const Camera& camera : cameras) {
    row("camera", true, fmt::format("{}: {}", camera.path, camera.name));
    if (!camera.by_id.empty()) fmt::print("{:<15}v4l2:{}\n", "", camera.by_id);
    for (const CameraFormat& format : camera.formats) fmt::print("{:<15}{}\n", "", modes_text(format));
  }
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
  report_clock("CPU clock", cpu_clock());
  if (cuda.available) report_clock("GPU clock", GpuClockMonitor(cuda.pci_bus_id).read());
  const BackendChoice choice = choose_backend(BackendRequest::automatic, cuda);
  row("backend", true, fmt::format("{} ({})", name(choice.backend), choice.reason));
  report_display(choice, line.device);
  row("FFmpeg", true, ffmpeg_versions());
  const std::string obstacle = hardware_decoding_obstacle(line.device);
  row("NVDEC", obstacle.empty(), obstacle.empty() ? "FFmpeg decodes on the GPU (--hwdec=cuda)" : obstacle);
  report_cameras();
}

}  // namespace lensd
