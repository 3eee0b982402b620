// Streams to local receivers: normal, missing and silent ones. The output never waits for a receiver.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/unique_fd.hpp"
#include "core/media/output/encoders/encoder_choice.hpp"
#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/stream_sender.hpp"
#include "core/media/stream_output.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/stream_fixture.hpp"

namespace lensd::test {
namespace {

using namespace std::chrono_literals;

/// A local socket on a free port. A TCP socket listens.
class Socket {
 public:
  explicit Socket(int type) : fd_(socket(AF_INET, type | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    socklen_t size = sizeof address;
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    if (type == SOCK_STREAM) listen(fd_, 4);
    const timeval timeout = {2, 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    const int room = 8 << 20;
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
  }
  ~Socket() { close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int fd() const { return fd_; }
  std::string address(const std::string& scheme) const {
    return scheme + "127.0.0.1:" + std::to_string(port_);
  }

 private:
  int fd_, port_ = 0;
};

/// An RTSP server that accepts every stream and closes the connection after `keep`, or at its own end.
/// Answers nothing while `answers` is false.
class DroppingServer {
 public:
  explicit DroppingServer(std::chrono::milliseconds keep, bool answers_at_once = true)
      : answers(answers_at_once), keep_(keep), thread_([this] { serve(); }) {}
  ~DroppingServer() {
    ended_ = true;
    shutdown(socket_.fd(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return socket_.address("rtsp://") + "/x"; }
  std::atomic<int> connections{0};
  std::atomic<bool> answers;

 private:
  void serve() {
    while (!ended_ && !answers) std::this_thread::sleep_for(1ms);
    while (!ended_) {
      const UniqueFd client(accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!client) continue;
      ++connections;
      std::string in;
      while (answer(client.get(), in)) {
      }
    }
  }
  /// Answers one request. Returns false if the connection must be closed.
  bool answer(int client, std::string& in) const {
    size_t end, body = 0;
    while ((end = in.find("\r\n\r\n")) == std::string::npos)
      if (!receive(client, in)) return false;
    const std::string head = in.substr(0, end);
    if (const size_t at = head.find("Content-Length: "); at != std::string::npos)
      body = std::stoul(head.substr(at + 16));
    while (in.size() < end + 4 + body)
      if (!receive(client, in)) return false;
    in.erase(0, end + 4 + body);
    const size_t sequence = head.find("CSeq: ");
    const std::string reply = "RTSP/1.0 200 OK\r\n" +
                              head.substr(sequence, head.find("\r\n", sequence) - sequence) +
                              "\r\nSession: 1\r\nTransport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n";
    if (::send(client, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) return false;
    if (!head.starts_with("RECORD")) return true;
    for (const int64_t end = now_ns() + keep_.count(); !ended_ && now_ns() < end;)
      std::this_thread::sleep_for(1ms);
    return false;
  }
  static bool receive(int client, std::string& in) {
    char part[4096];
    const ssize_t n = recv(client, part, sizeof part, 0);
    if (n > 0) in.append(part, static_cast<size_t>(n));
    return n > 0;
  }

  const Socket socket_{SOCK_STREAM};
  const std::chrono::nanoseconds keep_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

TEST_F(StreamTest, RecognizesStreamTargets) {
  for (const char* target :
       {"rtsp://h/x", "udp://h:1", "srt://h:1", "rtmp://h/a", "out.m3u8", "v4l2:/dev/video9"})
    EXPECT_TRUE(is_stream_target(target)) << target;
  for (const char* target : {"out.mkv", "null:", "http://h/x.m3u8", "rtsp.mp4", ""})
    EXPECT_FALSE(is_stream_target(target)) << target;
  EXPECT_THROW(StreamOutput(options("out.mkv")), Error);
  EXPECT_EQ(StreamOutput(options("rtsp://me:secret@h/x?key=1")).shown_url().find("secret"),
            std::string::npos);
}

TEST_F(StreamTest, PortsAreChecked) {
  const auto check = [](const std::string& url) {
    try {
      check_stream_url(url, TlsCheck::automatic);
      return std::string();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ExitCode::usage) << url;
      return e.problem();
    }
  };
  for (const char* url : {"udp://[::1]:5000?pkt_size=1316", "udp://@239.0.0.1:65535",
                          "srt://:1?mode=listener", "rtsp://me:70000@h/x", "rtsp://[::1]/x", "rtmps://h/x",
                          "rtsp://h:554/x:99999", "v4l2:/dev/video9", "out.m3u8"})
    EXPECT_EQ(check(url), "") << url;
  for (const char* url : {"udp://127.0.0.1", "srt://h?mode=caller", "rtp://[::1]", "udp://me:1@h"})
    EXPECT_EQ(check(url), "the address has no port") << url;
  for (const auto& [url, port] : {std::pair("srt://127.0.0.1:70000", "70000"), std::pair("udp://h:0", "0"),
                                  std::pair("rtsp://127.0.0.1:99999/x", "99999"),
                                  std::pair("udp://[::1]:-5", "-5"), std::pair("udp://h:5x", "5x")})
    EXPECT_EQ(check(url), "'" + std::string(port) + "' is not a port") << url;
  for (const char* url : {"rtmp://h:/x", "udp://[::1]:"}) EXPECT_EQ(check(url), "the port is empty") << url;
}

/// Returns Y, Cb and Cr of a red picture in HD as it is sent to `url`.
std::array<int, 3> red_in_hd(const std::string& url, EncoderOptions options, AVColorSpace& matrix) {
  constexpr int kWidth = 1280, kHeight = 720;
  Image red({PixelFormat::rgba8, {kWidth, kHeight}});
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) red.at(x, y, 0) = red.at(x, y, 3) = 255;
  const StreamTarget target = stream_target(url);
  VideoEncoder encoder(output_format_of(target.muxer, url), pixels_format(red.format), 25,
                       stream_encoder(target.muxer, options), url);
  encoder.send(pixels(red.ref()), 0);
  const AVPacket* packet = encoder.receive();
  matrix = encoder.context().colorspace;
  if (!packet || packet->size != kWidth * kHeight * 3 / 2) return {};
  return {packet->data[0], packet->data[kWidth * kHeight], packet->data[kWidth * kHeight * 5 / 4]};
}

TEST_F(StreamTest, TheBitRateIsKeptInEachSecond) {
  ff::initialize();
  EncoderOptions options;
  options.bitrate_kbit = 900;
  const StreamTarget target = stream_target("rtmp://h/a");
  const VideoEncoder encoder(output_format_of(target.muxer, "out"),
                             pixels_format({PixelFormat::rgba8, {320, 240}}), 25,
                             stream_encoder(target.muxer, options), "out");
  EXPECT_EQ(encoder.context().bit_rate, 900'000);
  EXPECT_EQ(encoder.context().rc_max_rate, 900'000);
  EXPECT_EQ(encoder.context().rc_buffer_size, 900'000);
}

TEST_F(StreamTest, EncodersTakeEveryRate) {
  ff::initialize();
  for (const char* codec : {"mpeg4", "libx264", "ffv1"})
    for (const double fps : {30.0123, 29.97, 0.3333, 119.88, 1000.0 / 17}) {
      EncoderOptions options;
      options.codec = codec;
      const VideoEncoder encoder(output_format_of("matroska", "r.mkv"),
                                 pixels_format({PixelFormat::rgba8, {320, 240}}), fps, options, "r.mkv");
      EXPECT_NEAR(av_q2d(encoder.context().framerate), fps, fps * 1e-4) << codec;
    }
}

TEST_F(StreamTest, LoopbackDevicesGetBt601) {
  ff::initialize();
  EncoderOptions options;
  AVColorSpace matrix;
  const std::array<int, 3> red = red_in_hd("v4l2:/dev/video9", options, matrix), bt601{81, 90, 240};
  for (size_t c = 0; c < 3; ++c) EXPECT_NEAR(red[c], bt601[c], 1) << c;
  EXPECT_EQ(matrix, AVCOL_SPC_SMPTE170M);
  options.codec = "rawvideo";
  red_in_hd("out.m3u8", options, matrix);
  EXPECT_EQ(matrix, AVCOL_SPC_BT709);
}

TEST_F(StreamTest, ATransportStreamArrivesWhole) {
  const Socket receiver(SOCK_DGRAM);
  StreamOutput output(options(receiver.address("udp://")));
  std::string bytes;
  std::thread reader([&] {
    char datagram[65536];
    for (;;) {
      const ssize_t n = recv(receiver.fd(), datagram, sizeof datagram, 0);
      if (n <= 0 || (n == 3 && std::string(datagram, 3) == "end")) return;
      bytes.append(datagram, static_cast<size_t>(n));
    }
  });
  send(output, 0, 1);
  EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  send(output, 1, 149);
  output.finish();
  const Socket sender(SOCK_DGRAM);
  sockaddr_in to = {};
  socklen_t size = sizeof to;
  getsockname(receiver.fd(), reinterpret_cast<sockaddr*>(&to), &size);
  sendto(sender.fd(), "end", 3, 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
  reader.join();
  EXPECT_EQ(output.status().sent + static_cast<int64_t>(output.status().dropped), 150);
  put("got.ts", bytes);
  auto source = open_source(file("got.ts"), {});
  EXPECT_EQ(static_cast<int64_t>(read_all(*source).infos.size()), output.status().sent);
  EXPECT_GE(output.status().sent, 100);
}

TEST_F(StreamTest, AMissingReceiverDoesNotBlock) {
  std::string url;
  {
    const Socket closed(SOCK_STREAM);
    url = closed.address("rtmp://") + "/live/x";
  }
  StreamOutput output(options(url));
  send(output, 0, 600, 0ms);
  EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::waiting; }));
  send(output, 600, 10, 0ms);
  EXPECT_EQ(output.status().sent, 0);
  std::vector<Notice> notices = output.take_notices();
  ASSERT_FALSE(notices.empty());
  EXPECT_TRUE(notices.back().problem);
  EXPECT_NE(notices.back().text.find("retrying"), std::string::npos) << notices.back().text;
  EXPECT_TRUE(output.take_notices().empty()) << "one notice, not one per attempt";
  output.finish();
  EXPECT_EQ(output.status().dropped, 610u);
}

TEST_F(StreamTest, AMissingDeviceIsReportedOnce) {
  put("not-a-device", "x");
  for (const auto& [name, reason] : {std::pair{"none", "there is no such device"},
                                     std::pair{"not-a-device", "this is not a video device"}}) {
    StreamOutput output(options("v4l2:" + file(name)));
    send(output, 0, 100);
    EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::waiting; }));
    const std::vector<Notice> notices = output.take_notices();
    ASSERT_EQ(notices.size(), 1u);
    EXPECT_NE(notices[0].text.find(reason), std::string::npos) << notices[0].text;
    EXPECT_TRUE(notices[0].text.ends_with("; retrying")) << notices[0].text;
    output.finish();
    EXPECT_EQ(output.status().dropped, 100u);
  }
}

TEST_F(StreamTest, ASilentReceiverDoesNotBlock) {
  const Socket silent(SOCK_STREAM);  // accepts the connection and never answers
  StreamOutput output(options(silent.address("rtsp://") + "/x"));
  int64_t longest = 0;
  for (int64_t i = 0; i < 300; ++i) {
    const Image image = picture(kStreamFormat, static_cast<int>(i));
    const int64_t begin = now_ns();
    output.write(image.ref(), at(i));
    longest = std::max(longest, now_ns() - begin);
  }
  EXPECT_LT(longest, 2'000'000'000);  // waiting for the receiver would take 5 s or more
  const int64_t begin = now_ns();
  output.finish();
  EXPECT_LT(now_ns() - begin, 3'000'000'000);
  EXPECT_EQ(output.status().sent, 0);
}

TEST_F(StreamTest, AnRtspsReceiverCannotBeVerified) {
  StreamOutput::Options o = options("rtsps://me:secret@example.com/live");
  EXPECT_NO_THROW(StreamOutput{o});
  o.tls = TlsCheck::verify;
  try {
    const StreamOutput output(o);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::unavailable);
    EXPECT_NE(error.problem().find("cannot verify the certificate"), std::string::npos) << error.problem();
    EXPECT_EQ(error.where().find("secret"), std::string::npos) << error.where();
  }
}

TEST_F(StreamTest, AChangeOfTagsStartsAnotherStream) {
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 25);
  for (int i = 25; i < 50; ++i) {
    FrameInfo info = at(i);
    info.tags = {Transfer::hlg, Primaries::bt2020};
    output.write(picture(kStreamFormat, i).ref(), info);
  }
  EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  output.finish();
  const std::string playlist = get("live.m3u8");
  EXPECT_EQ(playlist.find("#EXT-X-ENDLIST"), std::string::npos) << playlist;
  const ColourSpec colour = open_source(file("live-1.ts"), {})->info().picture.colour;
  EXPECT_EQ(colour.transfer, Transfer::hlg);
  EXPECT_EQ(colour.primaries, Primaries::bt2020);
}

TEST_F(StreamTest, AReceiverThatDropsItsStreamsIsRetriedLessAndLessOften) {
  const DroppingServer server(50ms);
  StreamOutput output(options(server.url()));
  const int64_t begin_ns = now_ns();  // the limits below are for about 4 s, however busy the machine is
  for (int64_t i = 0; now_ns() - begin_ns < 4'000'000'000; i += 10) send(output, i, 10, 10ms);
  EXPECT_GE(server.connections, 2);
  EXPECT_LE(server.connections, 6);
  const std::vector<Notice> notices = output.take_notices();
  ASSERT_EQ(notices.size(), 2u) << "one loss, not one per connection";
  EXPECT_NE(notices[0].text.find("sending to"), std::string::npos) << notices[0].text;
  EXPECT_NE(notices[1].text.find("retrying"), std::string::npos) << notices[1].text;
}

TEST_F(StreamTest, AReceiverThatAnswersAfterTheLastFrameGetsNone) {
  DroppingServer server(1min, false);
  StreamOutput output(options(server.url()));
  send(output, 0, 3, 0ms);
  EXPECT_FALSE(output.connected());
  server.answers = true;
  EXPECT_TRUE(eventually([&] { return output.connected(); }));
  output.finish();
  EXPECT_TRUE(output.connected());
  EXPECT_EQ(output.status().sent, 0);
  EXPECT_EQ(output.last_problem(), "");
}

TEST_F(StreamTest, RetriesUntilTheFolderExists) {
  StreamOutput output(options(file("later/live.m3u8")));
  int64_t i = 0;
  EXPECT_TRUE(eventually([&] {  // the first segment file is written when it is full
    send(output, i, 5, 1ms);
    i += 5;
    return output.status().state == StreamOutput::State::waiting;
  }));
  std::filesystem::create_directory(file("later"));
  const int64_t sent_before = output.status().sent;
  EXPECT_TRUE(eventually([&] {
    send(output, i, 5, 1ms);
    i += 5;
    return output.status().sent > sent_before + 100;
  }));
  output.finish();
  EXPECT_TRUE(std::filesystem::exists(file("later/live.m3u8")));
}

}  // namespace
}  // namespace lensd::test
