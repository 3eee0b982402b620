// Opening what goes on for ever: network streams, cameras, the screen.
extern "C" {
#include <libavutil/opt.h>
}

#include <arpa/inet.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/base/log.hpp"
#include "core/media/input/input.hpp"
#include "core/media/live/cameras.hpp"
#include "core/media/live/live_options.hpp"

namespace lensd {
namespace {

constexpr int64_t kProbeBytes = 1 << 20;
/// Stream time that is looked at before decoding begins; the decoder finds out the rest by itself.
constexpr int64_t kAnalyzeUs = 300'000, kAnalyzeLowLatencyUs = 100'000;
/// Frames looked at for a rate that the stream does not tell.
constexpr int kRateFrames = 3;
/// How late an interruption of a camera that waits is seen, and the nap where its descriptor was not found.
constexpr int kCameraPollMs = 50, kCameraNapUs = 2000;

/// Few words for a person who watches a source.
std::string words(int error, UrlKind kind) {
  switch (error) {
    case AVERROR(EIO):
      return kind == UrlKind::screen ? "the display is not there" : "the connection broke off";
    case AVERROR(ECONNREFUSED):
      return "connection refused";
    case AVERROR(ETIMEDOUT):
      return "no answer";
    case AVERROR(EHOSTUNREACH):
    case AVERROR(ENETUNREACH):
      return "host not reachable";
    case AVERROR(ECONNRESET):
    case AVERROR(EPIPE):
      return "connection reset";
    case AVERROR(EBUSY):
      return "in use by another program";
    case AVERROR(EPERM):
      return "not allowed";
    case AVERROR_EOF:
      return "the stream ended at once";
    case AVERROR_INVALIDDATA:
      return "this is no video stream that lensd reads";
    default:
      return ff::error_text(error);
  }
}

/// This process's only descriptor of device `path`, or -1: libavdevice does not tell its own.
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

bool internal(const in_addr& v4) {
  const uint32_t a = ntohl(v4.s_addr);
  const auto within = [a](uint32_t net, int bits) { return (a >> (32 - bits)) == (net >> (32 - bits)); };
  return within(0x00000000, 8) || within(0x0A000000, 8) || within(0x64400000, 10) || within(0x7F000000, 8) ||
         within(0xA9FE0000, 16) || within(0xAC100000, 12) || within(0xC0A80000, 16) || within(0xE0000000, 3);
}

bool internal(const in6_addr& v6) {
  if (IN6_IS_ADDR_V4MAPPED(&v6)) {
    in_addr v4 = {};
    std::memcpy(&v4, v6.s6_addr + 12, 4);
    return internal(v4);
  }
  return IN6_IS_ADDR_LOOPBACK(&v6) || IN6_IS_ADDR_UNSPECIFIED(&v6) || IN6_IS_ADDR_LINKLOCAL(&v6) ||
         IN6_IS_ADDR_SITELOCAL(&v6) || IN6_IS_ADDR_MULTICAST(&v6) || (v6.s6_addr[0] & 0xFE) == 0xFC;
}

}  // namespace

bool is_internal_host(const std::string& host) {
  addrinfo hints = {}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return true;  // not known to be outside
  bool inside = false;
  for (const addrinfo* a = list; a; a = a->ai_next) {
    if (a->ai_family == AF_INET)
      inside = inside || internal(reinterpret_cast<const sockaddr_in*>(a->ai_addr)->sin_addr);
    else if (a->ai_family == AF_INET6)
      inside = inside || internal(reinterpret_cast<const sockaddr_in6*>(a->ai_addr)->sin6_addr);
  }
  freeaddrinfo(list);
  return inside;
}

int Input::open_named(AVFormatContext* context, AVIOContext** io, const char* url, int flags,
                      AVDictionary** options) noexcept {
  const auto& self = *static_cast<const Input*>(context->opaque);
  if (!url || self.named_ != url) return deny_open(context, io, url, flags, options);
  return self.default_open_(context, io, url, flags, options);
}

void Input::set_probing(const LiveOptions& live) {
  context_->probesize = kProbeBytes;
  context_->max_analyze_duration = live.low_latency ? kAnalyzeLowLatencyUs : kAnalyzeUs;
  context_->fps_probe_size = kRateFrames;
  // AVFMT_FLAG_NOBUFFER is not set: it throws away the packets that were looked at, and with them the first
  // key frame. They are decoded at once and only the newest picture is kept, so that they add no delay.
}

void Input::open_network(const std::string& url, const LiveOptions& live) {
  static const int once = avformat_network_init();
  (void)once;
  make_context();
  set_probing(live);
  named_ = url;
  context_->opaque = this;
  default_open_ = context_->io_open;
  context_->io_open = open_named;
  ff::Options options;
  fill_live_options(options, url, kind_, live);
  open_live(url, live_demuxer(url, kind_, live), options);
  refuse_redirection(url);
  if (live.low_latency) parse_here();
}

/// Of a transport stream that cannot be a file: FFmpeg's demuxer and its parser would each hold every picture
/// back until the next one.
void Input::parse_here() {
  const bool stream = context_->pb && !(context_->pb->seekable & AVIO_SEEKABLE_NORMAL);
  parses_here_ = stream && std::string_view(context_->iformat->name) == "mpegts";
  if (!parses_here_) return;
  context_->flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN | AVFMT_FLAG_CUSTOM_IO;
  // Nothing fills in the times that FFmpeg would otherwise look for in fifty packets before it begins.
  context_->max_ts_probe = 1;
  transport_ = std::make_unique<TransportStreamIo>(std::exchange(context_->pb, nullptr));
  context_->pb = transport_->context();
}

void Input::open_camera(const std::string& url, const LiveOptions& live) {
  const std::string path = camera_path(url);
  if (const std::string obstacle = camera_obstacle(path); !obstacle.empty())
    throw Error(ExitCode::bad_source, where_, obstacle);
  make_context();
  context_->flags |=
      AVFMT_FLAG_NONBLOCK;  // taking a picture from the driver would wait where nothing can stop it
  ff::Options options;
  fill_live_options(options, url, kind_, live);
  open_live(path, live_demuxer(url, kind_, live), options);
  camera_fd_ = descriptor_of(path);
}

void Input::open_screen(const std::string& url, const LiveOptions& live) {
  make_context();
  ff::Options options;
  fill_live_options(options, url, kind_, live);
  open_live(screen_display(url), live_demuxer(url, kind_, live), options);
}

void Input::open_live(const std::string& url, const AVInputFormat* format, ff::Options& options) {
  AVFormatContext* context = context_.release();  // freed by FFmpeg when opening fails
  const int error = avformat_open_input(&context, url.c_str(), format, options.get());
  context_.reset(context);
  if (error < 0) {
    if (stop_.raised()) throw Error(ExitCode::bad_source, where_, "opening was interrupted");
    if (watch_.expired()) throw Error(ExitCode::bad_source, where_, "no answer within the time for opening");
    const std::string detail = ff::last_log();
    throw Error(ExitCode::bad_source, where_, words(error, kind_),
                detail.empty() ? "" : "FFmpeg says: " + detail);
  }
  const AVDictionaryEntry* left = av_dict_get(*options.get(), "", nullptr, AV_DICT_IGNORE_SUFFIX);
  if (left)
    throw Error(ExitCode::invalid_config, where_,
                fmt::format("nothing in this source knows the option '{}'", left->key),
                "see options in [source]");
}

/// FFmpeg follows redirections by itself. What another host sent is not used when that host is an internal
/// one: nobody named it, and a server outside must not make this machine look at its own network.
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
  throw Error(ExitCode::bad_source, where_, fmt::format("it redirects to the internal address {}", got),
              "name that address itself if it is meant");
}

bool Input::on_demand() const noexcept {
  if (kind_ != UrlKind::network || !context_ || !context_->pb) return false;
  const std::string_view format = context_->iformat->name;
  if (format == "mpjpeg" || format == "mjpeg") return false;
  return image_container() || ((context_->pb->seekable & AVIO_SEEKABLE_NORMAL) && context_->duration > 0);
}

void Input::wait_for_camera() const noexcept {
  if (camera_fd_ < 0) {
    usleep(kCameraNapUs);
    return;
  }
  struct pollfd wait = {camera_fd_, POLLIN, 0};
  // An error condition (unplugged) is reported by the next reading; it must not spin.
  if (poll(&wait, 1, kCameraPollMs) > 0 && !(wait.revents & POLLIN)) usleep(kCameraNapUs);
}

}  // namespace lensd
