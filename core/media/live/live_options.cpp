#include "core/media/live/live_options.hpp"

extern "C" {
#include <libavutil/opt.h>
}

#include <netdb.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/base/text/url_secrets.hpp"
#include "core/media/camera/v4l2_capture.hpp"
#include "core/media/cameras.hpp"
#include "core/media/input/connect_policy.hpp"
#include "core/media/live/silence_limit.hpp"
#include "core/media/live_option_check.hpp"
#include "core/media/portal.hpp"

namespace lensd {
namespace {

/// Options that would lift the restrictions of input_live.cpp, or that print a list instead of opening.
constexpr std::array<std::string_view, 6> kRefusedOptions = {"protocol_whitelist", "protocol_blacklist",
                                                             "format_whitelist",   "codec_whitelist",
                                                             "list_formats",       "list_standards"};

std::string microseconds(int64_t ns) {
  return std::to_string(ns / 1000);
}

Error refusal(const std::string& where, const std::string& what, const std::string& hint = {}) {
  return Error(ExitCode::bad_source, where, what, hint);
}

/// Returns the scheme without TLS: "rtsp" for "rtsps", "http" for "https", "rtmp" for "rtmps".
std::string without_tls(const std::string& scheme) {
  return scheme.size() == 5 && scheme.back() == 's' ? scheme.substr(0, 4) : scheme;
}

/// Returns the protocols whose options LiveOptions::extra may set, outermost first. Empty for RTSP, because
/// its demuxer opens the sockets and has the options.
std::vector<std::string> layers(const std::string& scheme) {
  const std::string base = without_tls(scheme);
  if (scheme.empty() || base == "rtsp") return {};
  if (base == "udp" || base == "srt") return {scheme};
  return base == scheme ? std::vector<std::string>{scheme, "tcp"}
                        : std::vector<std::string>{scheme, "tls", "tcp"};
}

bool has_option(const AVClass* type, const std::string& option) {
  return type && av_opt_find(&type, option.c_str(), nullptr, 0, AV_OPT_SEARCH_FAKE_OBJ);
}

void check_extra(const std::string& where, const std::string& scheme, const AVInputFormat* format,
                 const LiveOptions& live) {
  for (const auto& [key, value] : live.extra) {
    bool known = has_option(avformat_get_class(), key) || (format && has_option(format->priv_class, key));
    for (const std::string& protocol : layers(scheme))
      known = known || has_option(avio_protocol_get_class(protocol.c_str()), key);
    for (const std::string_view refusal : kRefusedOptions) known = known && key != refusal;
    if (!known)
      throw Error(ExitCode::invalid_config, where, fmt::format("this kind of source has no option '{}'", key),
                  "see options in [source]");
  }
}

/// Throws Error(unavailable) if the certificate of an rtsps server should be verified. FFmpeg's RTSP demuxer
/// opens TLS without options. If it has the option tls_verify, only LiveOptions::extra can set it.
void check_rtsps(const std::string& where, const std::string& scheme, const AVInputFormat* format,
                 const LiveOptions& live) {
  const auto asks = [](const auto& option) { return option.first == "tls_verify" && option.second != "0"; };
  const bool has_own = has_option(format ? format->priv_class : nullptr, "tls_verify");
  if (scheme != "rtsps") return;
  if (live.tls == TlsCheck::verify || (!has_own && std::ranges::any_of(live.extra, asks)))
    throw Error(ExitCode::unavailable, where, "lensd cannot verify the certificate of an rtsps server",
                has_own ? "use tls = \"auto\" and options = \"tls_verify=1 ca_file=FILE\""
                        : "without verification it plays, but an attacker in the network can read the login");
}

/// Returns true if `text` may be a result of fourcc_text(). The camera's codes are known only when it is
/// connected, so V4l2Capture refuses codes that the camera does not have.
bool maybe_fourcc(const std::string& text) {
  return text.size() <= 4 || (text.size() <= 7 && text.ends_with("-BE"));
}

void check_camera_options(const std::string& where, const LiveOptions& live) {
  for (const auto& [key, value] : live.extra)
    if (std::ranges::none_of(kCameraOptions, [&option = key](const char* name) { return option == name; }))
      throw Error(ExitCode::invalid_config, where, fmt::format("a camera has no option '{}'", key),
                  "it has channel and standard");
  const auto entries = camera_format_table();
  if (!live.format.empty() && !maybe_fourcc(live.format) &&
      std::ranges::none_of(entries, [&](const auto& e) { return live.format == e.name; }))
    throw Error(ExitCode::invalid_config, where, fmt::format("no camera format is called '{}'", live.format),
                "lensd doctor lists the camera's formats");
}

void check_shape(const std::string& where, UrlKind kind, const LiveOptions& live) {
  const bool shaped = live.size.width > 0 || live.rate > 0;
  if (kind == UrlKind::network && shaped)
    throw Error(ExitCode::invalid_config, where, "size and rate cannot be set for a network source",
                "they are for cameras and the screen");
  if (kind == UrlKind::screen && !live.format.empty())
    throw Error(ExitCode::invalid_config, where, "the screen has only one format",
                "remove format from [source]");
}

}  // namespace

std::string allowed_protocols(const std::string& scheme) {
  const std::string base = without_tls(scheme);
  if (base == "http") return "http,https,httpproxy,tcp,tls";
  if (base == "rtsp") return "rtsp,rtp,srtp,udp,tcp,tls,http,https,httpproxy";
  return base == "rtmp" ? "rtmp,rtmps,tcp,tls" : scheme;  // udp, srt
}

std::string allowed_demuxers(const std::string& scheme) {
  const std::string base = without_tls(scheme);
  if (base == "rtsp") return "rtsp";
  if (base == "rtmp") return "flv";
  const std::string streams = "mpegts,flv,matroska,nut,h264,hevc,m4v,mpegvideo,mjpeg,mpjpeg";
  if (base != "http") return streams;
  return streams + ",mov,avi,ogg,asf,mpeg,ivf,gif,apng,jpeg_pipe,png_pipe,webp_pipe,bmp_pipe,mp3,flac";
}

const AVInputFormat* live_demuxer(const std::string& url, UrlKind kind, const LiveOptions& live) {
  ff::initialize();
  if (kind == UrlKind::screen) {
    if (const AVInputFormat* format = av_find_input_format("x11grab")) return format;
    throw Error(ExitCode::unavailable, url_without_secrets(url), "this FFmpeg has no x11grab");
  }
  const std::string scheme = scheme_of(url);
  if (without_tls(scheme) == "rtsp") return av_find_input_format("rtsp");
  std::string format_name = live.format;
  // Datagrams usually carry MPEG-TS. Naming the demuxer saves the time for probing.
  if (format_name.empty() && (scheme == "udp" || scheme == "srt")) format_name = "mpegts";
  // A playlist is recognised by its content (input_hls.cpp).
  if (format_name.empty() || (format_name == "hls" && without_tls(scheme) == "http")) return nullptr;
  const AVInputFormat* format = av_find_input_format(format_name.c_str());
  if (!format)
    throw Error(ExitCode::invalid_config, url_without_secrets(url),
                fmt::format("this FFmpeg has no input format '{}'", format_name));
  return format;
}

void fill_live_options(ff::Options& options, const std::string& url, UrlKind kind, const LiveOptions& live) {
  const std::string scheme = scheme_of(url), base = without_tls(scheme);
  if (kind != UrlKind::network) {
    if (live.size.width > 0)
      options.set("video_size", fmt::format("{}x{}", live.size.width, live.size.height));
    const double rate = live.rate > 0 ? live.rate : kind == UrlKind::screen ? 30 : 0;
    if (rate > 0) options.set("framerate", fmt::format("{}", rate));
  } else {
    options.set("protocol_whitelist", allowed_protocols(scheme));
    options.set("format_whitelist", allowed_demuxers(scheme));
  }
  if (base == "rtsp") {
    options.set("rtsp_transport", live.rtsp_transport);
    options.set("timeout", microseconds(live.silence_ns));
    options.set("allowed_media_types", live.audio ? "video+audio" : "video");
    if (live.low_latency) options.set("reorder_queue_size", "0");
  } else if (scheme == "udp") {
    options.set("overrun_nonfatal", "1");
    options.set("buffer_size", "2097152");  // key frames arrive in bursts; the kernel may reduce it
  } else if (base == "http") {
    // Input interrupts reading earlier: after open_ns while it opens the stream, then after
    // the SilenceLimit.
    const int64_t slowest = live.silence_given ? live.silence_ns : SilenceLimit::kSlowestNs;
    options.set("rw_timeout", microseconds(std::max(live.open_ns, slowest)));
    options.set("reconnect", "1");  // continues a file whose connection ends
  } else if (base == "rtmp") {
    options.set("rw_timeout", microseconds(live.silence_ns));
  } else if (scheme == "srt") {
    options.set("connect_timeout", std::to_string(live.silence_ns / 1'000'000));
    options.set("rw_timeout", microseconds(live.open_ns));
  }
}

std::string screen_display(const std::string& url) {
  const std::string given = url.substr(std::string_view("screen:").size());
  if (!given.empty() && given.front() != '+') return given;  // "+X,Y" is an offset without a display
  const char* named = std::getenv("DISPLAY");
  if (!named || !*named)
    throw refusal(url, "there is no X11 display to record", "set DISPLAY, or use screen::0+0,0");
  return named + given;
}

ScreenOffset screen_offset(const std::string& display) {
  const size_t plus = display.find('+');
  ScreenOffset offset{display.substr(0, plus)};
  if (plus == std::string::npos) return offset;
  int x = 0, y = 0;
  const bool valid = std::sscanf(display.c_str() + plus, "+%d,%d", &x, &y) == 2 && x >= 0 && y >= 0;
  if (valid) offset.x = x, offset.y = y;
  return offset;
}

void check_live_source(const std::string& url, const LiveOptions& live) {
  const UrlKind kind = classify(url);
  const std::string where = url_without_secrets(url), scheme = scheme_of(url);
  check_shape(where, kind, live);
  if (kind == UrlKind::camera) {
    if (const std::string problem = never_a_camera(camera_path(url)); !problem.empty())
      throw refusal(where, problem, "lensd doctor lists the cameras");
    check_camera_options(where, live);
    return;
  }
  if (kind == UrlKind::pipewire) {
    if (url.starts_with("portal:") && !portal_target(url))
      throw refusal(where, "there is no such portal", "use portal: or portal:camera");
    if (!live.extra.empty() || !live.format.empty())
      throw Error(ExitCode::invalid_config, where, "format and options cannot be set for a PipeWire source",
                  "remove them from [source]; size and rate can be set");
    return;
  }
  const AVInputFormat* format = live_demuxer(url, kind, live);
  check_rtsps(where, scheme, format, live);
  check_extra(where, scheme, format, live);
  if (kind == UrlKind::screen) screen_display(url);
  if (kind != UrlKind::network) return;
  if (host_of(url).empty() && scheme != "udp" && scheme != "srt")
    throw refusal(where, "this address has no host", "use " + scheme + "://HOST/…");
  const auto sets_port = [](const auto& option) {
    return option.first == "localport" || option.first == "local_port";
  };
  const bool local_port =
      url.find("localport=") != std::string::npos || std::ranges::any_of(live.extra, sets_port);
  if (const auto wrong = port_problem(url, scheme == "srt" || (scheme == "udp" && !local_port)))
    throw refusal(where, wrong->what, wrong->hint);
  const auto protocols = layers(scheme);
  if (!protocols.empty() && !avio_protocol_get_class(protocols.front().c_str()))
    throw Error(ExitCode::unavailable, where, fmt::format("this FFmpeg was built without {}", scheme));
}

void check_live_options(const std::string& url, const LiveOptions& live) try {
  if (is_live(classify(url))) check_live_source(url, live);
} catch (const Error& e) {
  if (e.code() == ExitCode::invalid_config) throw;
}

bool is_internal_host(const std::string& host) {
  addrinfo hints = {}, *list = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), nullptr, &hints, &list) != 0) return true;  // unknown: assume internal
  bool inside = false;
  for (const addrinfo* a = list; a; a = a->ai_next) inside = inside || is_internal_address(*a->ai_addr);
  freeaddrinfo(list);
  return inside;
}

}  // namespace lensd
