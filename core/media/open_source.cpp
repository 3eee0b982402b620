#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/limits.hpp"
#include "core/base/text/text.hpp"
#include "core/base/text/url_secrets.hpp"
#include "core/media/camera/camera_monitor.hpp"
#include "core/media/camera/mode_controls.hpp"
#include "core/media/camera/shared_controls.hpp"
#include "core/media/hls/hls_access.hpp"
#include "core/media/input/ffmpeg_source.hpp"
#include "core/media/live/live_options.hpp"
#include "core/media/live/live_source.hpp"
#include "core/media/portal.hpp"

namespace lensd {
namespace {

/// Maximum wait for the first picture of a live source without must_open. Most sources send one in this time;
/// the pipeline then starts with the right size.
constexpr int64_t kFirstTimeoutNs = 1'000'000'000;

/// Time for the user to answer the desktop portal's dialog.
constexpr int64_t kDialogNs = 120'000'000'000;

/// Removes the modes that cameras had in earlier runs, because the configuration sets the mode.
void forget_modes(KeptControls& kept) {
  for (auto& [camera, values] : kept)
    std::erase_if(values, [](const auto& one) { return ModeControls::has(one.first); });
}

std::unique_ptr<Source> open_live_source(const std::string& url, SourceOptions options) {
  check_live_source(url, options.live);
  if (!options.live.format.empty() || options.live.size.width > 0 || options.live.rate > 0)
    forget_modes(options.live.kept_controls);
  const UrlKind kind = classify(url);
  if (kind == UrlKind::camera) {
    options.live.shared_controls =
        std::make_shared<SharedControls>(options.live.controls, options.live.kept_controls);
  }
  if (kind == UrlKind::camera || kind == UrlKind::pipewire)
    options.live.camera_monitor = std::make_shared<CameraMonitor>();
  if (portal_target(url)) {
    options.live.portal = std::make_shared<PortalGrant>();
    options.live.open_ns = std::max(options.live.open_ns, kDialogNs);
  }
  if (kind == UrlKind::network) options.live.hls = std::make_shared<HlsProgress>();
  const auto connect = [url, options](const std::atomic<bool>& cancel) -> std::unique_ptr<Source> {
    SourceOptions connection = options;
    connection.cancel = &cancel, connection.start_ns = 0, connection.start_share = 0;
    return std::make_unique<FfmpegSource>(url, connection);
  };
  const bool must_open = options.live.must_open;
  auto source = std::make_unique<LiveSource>(url, options, connect,
                                             kFirstTimeoutNs + (must_open ? options.live.open_ns : 0));
  if (auto file = source->take_file()) {
    auto& opened = static_cast<FfmpegSource&>(*file);
    opened.cancel_by(options.cancel);
    opened.seek_start(options);
    return file;
  }
  if (must_open && !source->opened()) {
    std::string reason = source->live_status().reason;
    const size_t wait = reason.find(kNextAttempt);
    const bool has_hint = reason.ends_with(')') || wait != std::string::npos;
    reason.resize(std::min(wait, reason.size()));  // remove the time of the next attempt: there is none
    throw Error(ExitCode::bad_source, display_url(url), reason.empty() ? "no picture arrived" : reason,
                has_hint ? "" : "check that the source is running");
  }
  return source;
}

}  // namespace

std::unique_ptr<Source> open_source(const std::string& url, const SourceOptions& options) {
  if (url.size() > kMaxUrlBytes)
    throw Error(ExitCode::bad_source, "source",
                fmt::format("its name has {} bytes, the limit is {}", url.size(), kMaxUrlBytes));
  if (url.find('\0') != std::string::npos)  // the system would open the part of the name before the zero
    throw Error(ExitCode::bad_source, on_one_line(url_without_secrets(url)),
                "a name cannot contain a zero byte");
  remember_secrets(url);
  if (is_live(classify(url))) return open_live_source(url, options);
  return std::make_unique<FfmpegSource>(url, options);
}

}  // namespace lensd
