// Sends pictures with their creation time drawn into them, for latency measurements:
//
//   lensd_time_code_sender KIND URL WIDTH HEIGHT FPS SECONDS
//
//   KIND  ts     MPEG-TS with H.264, like `ffmpeg -f mpegts` (udp://, or http:// to one client)
//         mjpeg  motion JPEG over HTTP, like IP cameras
//         raw    uncompressed in NUT over HTTP, to measure the transport alone
// The code is drawn just before encoding. At the end, on TERM, or if the receiver disconnects, it prints the
// times of encoding and sending (the sender's share) as JSON, in milliseconds.
extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
}

#include <signal.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/clock.hpp"
#include "tests/e2e/live/distribution.hpp"
#include "tests/e2e/live/time_code.hpp"

namespace {

using namespace lensd;

struct Format {
  const char *kind, *muxer, *encoder;
};
constexpr Format kFormats[] = {
    {"ts", "mpegts", "libx264"}, {"mjpeg", "mpjpeg", "mjpeg"}, {"raw", "nut", "rawvideo"}};

volatile sig_atomic_t g_ended = 0;

int check(int result, const char* what) {
  if (result >= 0) return result;
  char text[AV_ERROR_MAX_STRING_SIZE];
  av_strerror(result, text, sizeof text);
  std::fprintf(stderr, "%s: %s\n", what, text);
  std::exit(1);
}

class Sender {
 public:
  Sender(const Format& format, const char* url, int width, int height, int fps) {
    const AVCodec* codec = avcodec_find_encoder_by_name(format.encoder);
    if (!codec) check(AVERROR_ENCODER_NOT_FOUND, format.encoder);
    encoder_ = avcodec_alloc_context3(codec);
    encoder_->width = width, encoder_->height = height;
    const bool jpeg = !std::strcmp(format.encoder, "mjpeg");
    encoder_->pix_fmt = jpeg ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
    encoder_->time_base = {1, fps}, encoder_->framerate = {fps, 1};
    encoder_->gop_size = fps / 2, encoder_->thread_count = 1;
    AVDictionary* options = nullptr;
    if (!std::strcmp(format.encoder, "libx264")) {
      av_dict_set(&options, "preset", "ultrafast", 0);
      av_dict_set(&options, "tune", "zerolatency", 0);
    }
    if (jpeg) encoder_->flags |= AV_CODEC_FLAG_QSCALE, encoder_->global_quality = 5 * FF_QP2LAMBDA;
    check(avcodec_open2(encoder_, codec, &options), "the encoder");
    av_dict_free(&options);
    open(format, url);
    make_frame(width, height);
  }

  /// Returns false if the receiver disconnected.
  bool send(int64_t index) {
    av_frame_make_writable(frame_);
    paint_background(index);
    const int64_t begin = now_ns();
    paint_code(static_cast<uint64_t>(begin / 1000));
    frame_->pts = index;
    check(avcodec_send_frame(encoder_, frame_), "encoding");
    while (avcodec_receive_packet(encoder_, packet_) == 0) {
      packet_->duration = 1;
      av_packet_rescale_ts(packet_, encoder_->time_base, stream_->time_base);
      const int sent = av_write_frame(muxer_, packet_);
      av_packet_unref(packet_);
      if (sent < 0) return false;
    }
    took_ms_.add(to_ms(now_ns() - begin));
    return true;
  }

  void report() {
    if (took_ms_.count() == 0) return;
    std::printf("{\"sent\":%zu,", took_ms_.count());
    took_ms_.print();
    std::printf("}\n");
  }

