// Input for live sources: network streams, cameras, the screen.
extern "C" {
#include <libavutil/opt.h>
}

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/media/cameras.hpp"
#include "core/media/input/input.hpp"
#include "core/media/live/live_options.hpp"

namespace lensd {
namespace {

constexpr int64_t kProbeBytes = 1 << 20;
/// Stream time to probe before decoding begins; the decoder determines the rest.
constexpr int64_t kAnalyzeUs = 300'000, kAnalyzeLowLatencyUs = 100'000;
/// Frames to probe for the rate of a stream that does not declare one.
constexpr int kRateFrames = 3;
/// Latency of an interruption while a camera is silent, and the sleep if its descriptor was not found.
constexpr int kCameraPollMs = 50, kCameraSleepUs = 2000;

/// A short reason for placeholders and panels.
std::string describe(int error, UrlKind kind) {
  constexpr std::pair<int, const char*> kReasons[] = {
      {AVERROR(EIO), "connection lost"},
      {AVERROR(ECONNREFUSED), "connection refused"},
      {AVERROR(ETIMEDOUT), "no answer"},
      {AVERROR(EHOSTUNREACH), "host not reachable"},
      {AVERROR(ENETUNREACH), "host not reachable"},
      {AVERROR(ECONNRESET), "connection reset"},
      {AVERROR(EPIPE), "connection reset"},
      {AVERROR(EBUSY), "in use by another program"},
      {AVERROR(EPERM), "not allowed"},
      {AVERROR_EOF, "the stream ended at once"},
      {AVERROR_INVALIDDATA, "this is not a video stream that FFmpeg can read"}};
  if (kind == UrlKind::screen && error == AVERROR(EIO)) return "the display is not there";
  for (const auto& [code, text] : kReasons)
    if (code == error) return text;
  return ff::error_text(error);
}

/// This process's only descriptor of device `path`; -1 if there is none or several. libavdevice does not give
/// access to its own.
int descriptor_of(const std::string& path) {
  struct stat device = {};
  if (stat(path.c_str(), &device) != 0) return -1;
  int found = -1;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const int fd = std::atoi(entry.path().filename().c_str());
    struct stat status = {};
    if (fstat(fd, &status) != 0 || !S_ISCHR(status.st_mode) || status.st_rdev != device.st_rdev) continue;
    if (found >= 0) return -1;
    found = fd;
  }
  return found;
}

}  // namespace

int Input::open_allowed(AVFormatContext* context, AVIOContext** io, const char* url, int flags,
                        AVDictionary** options) noexcept {
  const auto& self = *static_cast<const Input*>(context->opaque);
  if (!url || self.allowed_url_ != url) return deny_open(context, io, url, flags, options);
  return self.default_open_(context, io, url, flags, options);
}

void Input::set_probing(const LiveOptions& live) {
  context_->probesize = kProbeBytes;
  context_->max_analyze_duration = live.low_latency ? kAnalyzeLowLatencyUs : kAnalyzeUs;
  context_->fps_probe_size = kRateFrames;
  // AVFMT_FLAG_NOBUFFER would discard the probed packets and with them the first key frame. Without it they
  // are decoded at once and only the newest picture is kept, so that they add no delay.
}

void Input::open_network(const std::string& url, const LiveOptions& live) {
  make_context();
  set_probing(live);
  allowed_url_ = url;
  context_->opaque = this;
  default_open_ = context_->io_open;
  context_->io_open = open_allowed;
  open_live(url, url, live);
  refuse_redirection(url);
  if (live.low_latency) bypass_ffmpeg_parser();
}

/// For live transport streams: FFmpeg's demuxer and its parser would each delay every picture until the next
/// one arrives.
void Input::bypass_ffmpeg_parser() {
  const bool stream = context_->pb && !(context_->pb->seekable & AVIO_SEEKABLE_NORMAL);
  bypasses_parser_ = stream && std::string_view(context_->iformat->name) == "mpegts";
  if (!bypasses_parser_) return;
  context_->flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN | AVFMT_FLAG_CUSTOM_IO;
  // With NOFILLIN, the times that FFmpeg would look for in the first 50 packets are never filled in.
  context_->max_ts_probe = 1;
  transport_ = std::make_unique<TransportStreamIo>(std::exchange(context_->pb, nullptr));
  context_->pb = transport_->context();
}

void Input::open_camera(const std::string& url, const LiveOptions& live) {
  const std::string path = camera_path(url);
  if (const std::string obstacle = camera_obstacle(path); !obstacle.empty()) fail(obstacle);
  make_context();
  context_->flags |= AVFMT_FLAG_NONBLOCK;  // a blocking read of the driver cannot be interrupted
  open_live(path, url, live);
  camera_fd_ = descriptor_of(path);
}

void Input::open_screen(const std::string& url, const LiveOptions& live) {
  make_context();
  open_live(screen_display(url), url, live);
}

/// `demuxer_url` is what FFmpeg opens for `url`.
void Input::open_live(const std::string& demuxer_url, const std::string& url, const LiveOptions& live) {
  ff::Options options;
  fill_live_options(options, url, kind_, live);
  if (const int error = open_demuxer(demuxer_url, live_demuxer(url, kind_, live), options); error < 0) {
    fail_if_interrupted();
    if (deadline_.expired()) fail("no answer before the open timeout");
    fail(describe(error, kind_), ff::log_hint());
  }
  if (const char* option = options.unused())
    throw Error(ExitCode::invalid_config, where_, fmt::format("this source has no option '{}'", option),
                "see options in [source]");
}

/// FFmpeg follows redirections itself. A redirection to another host is refused if that host is
/// internal: an outside server must not make this machine read from its own network.
void Input::refuse_redirection(const std::string& url) const {
  std::string final_url = context_->url ? context_->url : "";
  uint8_t* location = nullptr;
  if (context_->pb && av_opt_get(context_->pb, "location", AV_OPT_SEARCH_CHILDREN, &location) >= 0 &&
      location) {
    if (*location) final_url = reinterpret_cast<const char*>(location);
    av_free(location);
  }
  const std::string asked = host_of(url), got = host_of(final_url);
  if (got.empty() || got == asked || !is_internal_host(got)) return;
  fail(fmt::format("it redirects to the internal address {}", got),
       "if that is intended, use that address directly");
}

bool Input::on_demand() const noexcept {
  if (kind_ != UrlKind::network || !context_ || !context_->pb) return false;
  const std::string_view format = context_->iformat->name;
  if (format == "mpjpeg" || format == "mjpeg") return false;
  return image_container() || ((context_->pb->seekable & AVIO_SEEKABLE_NORMAL) && context_->duration > 0);
}

void Input::wait_for_camera() const noexcept {
  struct pollfd wait = {camera_fd_, POLLIN, 0};
  // On an error condition (unplugged) poll() returns at once: sleep, so that this does not spin. The next
  // read reports the error.
  if (camera_fd_ < 0 || (poll(&wait, 1, kCameraPollMs) > 0 && !(wait.revents & POLLIN)))
    usleep(kCameraSleepUs);
}

}  // namespace lensd
