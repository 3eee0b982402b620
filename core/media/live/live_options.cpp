#include "core/media/live/live_options.hpp"

extern "C" {
#include <libavdevice/avdevice.h>
#include <libavutil/opt.h>
}

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <vector>

#include "core/media/live/cameras.hpp"

namespace lensd {
namespace {

/// Options that would lift what input_live.cpp keeps shut, or that end the program (list_formats prints).
constexpr std::array<std::string_view, 6> kRefusedOptions = {"protocol_whitelist", "protocol_blacklist",
                                                             "format_whitelist",   "codec_whitelist",
                                                             "list_formats",       "list_standards"};

std::string microseconds(int64_t ns) {
  return std::to_string(ns / 1000);
}

Error refused(const std::string& where, const std::string& what, const std::string& hint = {}) {
  return Error(ExitCode::bad_source, where, what, hint);
}

/// Protocols that a scheme is made of, outermost first, for the question which options exist.
std::vector<const char*> layers(const std::string& scheme) {
  if (scheme == "http") return {"http", "tcp"};
  if (scheme == "https") return {"https", "tls", "tcp"};
  if (scheme == "udp") return {"udp"};
  if (scheme == "srt") return {"srt"};
  if (scheme == "rtmp") return {"rtmp", "tcp"};
  if (scheme == "rtmps") return {"rtmps", "tls", "tcp"};
  return {};  // RTSP opens its sockets itself, with options of the demuxer
}

bool knows(const AVClass* type, const std::string& option) {
  return type && av_opt_find(&type, option.c_str(), nullptr, 0, AV_OPT_SEARCH_FAKE_OBJ);
}

void check_extra(const std::string& where, const std::string& scheme, const AVInputFormat* format,
                 const LiveOptions& live) {
  for (const auto& [key, value] : live.extra) {
    bool known = knows(avformat_get_class(), key) || (format && knows(format->priv_class, key));
    for (const char* protocol : layers(scheme))
      known = known || knows(avio_protocol_get_class(protocol), key);
    for (const std::string_view refusal : kRefusedOptions) known = known && key != refusal;
    if (!known)
      throw Error(ExitCode::invalid_config, where, fmt::format("this kind of source has no option '{}'", key),
                  "see options in [source]");
  }
}

void check_shape(const std::string& where, UrlKind kind, const LiveOptions& live) {
  const bool shaped = live.size.width > 0 || live.rate > 0;
  if (kind == UrlKind::network && shaped)
    throw Error(ExitCode::invalid_config, where, "a network source sends the size and rate that it likes",
                "size and rate are for cameras and the screen");
  if (kind == UrlKind::screen && !live.format.empty())
    throw Error(ExitCode::invalid_config, where, "the screen has no choice of formats", "leave format out");
}

void register_devices() {
  static std::once_flag once;
  std::call_once(once, avdevice_register_all);
}

}  // namespace

std::string allowed_protocols(const std::string& scheme) {
  if (scheme == "http" || scheme == "https") return "http,https,httpproxy,tcp,tls";
  if (scheme == "rtsp" || scheme == "rtsps") return "rtsp,rtp,srtp,udp,tcp,tls,http,https,httpproxy";
  if (scheme == "rtmp" || scheme == "rtmps") return "rtmp,rtmps,tcp,tls";
  return scheme;  // udp, srt
}

std::string allowed_demuxers(const std::string& scheme) {
  if (scheme == "rtsp" || scheme == "rtsps") return "rtsp";
  const std::string streams = "mpegts,flv,matroska,nut,h264,hevc,m4v,mpegvideo,mjpeg,mpjpeg";
  if (scheme == "http" || scheme == "https")
    return streams + ",mov,avi,ogg,asf,mpeg,ivf,gif,apng,jpeg_pipe,png_pipe,webp_pipe,bmp_pipe";
  return scheme == "rtmp" || scheme == "rtmps" ? "flv" : streams;
}

const AVInputFormat* live_demuxer(const std::string& url, UrlKind kind, const LiveOptions& live) {
  if (kind != UrlKind::network) {
    register_devices();
    const char* device = kind == UrlKind::camera ? "video4linux2" : "x11grab";
    if (const AVInputFormat* format = av_find_input_format(device)) return format;
    throw Error(ExitCode::unavailable, without_secrets(url), fmt::format("this FFmpeg has no {}", device));
  }
  const std::string scheme = scheme_of(url);
  if (scheme == "rtsp" || scheme == "rtsps") return av_find_input_format("rtsp");
  std::string format_name = live.format;
  // Datagrams carry MPEG-TS unless somebody says otherwise; naming it saves the time for guessing.
  if (format_name.empty() && (scheme == "udp" || scheme == "srt")) format_name = "mpegts";
  if (format_name.empty()) return nullptr;
  const AVInputFormat* format = av_find_input_format(format_name.c_str());
  if (!format)
    throw Error(ExitCode::invalid_config, without_secrets(url),
                fmt::format("'{}' is no format that this FFmpeg reads", format_name));
  return format;
}

void fill_live_options(ff::Options& options, const std::string& url, UrlKind kind, const LiveOptions& live) {
  const std::string scheme = scheme_of(url);
  if (kind == UrlKind::camera && !live.format.empty()) options.set("input_format", live.format);
  if (kind != UrlKind::network) {
    if (live.size.width > 0)
      options.set("video_size", fmt::format("{}x{}", live.size.width, live.size.height));
    const double rate = live.rate > 0 ? live.rate : kind == UrlKind::screen ? 30 : 0;
    if (rate > 0) options.set("framerate", fmt::format("{}", rate));
  } else {
    options.set("protocol_whitelist", allowed_protocols(scheme));
    options.set("format_whitelist", allowed_demuxers(scheme));
  }
  if (scheme == "rtsp" || scheme == "rtsps") {
    options.set("rtsp_transport", live.rtsp_transport);
    options.set("timeout", microseconds(live.silence_ns));
    options.set("allowed_media_types", "video");
    if (live.low_latency) options.set("reorder_queue_size", "0");
  } else if (scheme == "udp") {
    options.set("overrun_nonfatal", "1");
    options.set("buffer_size", "2097152");  // a key frame's burst; the kernel may cut it down
  } else if (scheme == "http" || scheme == "https" || scheme == "rtmp" || scheme == "rtmps") {
    options.set("rw_timeout", microseconds(live.silence_ns));
  } else if (scheme == "srt") {
    options.set("connect_timeout", std::to_string(live.silence_ns / 1'000'000));
    options.set("rw_timeout", microseconds(live.open_ns));
  }
  for (const auto& [key, value] : live.extra) options.set(key.c_str(), value);
}

std::string screen_display(const std::string& url) {
  const std::string given = url.substr(std::string_view("screen:").size());
  if (!given.empty() && given.front() != '+') return given;  // "+X,Y" is an offset without a display
  const char* named = std::getenv("DISPLAY");
  if (!named || !*named)
    throw refused(url, "there is no X11 display to record", "set DISPLAY, or name one: screen::0+0,0");
  return named + given;
}

void check_live_source(const std::string& url, const LiveOptions& live) {
  const UrlKind kind = classify(url);
  const std::string where = without_secrets(url), scheme = scheme_of(url);
  check_shape(where, kind, live);
  const AVInputFormat* format = live_demuxer(url, kind, live);
  check_extra(where, scheme, format, live);
  if (kind == UrlKind::screen) screen_display(url);
  if (kind == UrlKind::camera) {
    if (const std::string problem = never_a_camera(camera_path(url)); !problem.empty())
      throw refused(where, problem, "lensd doctor lists the cameras");
  }
  if (kind != UrlKind::network) return;
  if (host_of(url).empty() && scheme != "udp" && scheme != "srt")
    throw refused(where, "there is no host in this address", scheme + "://HOST/…");
  const auto protocols = layers(scheme);
  if (!protocols.empty() && !avio_protocol_get_class(protocols.front()))
    throw Error(ExitCode::unavailable, where, fmt::format("this FFmpeg was built without {}", scheme));
}

}  // namespace lensd