 private:
  void open(const Format& format, const char* url) {
    check(avformat_alloc_output_context2(&muxer_, nullptr, format.muxer, url), "the muxer");
    stream_ = avformat_new_stream(muxer_, nullptr);
    check(avcodec_parameters_from_context(stream_->codecpar, encoder_), "the stream");
    stream_->time_base = encoder_->time_base, stream_->avg_frame_rate = encoder_->framerate;
    AVDictionary* options = nullptr;
    if (!std::strncmp(url, "http:", 5)) {
      av_dict_set(&options, "listen", "1", 0);
      // Otherwise Nagle's algorithm delays the end of each picture until its beginning is acknowledged.
      av_dict_set(&options, "tcp_nodelay", "1", 0);
    } else {
      av_dict_set(&options, "pkt_size", "1316", 0);
    }
    check(avio_open2(&muxer_->pb, url, AVIO_FLAG_WRITE, nullptr, &options), "the address");
    av_dict_free(&options);
    muxer_->flags |= AVFMT_FLAG_FLUSH_PACKETS;
    muxer_->max_delay = 0;
    check(avformat_write_header(muxer_, nullptr), "the header");
  }

  void make_frame(int width, int height) {
    packet_ = av_packet_alloc(), frame_ = av_frame_alloc();
    frame_->format = encoder_->pix_fmt, frame_->width = width, frame_->height = height;
    check(av_frame_get_buffer(frame_, 0), "memory");
    for (int p : {1, 2})
      for (int y = 0; y < height / 2; ++y)
        std::memset(frame_->data[p] + y * frame_->linesize[p], 96 + y * 64 / height,
                    static_cast<size_t>(width / 2));
    ramp_.resize(static_cast<size_t>(width) * 2 + 512);
    for (size_t i = 0; i < ramp_.size(); ++i) ramp_[i] = static_cast<uint8_t>(16 + (i * 3 ^ i >> 4) % 200);
  }

  /// Moving content, so that the encoder has work to do.
  void paint_background(int64_t index) {
    for (int y = 0; y < frame_->height; ++y)
      std::memcpy(frame_->data[0] + y * frame_->linesize[0], ramp_.data() + (index * 3 + y / 16 * 31) % 512,
                  static_cast<size_t>(frame_->width));
  }

  void paint_code(uint64_t us) {
    const int bar = frame_->width / time_code::kBars;
    uint8_t* row = frame_->data[0];
    for (int i = 0; i < time_code::kBars; ++i)
      std::memset(row + i * bar, time_code::light(us, i) ? 235 : 16, static_cast<size_t>(bar));
    for (int y = 1; y < 2 * bar; ++y)
      std::memcpy(row + y * frame_->linesize[0], row, static_cast<size_t>(bar * time_code::kBars));
  }

  AVCodecContext* encoder_ = nullptr;
  AVFormatContext* muxer_ = nullptr;
  AVStream* stream_ = nullptr;
  AVPacket* packet_ = nullptr;
  AVFrame* frame_ = nullptr;
  std::vector<uint8_t> ramp_;
  Distribution took_ms_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s ts|mjpeg|raw URL WIDTH HEIGHT FPS SECONDS\n", argv[0]);
    return 2;
  }
  const auto* format = std::find_if(std::begin(kFormats), std::end(kFormats),
                                    [&](const Format& f) { return !std::strcmp(f.kind, argv[1]); });
  if (format == std::end(kFormats)) return 2;
  av_log_set_level(AV_LOG_ERROR);
  avformat_network_init();
  signal(SIGTERM, [](int) { g_ended = 1; });
  signal(SIGPIPE, SIG_IGN);
  const int fps = std::atoi(argv[5]);
  Sender sender(*format, argv[2], std::atoi(argv[3]), std::atoi(argv[4]), fps);
  const int64_t begin = now_ns(), frames = int64_t{std::atoi(argv[6])} * fps;
  for (int64_t i = 0; i < frames && !g_ended; ++i) {
    const int64_t due = begin + i * 1'000'000'000 / fps;
    const timespec at = {due / 1'000'000'000, due % 1'000'000'000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
    if (!sender.send(i)) break;
  }
  sender.report();
  return 0;
}
