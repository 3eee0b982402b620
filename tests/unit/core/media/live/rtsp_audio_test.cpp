// An RTSP server that announces audio but does not send it: the pictures are requested without it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <mutex>
#include <utility>
#include <vector>

#include "core/media/input/input.hpp"
#include "core/media/live/live_audio.hpp"
#include "tests/unit/common/local_server.hpp"

namespace lensd {
namespace {

/// How a server treats the request for its audio.
enum class AudioRefusal : uint8_t {
  not_found,  ///< answers 404
  closes,     ///< closes the connection
  restarts,   ///< closes the first connection, then sends audio
  ends,       ///< closes the connection; after two refusals, closes all
};

/// Answers RTSP requests until PLAY. Refuses the audio.
class RtspServer {
 public:
  explicit RtspServer(AudioRefusal refusal) : refusal_(refusal) {}
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
      const bool audio = request.starts_with("SETUP") && request.find("/audio ") != std::string::npos;
      refusals_ += audio;
      if (refusal_ == AudioRefusal::ends && (audio || refusals_ >= 2)) return;
      if (audio && (refusal_ == AudioRefusal::closes ||
                    (refusal_ == AudioRefusal::restarts && !std::exchange(restarted_, true))))
        return;
      LocalHttpServer::put(client, reply(request));
      const ssize_t n = recv(client, part, sizeof part, 0);
      request.assign(part, static_cast<size_t>(n > 0 ? n : 0));
    }
  }
  std::string reply(const std::string& request) const {
    const std::string number = "CSeq: " + text_after(request, "CSeq: ") + "\r\n";
    if (request.starts_with("DESCRIBE")) {
      const std::string sdp =
          "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"
          "m=video 0 RTP/AVP 26\r\na=control:video\r\nm=audio 0 RTP/AVP 8\r\na=control:audio\r\n";
      return fmt::format("RTSP/1.0 200 OK\r\n{}Content-Type: application/sdp\r\nContent-Length: {}\r\n\r\n{}",
                         number, sdp.size(), sdp);
    }
    const bool audio = request.find("/audio ") != std::string::npos;
    if (request.starts_with("SETUP") && audio && refusal_ == AudioRefusal::not_found)
      return "RTSP/1.0 404 Stream Not Found\r\n" + number + "\r\n";
    if (request.starts_with("SETUP"))
      return "RTSP/1.0 200 OK\r\n" + number +
             fmt::format("Session: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved={}\r\n\r\n",
                         audio ? "2-3" : "0-1");
    return "RTSP/1.0 200 OK\r\n" + number + "Session: 1\r\n\r\n";
  }

  const AudioRefusal refusal_;
  bool restarted_ = false;  // server's thread
  int refusals_ = 0;        // server's thread
  std::mutex mutex_;
  std::vector<std::string> requests_;
  LocalHttpServer server_{[this](int client, const std::string& request) { answer(client, request); }};
};

LiveOptions rtsp_options() {
  LiveOptions live;
  live.open_ns = live.silence_ns = 1'000'000'000;
  live.audio = std::make_shared<LiveAudio>(0);
  return live;
}

class RefusedRtspAudio : public testing::TestWithParam<AudioRefusal> {};

TEST_P(RefusedRtspAudio, PicturesPlayWithoutIt) {
  RtspServer server(GetParam());
  const LiveOptions live = rtsp_options();
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
  const std::vector<std::string> refused = {"SETUPvideo", "SETUPaudio"}, played = {"SETUPvideo", "PLAY "};
  std::vector<std::string> expected;
  for (const auto& part : {refused, played, refused, played})  // the first refusal may be a restart
    expected.insert(expected.end(), part.begin(), part.end());
  EXPECT_EQ(kinds, expected);
}

INSTANTIATE_TEST_SUITE_P(Manners, RefusedRtspAudio,
                         testing::Values(AudioRefusal::not_found, AudioRefusal::closes));

TEST(RtspAudio, AServerThatRestartsKeepsItsSound) {
  RtspServer server(AudioRefusal::restarts);
  const LiveOptions live = rtsp_options();
  const StopFlags stop;
  const Input input(server.url(), StreamKind::video, stop, live);
  EXPECT_TRUE(live.audio->connection().codec);
  EXPECT_FALSE(live.audio->refused());
}

TEST(RtspAudio, ARefusalCountsAlsoIfTheServerThenEnds) {
  RtspServer server(AudioRefusal::ends);
  const LiveOptions live = rtsp_options();
  const StopFlags stop;
  EXPECT_THROW(Input(server.url(), StreamKind::video, stop, live), Error);
  EXPECT_TRUE(live.audio->refused());
}

}  // namespace
}  // namespace lensd
