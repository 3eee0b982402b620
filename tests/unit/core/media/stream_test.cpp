// Streams to playlists and to local receivers: normal, missing and silent ones. The output never waits for a
// receiver.

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
#include "core/base/owned_thread.hpp"
#include "core/base/text.hpp"
#include "core/base/unique_fd.hpp"
#include "core/media/hls_playlist.hpp"
#include "core/media/output/encoders/encoder_choice.hpp"
#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/stream_sender.hpp"
#include "core/media/stream_output.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/core/media/media_fixture.hpp"
#include "tests/unit/core/media/system_calls.hpp"

namespace lensd::test {
namespace {

constexpr ImageFormat kStreamFormat{PixelFormat::rgba8, {160, 120}};
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

/// An RTSP server that accepts every stream and closes the connection after `keep`.
class DroppingServer {
 public:
  explicit DroppingServer(std::chrono::milliseconds keep) : keep_(keep), thread_([this] { serve(); }) {}
  ~DroppingServer() {
    ended_ = true;
    shutdown(socket_.fd(), SHUT_RDWR);
    thread_.join();
  }
  std::string url() const { return socket_.address("rtsp://") + "/x"; }
  std::atomic<int> connections{0};

 private:
  void serve() {
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
    std::this_thread::sleep_for(keep_);
    return false;
  }
  static bool receive(int client, std::string& in) {
    char part[4096];
    const ssize_t n = recv(client, part, sizeof part, 0);
    if (n > 0) in.append(part, static_cast<size_t>(n));
    return n > 0;
  }

