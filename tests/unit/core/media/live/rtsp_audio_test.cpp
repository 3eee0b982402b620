// An RTSP server that announces audio but does not send it: the pictures are requested without it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <mutex>
#include <vector>

#include "core/media/input/input.hpp"
#include "core/media/live/live_audio.hpp"
#include "tests/unit/common/local_server.hpp"

namespace lensd {
namespace {

/// Answers RTSP requests until PLAY. Refuses the audio.
class RtspServer {
 public:
  ~RtspServer() { server_.end(); }
  std::string url() const { return fmt::format("rtsp://127.0.0.1:{}/live", server_.port()); }
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  static std::string text_after(const std::string& request, const std::string& name) {
    const size_t at = request.find(name);
    if (at == std::string::npos) return {};
    return request.substr(at + name.size(), request.find('\r', at) - at - name.size());
  }
  void answer(int client, std::string request) {
    for (char part[4096]; !request.empty() && !server_.ended();) {
      {
        const std::lock_guard lock(mutex_);
        requests_.push_back(request.substr(0, request.find('\r')));
      }
      LocalHttpServer::put(client, reply(request));
      const ssize_t n = recv(client, part, sizeof part, 0);
      request.assign(part, static_cast<size_t>(n > 0 ? n : 0));
    }
  }
  static std::string reply(const std::string& request) {
    const std::string number = "CSeq: " + text_after(request, "CSeq: ") + "\r\n";
    if (request.starts_with("DESCRIBE")) {
      const std::string sdp =
          "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"
          "m=video 0 RTP/AVP 26\r\na=control:video\r\nm=audio 0 RTP/AVP 8\r\na=control:audio\r\n";
      return fmt::format("RTSP/1.0 200 OK\r\n{}Content-Type: application/sdp\r\nContent-Length: {}\r\n\r\n{}",
                         number, sdp.size(), sdp);
    }
    if (request.starts_with("SETUP") && request.find("/audio ") != std::string::npos)
      return "RTSP/1.0 404 Stream Not Found\r\n" + number + "\r\n";
    if (request.starts_with("SETUP"))
      return "RTSP/1.0 200 OK\r\n" + number +
             "Session: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n";
    return "RTSP/1.0 200 OK\r\n" + number + "Session: 1\r\n\r\n";
  }

  std::mutex mutex_;
  std::vector<std::string> requests_;
  LocalHttpServer server_{[this](int client, const std::string& request) { answer(client, request); }};
};

TEST(RtspAudio, PicturesPlayWithoutAudioThatTheServerRefuses) {
  RtspServer server;
  LiveOptions live;
  live.open_ns = live.silence_ns = 1'000'000'000;
  live.audio = std::make_shared<LiveAudio>(0);
  const StopFlags stop;
  const Input input(server.url(), StreamKind::video, stop, live);
  EXPECT_FALSE(live.audio->connection().codec) << "the sound knows that there is none";
  EXPECT_TRUE(live.audio->refused());
  std::vector<std::string> kinds;
  for (const std::string& line : server.requests())
    if (line.starts_with("SETUP") || line.starts_with("PLAY"))
      kinds.push_back(line.substr(0, 5) + (line.find("/audio ") != std::string::npos   ? "audio"
                                           : line.find("/video ") != std::string::npos ? "video"
                                                                                       : ""));
  ASSERT_GE(kinds.size(), 4u);
  EXPECT_EQ(kinds[0], "SETUPvideo");
  EXPECT_EQ(kinds[1], "SETUPaudio");
  EXPECT_EQ(kinds[2], "SETUPvideo");
  EXPECT_EQ(kinds[3], "PLAY ");
}

}  // namespace
}  // namespace lensd
