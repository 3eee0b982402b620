#include "tests/unit/core/media/joined_clip.hpp"

#include <algorithm>
#include <cmath>

#include "tests/unit/core/media/sound/sound_clip.hpp"

namespace lensd::test {
namespace {

constexpr int kRate = 48000;

struct Track {
  ff::CodecPtr encoder;
  AVStream* stream = nullptr;
  ff::FramePtr frame = ff::make_frame();
};

struct ClipMuxer {
  AVFormatContext* context = nullptr;
  int64_t shift_us = 0;

  Track add(AVCodecID codec, auto&& configure) {
    const AVCodec* type = avcodec_find_encoder(codec);
    Track track{ff::CodecPtr(ff::allocated(avcodec_alloc_context3(type)))};
    configure(*track.encoder, *track.frame);
    ff::check_memory(avcodec_open2(track.encoder.get(), type, nullptr));
    track.stream = ff::allocated(avformat_new_stream(context, nullptr));
    track.stream->time_base = track.encoder->time_base;
    avcodec_parameters_from_context(track.stream->codecpar, track.encoder.get());
    return track;
  }
  /// Encodes a frame; null: the end.
  void write(Track& track, const AVFrame* frame) const {
    avcodec_send_frame(track.encoder.get(), frame);
    const ff::PacketPtr packet = ff::make_packet();
    while (avcodec_receive_packet(track.encoder.get(), packet.get()) == 0) {
      if (packet->duration == 0) packet->duration = 1;  // of pictures
      av_packet_rescale_ts(packet.get(), track.encoder->time_base, track.stream->time_base);
      const int64_t shift = av_rescale_q(shift_us, {1, 1'000'000}, track.stream->time_base);
      packet->pts += shift, packet->dts += shift;
      packet->stream_index = track.stream->index;
      av_interleaved_write_frame(context, packet.get());
    }
  }
};

/// Draws a moving ramp with noise. With less detail, several pictures would share a packet of a program
/// stream, which has the time of the first one only.
void draw_ramp(AVFrame& frame, int64_t number, int shade) {
  auto noise = static_cast<uint32_t>(number + shade);
  ff::check_memory(av_frame_make_writable(&frame));
  for (int p = 0; p < 3; ++p)
    for (int y = 0; y < frame.height >> (p > 0); ++y)
      for (int x = 0; x < frame.width >> (p > 0); ++x) {
        noise = noise * 1664525u + 1013904223u;
        frame.data[p][y * frame.linesize[p] + x] = static_cast<uint8_t>(
            p > 0 ? 128 + shade / 2 : 16 + (x + y + number * 5 + shade) % 180 + (noise >> 28));
      }
  frame.pts = number;
}

void beep(AVFrame& frame, int64_t first, int64_t end) {
  ff::check_memory(av_frame_make_writable(&frame));
  auto* samples = reinterpret_cast<int16_t*>(frame.data[0]);
  for (int i = 0; i < frame.nb_samples; ++i)
    samples[i] =
        first + i < end ? static_cast<int16_t>(std::lround(beeps(first + i, kRate) * 32767)) : int16_t{0};
  frame.pts = first;
}

}  // namespace

std::string mpeg_clip(const char* format, const ClipPart& part) {
  ClipMuxer muxer;
  ff::check_memory(avformat_alloc_output_context2(&muxer.context, nullptr, format, nullptr));
  muxer.shift_us = std::llround(part.first_s * 1e6);
  Track video = muxer.add(part.codec, [](AVCodecContext& e, AVFrame& f) {
    e.width = f.width = 128, e.height = f.height = 96, e.pix_fmt = AV_PIX_FMT_YUV420P;
    e.time_base = {1, kClipFps}, e.framerate = {kClipFps, 1};
    e.gop_size = 20, e.max_b_frames = 2, e.bit_rate = 3'000'000, e.rc_max_rate = 6'000'000,
    e.rc_buffer_size = 1'800'000;
    f.format = AV_PIX_FMT_YUV420P;
    ff::check_memory(av_frame_get_buffer(&f, 0));
  });
  Track audio = muxer.add(AV_CODEC_ID_MP2, [](AVCodecContext& e, AVFrame& f) {
    e.sample_rate = f.sample_rate = kRate, e.sample_fmt = AV_SAMPLE_FMT_S16, e.time_base = {1, kRate};
    e.bit_rate = 128'000;
    av_channel_layout_default(&e.ch_layout, 1), av_channel_layout_default(&f.ch_layout, 1);
    f.format = AV_SAMPLE_FMT_S16, f.nb_samples = 1152;
    ff::check_memory(av_frame_get_buffer(&f, 0));
  });
  ff::check_memory(avio_open_dyn_buf(&muxer.context->pb));
  ff::check_memory(avformat_write_header(muxer.context, nullptr));
  int64_t sample = 0;
  for (int64_t number = 0; number < int64_t{part.seconds} * kClipFps; ++number) {
    draw_ramp(*video.frame, number, part.shade);
    muxer.write(video, video.frame.get());
    for (; sample * kClipFps < (number + 1) * kRate; sample += audio.frame->nb_samples) {
      beep(*audio.frame, sample, int64_t{part.seconds} * kRate);
      muxer.write(audio, audio.frame.get());
    }
  }
  muxer.write(video, nullptr), muxer.write(audio, nullptr);
  av_write_trailer(muxer.context);
  uint8_t* data = nullptr;
  const int bytes = avio_close_dyn_buf(muxer.context->pb, &data);
  std::string file(reinterpret_cast<const char*>(data), static_cast<size_t>(bytes));
  av_free(data);
  muxer.context->pb = nullptr;
  avformat_free_context(muxer.context);
  return file;
}

std::string padded(const std::string& transport_stream, size_t bytes) {
  constexpr size_t kPacket = 188;
  std::string null_packet("\x47\x1F\xFF\x10", 4);
  null_packet.resize(kPacket, '\xFF');
  const size_t packets = transport_stream.size() / kPacket;
  const size_t extra = std::max<size_t>(bytes / kPacket / std::max<size_t>(packets, 1), 1) - 1;
  std::string out;
  for (size_t i = 0; i < packets; ++i) {
    out += transport_stream.substr(i * kPacket, kPacket);
    for (size_t k = 0; k < extra; ++k) out += null_packet;
  }
  return out;
}

}  // namespace lensd::test