  const Socket socket_{SOCK_STREAM};
  const std::chrono::milliseconds keep_;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

class StreamTest : public MediaTest {
 protected:
  static StreamOutput::Options options(const std::string& url) {
    StreamOutput::Options o;
    o.url = url;
    return o;
  }
  /// Writes frames to `output`, slowly enough for it to connect.
  static void send(StreamOutput& output, int64_t first, int64_t count, std::chrono::milliseconds pace = 5ms) {
    for (int64_t i = first; i < first + count; ++i) {
      output.write(picture(kStreamFormat, static_cast<int>(i)).ref(), at(i));
      std::this_thread::sleep_for(pace);
    }
  }
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

TEST_F(StreamTest, APlaylistPlaysAndEnds) {
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 1);
  EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  send(output, 1, 119, 2ms);
  output.source_ended();
  output.finish();
  const std::string playlist = get("live.m3u8");
  EXPECT_NE(playlist.find("#EXT-X-ENDLIST"), std::string::npos) << playlist;
  size_t frames = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    if (entry.path().extension() == ".ts") frames += read_all(*open_source(entry.path(), {})).infos.size();
  EXPECT_EQ(static_cast<int64_t>(frames), output.status().sent);
  EXPECT_GE(frames, 60u);
}

/// Returns the number after `tag` in a playlist, or -1.
int64_t number_after(const std::string& playlist, const std::string& tag) {
  const size_t at = playlist.find(tag);
  return at == std::string::npos ? -1 : std::atoll(playlist.c_str() + at + tag.size());
}

TEST_F(StreamTest, APlaylistContinuesAfterARestart) {
  std::vector<std::string> playlists;
  for (int run = 0; run < 4; ++run) {
    StreamOutput output(options(file("live.m3u8")));
    send(output, 0, 1);
    EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
    send(output, 1, 299, 2ms);  // 12 s, six segments of about two seconds
    output.finish();
    playlists.push_back(get("live.m3u8"));
  }
  int64_t last = -1;
  for (const std::string& playlist : playlists) {
    EXPECT_EQ(playlist.find("#EXT-X-ENDLIST"), std::string::npos) << playlist;
    const int64_t sequence = number_after(playlist, "#EXT-X-MEDIA-SEQUENCE:");
    EXPECT_GT(sequence, last) << playlist;
    last = sequence;
  }
  EXPECT_NE(playlists.back().find("#EXT-X-DISCONTINUITY"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(file("live-0.ts"))) << "a segment that left the list stays";
  size_t segments = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    if (entry.path().extension() == ".ts") ++segments;
  EXPECT_LE(segments, 10u);
}

TEST_F(StreamTest, APlaylistOfAnotherProgramIsNotContinued) {
  std::filesystem::create_directory(file("others"));
  const std::string hidden("#\0", 2);  // FFmpeg ends a line at a null character
  for (const std::string& begin : {std::string(), hidden}) {
    std::string playlist = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:0\n";
    for (int i = 0; i < 12; ++i) {
      const std::string name = "others/f" + std::to_string(i);
      put(name, "mine");
      playlist += "#EXTINF:2.0,\n" + begin + file(name) + "\n";
    }
    put("live.m3u8", playlist);
    StreamOutput output(options(file("live.m3u8")));
    send(output, 0, 1);
    EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
    send(output, 1, 49, 2ms);
    output.finish();
    for (int i = 0; i < 12; ++i) EXPECT_EQ(get("others/f" + std::to_string(i)), "mine") << "file " << i;
    EXPECT_EQ(get("live.m3u8").find("others"), std::string::npos) << get("live.m3u8");
  }
}

TEST_F(StreamTest, PlaylistsOfLensdListUpToSixOfTheirSegments) {
  std::string playlist = "#EXTM3U\n";
  put("live.m3u8", playlist);
  EXPECT_FALSE(continues_playlist(file("live.m3u8"))) << "no segment";
  for (int i = 0; i < 7; ++i) {
    playlist += "#EXTINF:2.0,\nlive-" + std::to_string(i) + ".ts\n";
    put("live.m3u8", playlist);
    EXPECT_EQ(continues_playlist(file("live.m3u8")), i < 6) << i + 1 << " segments";
  }
  for (const char* name :
       {"live0.ts", "live-.ts", "live-1x.ts", "other-1.ts", "live-1.mp4", "../live-1.ts"}) {
    put("live.m3u8", std::string("#EXTM3U\n#EXTINF:2.0,\n") + name + "\n");
    EXPECT_FALSE(continues_playlist(file("live.m3u8"))) << name;
  }
  EXPECT_FALSE(continues_playlist(file("missing.m3u8")));
}

TEST_F(StreamTest, APlaylistHasOneOutputAtATime) {
  StreamOutput first(options(file("live.m3u8")));
  send(first, 0, 1);
  ASSERT_TRUE(eventually([&] { return first.status().state == StreamOutput::State::sending; }));
  StreamOutput second(options(file("live.m3u8")));
  send(second, 0, 1);
  ASSERT_TRUE(eventually([&] { return second.status().state == StreamOutput::State::waiting; }));
  const std::vector<Notice> notices = second.take_notices();
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].text.find("another output writes this playlist; retrying"), std::string::npos)
      << notices[0].text;
  send(first, 1, 60);
  first.finish();
  EXPECT_TRUE(eventually([&] { return second.status().state == StreamOutput::State::sending; }));
  EXPECT_EQ(second.status().sent, 0) << "the second output has written beside the first";
}

TEST_F(StreamTest, OnAFullDiskThePlaylistStays) {
  const auto run = [&](int64_t bytes) {
    const SmallDisk disk(folder_.path(), bytes);
    StreamOutput output(options(file("live.m3u8")));
    int64_t next = 0;  // frames before the connection are not sent
    EXPECT_TRUE(eventually([&] {
      send(output, next++, 1);
      return output.status().sent > 0;
    }));
    send(output, next, 159, 2ms);
    output.source_ended();
    try {
      output.finish();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(run(int64_t{1} << 30), "");
  const std::string playlist = get("live.m3u8");
  const auto segment = static_cast<int64_t>(std::filesystem::file_size(file("live-0.ts")));
  // No segment fits; half a segment; one and the beginning of its playlist; two.
  for (const int64_t room : {int64_t{100}, segment / 2, segment + 10, 2 * segment + 1000}) {
    int64_t used = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
      used += static_cast<int64_t>(entry.file_size());
    EXPECT_NE(run(used + room).find("segments are missing"), std::string::npos) << room;
    const std::string now = get("live.m3u8");
    EXPECT_TRUE(now.starts_with("#EXTM3U")) << room << " bytes: " << now;
    int listed = 0;
    for (const std::string& line : split(now, "\n")) {
      if (line.empty() || line.starts_with('#')) continue;
      EXPECT_TRUE(std::filesystem::exists(file(line))) << room << " bytes: no " << line;
      ++listed;
    }
    EXPECT_GT(listed, 0) << room;
    if (room == 100) {  // with more room, a shorter segment can be written after the failure
      EXPECT_EQ(now, playlist) << "replaced by an incomplete file";
    }
  }
}

TEST_F(StreamTest, APlaylistInAMissingFolderIsNotComplete) {
  StreamOutput output(options(file("missing/live.m3u8")));
  send(output, 0, 10);
  EXPECT_THROW(output.finish(), Error);
  const std::vector<Notice> notices = output.take_notices();
  ASSERT_FALSE(notices.empty());
  EXPECT_NE(notices[0].text.find("no such file or directory"), std::string::npos) << notices[0].text;
}

TEST_F(StreamTest, APlaylistWhoseEndBlocksIsNotComplete) {
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 10);
  EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  const SlowDisk disk(folder_.path(), {}, 3000ms);
  EXPECT_THROW(output.finish(), Error);
  join_stragglers(std::chrono::seconds(20));
}

TEST_F(StreamTest, APlaylistWithoutItsFirstPartIsNotComplete) {
  StreamOutput output(options(file("later/live.m3u8")));
  send(output, 0, 10);
  ASSERT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::waiting; }));
  constexpr ImageFormat larger{PixelFormat::rgba8, {320, 240}};
  output.write(picture(larger, 10).ref(), at(10));
  std::filesystem::create_directory(file("later"));
  ASSERT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  for (int i = 11; i < 20; ++i) output.write(picture(larger, i).ref(), at(i));
  EXPECT_THROW(output.finish(), Error);
}

