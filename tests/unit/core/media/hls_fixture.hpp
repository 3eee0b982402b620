// An HLS server on 127.0.0.1: segments of one second with pictures and beeps, and any other content.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "core/base/clock.hpp"
#include "tests/unit/common/local_server.hpp"
#include "tests/unit/core/media/joined_clip.hpp"
#include "tests/unit/core/media/media_fixture.hpp"

namespace lensd::test {

/// Returns segment `number` of a stream of kClipFps, whose times begin at `first_s`.
inline std::string hls_segment(int number, double first_s = 0, AVCodecID codec = AV_CODEC_ID_MPEG2VIDEO) {
  return mpeg_clip("mpegts", {first_s + number, 1, number * 11 % 70, codec});
}

/// Returns a media playlist of segments `first` to `first + count - 1`: "0.ts", "1.ts", …
inline std::string hls_list(int first, int count, bool finished, const std::string& begin = "") {
  std::string text =
      fmt::format("#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:{}\n", first);
  for (int i = first; i < first + count; ++i) text += fmt::format("#EXTINF:1.0,\n{}{}.ts\n", begin, i);
  return text + (finished ? "#EXT-X-ENDLIST\n" : "");
}

class HlsServer {
 public:
  /// Returns the body of an answer; empty: 404. "!" closes the connection, "?" hangs, ">ADDRESS"
  /// redirects, "login" asks for one, "busy" asks to try again later.
  using Content = std::function<std::string(const std::string& path)>;

  explicit HlsServer(Content content) : content_(std::move(content)) {}
  ~HlsServer() { server_.end(); }
  HlsServer(const HlsServer&) = delete;
  HlsServer& operator=(const HlsServer&) = delete;

  std::string url(const std::string& path = "/live.m3u8", const std::string& login = "") const {
    return fmt::format("http://{}127.0.0.1:{}{}", login, server_.port(), path);
  }
  uint16_t port() const { return server_.port(); }
  /// Returns the number of requests of a path.
  int requests(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return requests_[path];
  }
  /// Returns the head of the last request of a path.
  std::string head(const std::string& path) {
    const std::lock_guard lock(mutex_);
    return heads_[path];
  }
  void end() { server_.end(); }

 private:
  void answer(int client, const std::string& request) {
    const size_t begin = request.find(' ') + 1;
    const std::string path = request.substr(begin, request.find(' ', begin) - begin);
    {
      const std::lock_guard lock(mutex_);
      ++requests_[path], heads_[path] = request;
    }
    const std::string body = content_(path);
    if (body == "!") return;
    while (body == "?" && !server_.ended()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::string status = body.empty()            ? "404 Not Found"
                               : body == "login"       ? "401 No\r\nWWW-Authenticate: Basic realm=\"x\""
                               : body == "busy"        ? "429 Too Many Requests"
                               : body.starts_with('>') ? "302 Found\r\nLocation: " + body.substr(1)
                                                       : "200 OK";
    LocalHttpServer::put(
        client, fmt::format("HTTP/1.1 {}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}", status,
                            body.size(), body));
  }

  const Content content_;
  std::mutex mutex_;
  std::map<std::string, int> requests_;
  std::map<std::string, std::string> heads_;
  LocalHttpServer server_{[this](int client, const std::string& request) { answer(client, request); }};
};

/// A file of ten segments.
class HlsFile {
 public:
  static constexpr int kSegments = 10;
  HlsFile() {
    for (int i = 0; i < kSegments; ++i) segments_.push_back(hls_segment(i));
  }
  /// Returns the content of a path: "/N.ts", and any ".m3u8" for the playlist.
  std::string operator()(const std::string& path) const {
    if (path.find(".m3u8") != std::string::npos) return hls_list(0, kSegments, true);
    const int number = std::atoi(path.c_str() + path.rfind('/') + 1);
    return path.ends_with(".ts") && number < kSegments ? segments_[static_cast<size_t>(number)] : "";
  }
  std::string whole() const {
    std::string all;
    for (const std::string& one : segments_) all += one;
    return all;
  }

 private:
  std::vector<std::string> segments_;
};

inline SourceOptions hls_options() {
  SourceOptions options;
  options.live.must_open = true;
  options.live.placeholders = false;
  return options;
}

}  // namespace lensd::test
