// lensd doctor: reports what works on this machine, and why the rest does not.

#include <fmt/format.h>

#include <hwy/targets.h>
#include <algorithm>
#include <thread>

#include "app/run.hpp"
#include "core/base/error.hpp"
#include "core/base/text/printable.hpp"
#include "core/device/backend.hpp"
#include "core/device/clock_speed.hpp"
#include "core/media/camera/v4l2_controls.hpp"
#include "core/media/cameras.hpp"
#include "core/media/capabilities.hpp"
#include "core/media/pipewire_nodes.hpp"
#include "core/media/portal.hpp"
#include "kernels/registry.hpp"
#include "ui/gl/display_path.hpp"
#include "ui/gl/window.hpp"

namespace lensd {
namespace {

void row(const char* what, bool works, const std::string& text) {
  fmt::print("{} {:<12} {}\n", works ? "+" : "-", what, printable(text));
}

/// Prints the architectures of the build and the code that the device runs. If there are several devices,
/// also prints their compute capabilities.
void report_gpu_code(const CudaStatus& cuda) {
  if (!cuda.built) return;
  const std::string built = describe(built_cuda_archs());
  row("GPU code", cuda.available, cuda.code.empty() ? built : fmt::format("{}; used: {}", built, cuda.code));
  if (cuda.devices.size() < 2) return;
  for (size_t i = 0; i < cuda.devices.size(); ++i)
    fmt::print("{:<15}device {}: {}, compute {}\n", "", i, cuda.devices[i].name,
               capability_text(cuda.devices[i].arch));
}

void report_cuda(const CudaStatus& cuda) {
  if (!cuda.available)
    return row("CUDA", false,
               cuda.hint.empty() ? cuda.reason : fmt::format("{} ({})", cuda.reason, cuda.hint));
  row("CUDA", true,
      fmt::format("{}, compute {}.{}, {} multiprocessors, {:.1f} GiB, driver API {}, runtime {}", cuda.device,
                  cuda.compute_major, cuda.compute_minor, cuda.multiprocessors,
                  static_cast<double>(cuda.memory_bytes) / (1 << 30), cuda.driver, cuda.runtime));
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
    row("screen", true, fmt::format("{} per channel", describe(window.depth())));
    const ui::DisplayChoice display = ui::choose_display_path(choice.backend, device);
    row("interop", display.kind == ui::DisplayKind::cuda_interop,
        display.kind == ui::DisplayKind::cuda_interop
            ? display.reason
            : fmt::format("{}; pixel buffers are used", display.reason));
  } catch (const Error& e) {
    row("OpenGL", false, e.problem());
    row("interop", false, "needs a display");
  }
}

/// Returns the largest modes of a format: "mjpeg 1920×1080 at 30 fps, 1280×720 at 60 fps".
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

/// Returns a control with its limits and values: "gain: a whole number 0 to 255, default 100, now 22
/// (inactive)".
std::string control_line(const SourceControl& control) {
  std::string text = control.name + ": " + allowed_values(control);
  if (control.kind != ControlKind::button && control.kind != ControlKind::text)
    text += ", default " + control_text(control, control.initial);
  if (control.kind != ControlKind::button && !control.write_only)
    text += ", now " + control_text(control, control.value);
  if (control.inactive) text += " (inactive)";
  if (control.locked) text += " (locked)";
  return control.read_only ? text + " (read-only)" : text;
}

void report_controls(const std::string& path) {
  V4l2Device device(path);
  if (!device.is_open()) return;
  for (const SourceControl& control : read_controls(device))
    fmt::print("{:<15}{}\n", "", printable(control_line(control)));
}

void report_cameras() {
  const std::vector<Camera> cameras = list_cameras();
  if (cameras.empty()) row("cameras", false, "no /dev/video* device that captures video");
  for (const Camera& camera : cameras) {
    if (camera.raw) {
      row("raw node", true, fmt::format("{}: {}: {}", camera.path, camera.name, kRawNodeHint));
      continue;
    }
    row("camera", true, fmt::format("{}: {}", camera.path, camera.name));
    if (!camera.by_id.empty()) fmt::print("{:<15}v4l2:{}\n", "", printable(camera.by_id));
    for (const CameraFormat& format : camera.formats) fmt::print("{:<15}{}\n", "", modes_text(format));
    report_controls(camera.path);
  }
}

void report_pipewire() {
  const PipewireSurvey survey = survey_pipewire();
  row("PipeWire", survey.running,
      survey.running ? survey.text + ", virtual cameras and sources work"
                     : survey.text + "; no virtual camera");
  for (const PipewireNode& node : survey.nodes)
    fmt::print("{:<15}pipewire:{}: {}, {}\n", "", printable(node.name.empty() ? node.serial : node.name),
               printable(node.description), node.camera ? "a camera" : "a program's stream");
}

void report_portal() {
  const std::string obstacle = portal_obstacle();
  row("portal", obstacle.empty(), obstacle.empty() ? "shares screens and windows (portal:)" : obstacle);
}

}  // namespace

void run_doctor(const CommandLine& line) {
  fmt::print("lensd {}\n", LENSD_VERSION);
  const CudaStatus cuda = usable_cuda(line.config.device);
  row("CPU", true,
      fmt::format("{} threads, SIMD {}, {} filters", std::thread::hardware_concurrency(),
                  hwy::TargetName(hwy::SupportedTargets() & -hwy::SupportedTargets()),
                  registry().filters.size()));
  report_cuda(cuda);
  report_gpu_code(cuda);
  report_clock("CPU clock", cpu_clock());
  if (cuda.available) report_clock("GPU clock", GpuClockMonitor(cuda.pci_bus_id).read());
  const BackendChoice choice = choose_backend(BackendRequest::automatic, cuda);
  row("backend", true, fmt::format("{} ({})", name(choice.backend), choice.reason));
  report_display(choice, line.config.device);
  row("FFmpeg", true, ffmpeg_versions());
  const std::string obstacle = hardware_decoding_obstacle(line.config.device);
  row("NVDEC", obstacle.empty(), obstacle.empty() ? "FFmpeg decodes on the GPU (--hwdec=cuda)" : obstacle);
  report_cameras();
  report_pipewire();
  report_portal();
}

}  // namespace lensd