TEST_F(StreamTest, APartOfAPlaylistWaitsForTheEndOfThePartBefore) {
  StreamOutput output(options(file("live.m3u8")));
  send(output, 0, 10);
  ASSERT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  const SlowDisk disk(folder_.path(), {}, 4000ms);
  constexpr ImageFormat larger{PixelFormat::rgba8, {320, 240}};
  output.write(picture(larger, 10).ref(), at(10));
  ASSERT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::waiting; }));
  std::string notices;
  for (const Notice& notice : output.take_notices()) notices += notice.text + "\n";
  EXPECT_NE(notices.find("the part before it is still being written; retrying"), std::string::npos)
      << notices;
  EXPECT_TRUE(eventually([&] { return output.status().state == StreamOutput::State::sending; }));
  join_stragglers(std::chrono::seconds(20));
}

TEST_F(StreamTest, APlaylistsPathHasNoNumberPattern) {
  for (const char* path : {"cam%d.m3u8", "/a%03d/cam.m3u8"})
    EXPECT_THROW(StreamOutput{options(path)}, Error) << path;
  for (const char* path : {"50%.m3u8", "%cam.m3u8", "100%/day.m3u8"})
    EXPECT_NO_THROW(StreamOutput{options(path)}) << path;
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
  send(output, 0, 400, 10ms);  // at least 4 s
  EXPECT_GE(server.connections, 2);
  EXPECT_LE(server.connections, 6);
  const std::vector<Notice> notices = output.take_notices();
  ASSERT_EQ(notices.size(), 2u) << "one loss, not one per connection";
  EXPECT_NE(notices[0].text.find("sending to"), std::string::npos) << notices[0].text;
  EXPECT_NE(notices[1].text.find("retrying"), std::string::npos) << notices[1].text;
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
