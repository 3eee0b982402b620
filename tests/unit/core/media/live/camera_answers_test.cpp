// HTTP cameras with unusual answers: a picture every few seconds, a file while the camera starts, a stream
// without pictures, pictures that become too large.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "core/image/image.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/source.hpp"
#include "core/media/still.hpp"
#include "tests/unit/common/eventually.hpp"
#include "tests/unit/common/local_server.hpp"
#include "tests/unit/common/nanoseconds.hpp"

namespace lensd {
namespace {

/// Answers request number i, from 0, with `answer(client, i)`.
class AnsweringCamera {
 public:
  using Answer = std::function<void(int client, int number)>;
  explicit AnsweringCamera(Answer answer) : answer_(std::move(answer)) {}
  ~AnsweringCamera() { server_.end(); }
  std::string url() const { return fmt::format("http://127.0.0.1:{}/live", server_.port()); }
  bool ended() const { return server_.ended(); }
  void sleep(int ms) const {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
         !ended() && std::chrono::steady_clock::now() < end;)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }

 private:
  const Answer answer_;
  std::atomic<int> number_{0};
  LocalHttpServer server_{[this](int client, const std::string&) { answer_(client, number_++); }};
};

/// Returns a JPEG, by default one of more than the 2 KiB that FFmpeg probes.
std::string noisy_jpeg(Extent size = {160, 120}) {
  Image image({PixelFormat::rgba8, size});
  uint32_t state = 1;
  for (int y = 0; y < size.height; ++y)
    for (size_t x = 0; x < image.ref().row_bytes(); ++x)
      image.ref().row(y)[x] = static_cast<uint8_t>((state = state * 1664525 + 1013904223) >> 24);
  StillEncoder encoder(StillEncoder::Type::jpeg);
  const auto jpeg = encoder.encode(image.ref());  // memory of the encoder
  return {jpeg.begin(), jpeg.end()};
}

void put_stream_head(int client, const char* type) {
  LocalHttpServer::put(client, fmt::format("HTTP/1.0 200 OK\r\nContent-Type: {}\r\n\r\n", type));
}

bool put_part(int client, const std::string& jpeg) {
  return LocalHttpServer::put(
      client,
      fmt::format("--xx\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n\r\n{}\r\n", jpeg.size(), jpeg));
}

constexpr const char* kMultipart = "multipart/x-mixed-replace; boundary=xx";

std::unique_ptr<Source> open_answering(const AnsweringCamera& camera, SourceOptions options = {}) {
  options.live.placeholders = false;
  return open_source(camera.url(), options);
}

/// Takes pictures until there are `count`, or 20 seconds have passed. Returns the number of pictures.
int take_pictures(Source& source, int count) {
  int taken = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  for (Picture picture; taken < count && std::chrono::steady_clock::now() < end;) {
    const FrameOutcome outcome = source.next(picture);
    if (outcome == FrameOutcome::end_of_stream) break;
    taken += outcome == FrameOutcome::ok;
  }
  return taken;
}

TEST(CameraAnswers, APictureEveryFewSecondsKeepsTheConnection) {
  const std::string jpeg = noisy_jpeg();
  const AnsweringCamera camera([&](int client, int) {
    put_stream_head(client, kMultipart);
    while (!camera.ended() && put_part(client, jpeg)) camera.sleep(1500);
  });
  SourceOptions options;
  options.live.open_ns = 1 * sec, options.live.silence_ns = 500 * msec;  // defaults: 10 s and 3 s
  const auto source = open_answering(camera, options);
  EXPECT_TRUE(source->info().live);
  EXPECT_EQ(take_pictures(*source, 4), 4);
  EXPECT_EQ(source->live_status().attempts, 1u) << source->live_status().reason;
}

TEST(CameraAnswers, TheUsersTimeoutEndsAQuietConnection) {
  const std::string jpeg = noisy_jpeg();
  const AnsweringCamera camera([&](int client, int) {
    put_stream_head(client, kMultipart);
    while (!camera.ended() && put_part(client, jpeg)) camera.sleep(1500);
  });
  SourceOptions options;
  options.live.silence_ns = 500 * msec, options.live.silence_given = true;
  const auto source = open_answering(camera, options);
  EXPECT_TRUE(eventually([&] { return source->live_status().reason == "no data for 0.5 s"; }))
      << source->live_status().reason;
}

TEST(CameraAnswers, AFileIsNotTheEnd) {
  const std::string jpeg = noisy_jpeg();
  const AnsweringCamera camera([&](int client, int number) {
    if (number == 0) return;  // it starts
    if (number == 1) {
      LocalHttpServer::put(client,
                           fmt::format("HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: {}\r\n"
                                       "Connection: close\r\n\r\n{}",
                                       jpeg.size(), jpeg));
      return;
    }
    put_stream_head(client, kMultipart);
    while (!camera.ended() && put_part(client, jpeg)) camera.sleep(40);
  });
  const auto source = open_answering(camera);
  EXPECT_TRUE(source->info().live);
  EXPECT_EQ(take_pictures(*source, 20), 20);
  EXPECT_GE(source->live_status().attempts, 3u);
}

/// Returns a JPEG with a JFIF header, like those of cameras. FFmpeg recognises it by its first 2 KiB.
std::string jfif(Extent size = {160, 120}) {
  constexpr char kHeader[] = "\xFF\xE0\0\x10JFIF\0\1\1\0\0\1\0\1\0";
  return noisy_jpeg(size).insert(2, std::string(kHeader, sizeof kHeader));
}

TEST(CameraAnswers, ImagesWithoutASizeAreAStream) {
  const std::string jpeg = jfif();
  const AnsweringCamera camera([&](int client, int) {
    put_stream_head(client, "image/jpeg");
    for (int i = 0; i < 10 && !camera.ended() && LocalHttpServer::put(client, jpeg); ++i) camera.sleep(20);
  });
  const auto source = open_answering(camera);
  EXPECT_TRUE(source->info().live);
  EXPECT_EQ(source->info().fps, 0) << "unknown";
  EXPECT_EQ(take_pictures(*source, 25), 25) << "of three connections";
  EXPECT_GE(source->live_status().attempts, 3u);
}

TEST(CameraAnswers, AnImageWithoutASizeIsNoStream) {
  const std::string jpeg = jfif(), preview = jfif({80, 60});
  for (const std::string& content : {jpeg, jpeg + preview, jpeg + jpeg, jpeg + jpeg + preview}) {
    const AnsweringCamera camera([&](int client, int) {
      put_stream_head(client, "image/jpeg");
      LocalHttpServer::put(client, content);
    });
    SourceOptions options;
    options.live.must_open = true;  // also on a slow machine
    EXPECT_FALSE(open_answering(camera, options)->info().live) << content.size();
  }
}

/// Returns a transport stream with `count` H.264 packets of a filler unit each.
std::string stream_without_pictures(int count) {
  AVFormatContext* raw = nullptr;
  ff::check_memory(avformat_alloc_output_context2(&raw, nullptr, "mpegts", nullptr));
  const std::unique_ptr<AVFormatContext, ff::Release<avformat_free_context>> muxer(raw);
  AVStream& stream = *ff::allocated(avformat_new_stream(raw, nullptr));
  stream.codecpar->codec_type = AVMEDIA_TYPE_VIDEO, stream.codecpar->codec_id = AV_CODEC_ID_H264;
  stream.codecpar->width = 64, stream.codecpar->height = 48;
  ff::check_memory(avio_open_dyn_buf(&raw->pb));
  EXPECT_GE(avformat_write_header(raw, nullptr), 0);
  for (int i = 0; i < count; ++i) {
    std::string unit("\0\0\0\1\x0C", 5);
    unit.append(4000, '\xFF');
    const ff::PacketPtr packet = ff::make_packet();
    ff::check_memory(av_new_packet(packet.get(), static_cast<int>(unit.size())));
    std::copy(unit.begin(), unit.end(), packet->data);
    packet->pts = packet->dts = i * 3600;
    EXPECT_GE(av_write_frame(raw, packet.get()), 0);
  }
  av_write_trailer(raw);
  uint8_t* bytes = nullptr;
  const int size = avio_close_dyn_buf(raw->pb, &bytes);
  std::string text(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  av_free(bytes);
  return text;
}

TEST(CameraAnswers, AStreamWithoutPicturesIsNamedWithLowLatency) {
  const std::string part = stream_without_pictures(100);
  const AnsweringCamera camera([&](int client, int) {
    put_stream_head(client, "video/mp2t");
    while (!camera.ended() && LocalHttpServer::put(client, part)) camera.sleep(20);
  });
  SourceOptions options;
  options.live.low_latency = true;
  options.live.open_ns = 1 * sec;
  const auto source = open_answering(camera, options);
  EXPECT_TRUE(eventually([&] {
    return source->live_status().reason == "data arrives, but no picture can be decoded";
  })) << source->live_status().reason;
}

/// Encodes grey pictures as HEVC; empty if FFmpeg cannot.
std::string grey_hevc(Extent size, int frames) {
  const AVCodec* codec = avcodec_find_encoder_by_name("libx265");
  if (!codec) return {};
  const ff::CodecPtr encoder(avcodec_alloc_context3(codec));
  encoder->width = size.width, encoder->height = size.height, encoder->pix_fmt = AV_PIX_FMT_YUV420P;
  encoder->time_base = {1, 25}, encoder->gop_size = 5, encoder->max_b_frames = 0;
  ff::Options options;
  options.set("tune", "zerolatency"), options.set("preset", "ultrafast");
  options.set("x265-params", "log-level=none");
  if (avcodec_open2(encoder.get(), codec, options.get()) < 0) return {};
  std::string stream;
  const ff::PacketPtr packet = ff::make_packet();
  for (int i = 0; i <= frames; ++i) {
    const ff::FramePtr frame = ff::make_frame();
    frame->width = size.width, frame->height = size.height, frame->format = encoder->pix_fmt, frame->pts = i;
    ff::check_memory(av_frame_get_buffer(frame.get(), 0));
    for (int p = 0; p < 3; ++p)
      std::fill_n(frame->data[p], frame->linesize[p] * (p ? size.height / 2 : size.height), uint8_t{128});
    EXPECT_EQ(avcodec_send_frame(encoder.get(), i < frames ? frame.get() : nullptr), 0);
    while (avcodec_receive_packet(encoder.get(), packet.get()) == 0)
      stream.append(reinterpret_cast<const char*>(packet->data), static_cast<size_t>(packet->size));
  }
  return stream;
}

TEST(CameraAnswers, OnePictureThatIsTooLargeKeepsTheConnection) {
  const std::string jpeg = noisy_jpeg(), large = noisy_jpeg({kMaxSide + 64, 16});
  const AnsweringCamera camera([&](int client, int) {
    put_stream_head(client, kMultipart);
    for (int i = 0; !camera.ended() && put_part(client, i == 5 ? large : jpeg); ++i) camera.sleep(20);
  });
  const auto source = open_answering(camera);
  EXPECT_EQ(take_pictures(*source, 20), 20);
  EXPECT_EQ(source->live_status().attempts, 1u) << source->live_status().reason;
}

TEST(CameraAnswers, PicturesThatBecomeTooLargeDoNotEndTheSource) {
  const std::string small = grey_hevc({64, 64}, 30), large = grey_hevc({kMaxSide + 64, 64}, 5);
  if (small.empty() || large.empty()) GTEST_SKIP() << "FFmpeg has no libx265 here";
  const AnsweringCamera camera([&](int client, int number) {
    put_stream_head(client, "video/hevc");
    LocalHttpServer::put(client, small + (number == 0 ? large : ""));
    while (number > 0 && !camera.ended() && LocalHttpServer::put(client, small)) camera.sleep(200);
    camera.sleep(500);
  });
  const auto source = open_answering(camera);
  std::atomic<bool> done{false};
  std::string reason;
  std::thread watcher([&] {
    while (!done && reason.empty()) {
      reason = source->live_status().reason;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_GT(take_pictures(*source, 60), 59) << "of both connections";
  done = true;
  watcher.join();
  EXPECT_NE(reason.find(fmt::format("a picture of {}×64 is too large", kMaxSide + 64)), std::string::npos)
      << reason;
}

}  // namespace
}  // namespace lensd
