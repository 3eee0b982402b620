// The audio of network streams on its way into files: packets of any content and time, parsers, containers.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>

#include "core/base/log.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/muxer.hpp"
#include "tests/fuzz/common/require.hpp"

namespace lensd {
namespace {

constexpr AVCodecID kCodecs[] = {AV_CODEC_ID_AAC,  AV_CODEC_ID_MP2,       AV_CODEC_ID_MP3,
                                 AV_CODEC_ID_AC3,  AV_CODEC_ID_EAC3,      AV_CODEC_ID_AAC_LATM,
                                 AV_CODEC_ID_OPUS, AV_CODEC_ID_PCM_ALAW,  AV_CODEC_ID_FLAC,
                                 AV_CODEC_ID_DTS,  AV_CODEC_ID_PCM_S16BE, AV_CODEC_ID_TRUEHD};
constexpr const char* kContainers[] = {"matroska", "mp4", "mpegts", "flv", "avi", "webm", "mov"};
constexpr int kOutputBytes = 4096;

int discard(void*, uint8_t*, int size) {
  return size;
}
int64_t no_seek(void*, int64_t, int) {
  return 0;
}

/// A container in memory whose bytes are discarded.
class Output {
 public:
  Output(const char* container, const EncodedFormat& video, AudioCopy* audio)
      : muxer_(output_format_of(container, container), "", video, audio) {
    context_ =
        avio_alloc_context(static_cast<uint8_t*>(av_malloc(kOutputBytes)), kOutputBytes, 1, nullptr, nullptr,
                           reinterpret_cast<decltype(AVIOContext::write_packet)>(discard), no_seek);
    muxer_.context().pb = context_;
    muxer_.context().flags |= AVFMT_FLAG_CUSTOM_IO;
  }
  ~Output() {
    muxer_.write_trailer();
    av_freep(&context_->buffer);
    avio_context_free(&context_);
  }
  Muxer& muxer() { return muxer_; }

 private:
  Muxer muxer_;
  AVIOContext* context_ = nullptr;
};

/// An encoder with one encoded picture; starting one takes longer than all else here.
struct Picture1 {
  Picture1()
      : encoder(output_format_of("matroska", "fuzz"), pixels_format({PixelFormat::rgba8, {64, 48}}), 25,
                options(), "fuzz"),
        format(encoder) {
    const std::vector<uint8_t> bytes(64 * 48 * 4, 100);
    ConstImageRef image;
    image.data = bytes.data(), image.pitch_bytes = 64 * 4, image.format = {PixelFormat::rgba8, {64, 48}};
    for (int i = 0; !packet->data && i < 100; ++i) {
      encoder.send(pixels(image), i);
      if (const AVPacket* got = encoder.receive()) ff::check_memory(av_packet_ref(packet.get(), got));
    }
    fuzz::require(packet->data, "no picture");
  }
  static EncoderOptions options() {
    EncoderOptions options;
    options.codec = "mpeg4";
    return options;
  }

  VideoEncoder encoder;
  const EncodedFormat format;
  ff::PacketPtr packet = ff::make_packet();
};

class Stream {
 public:
  explicit Stream(FuzzedDataProvider& in) : in_(in) {}

  void connect() {
    ff::ParametersPtr codec(avcodec_parameters_alloc());
    codec->codec_type = AVMEDIA_TYPE_AUDIO, codec->codec_id = in_.PickValueInArray(kCodecs);
    codec->sample_rate = in_.PickValueInArray({48000, 44100, 8000, 1, 0, 1 << 30});
    av_channel_layout_default(&codec->ch_layout, in_.ConsumeIntegralInRange(0, 8));
    const auto extra = in_.ConsumeBytes<uint8_t>(in_.ConsumeIntegralInRange<size_t>(0, 40));
    if (!extra.empty()) {
      codec->extradata = static_cast<uint8_t*>(av_mallocz(extra.size() + AV_INPUT_BUFFER_PADDING_SIZE));
      std::copy(extra.begin(), extra.end(), codec->extradata);
      codec->extradata_size = static_cast<int>(extra.size());
    }
    audio->connected(in_.ConsumeProbability<float>() < 0.9f ? codec.get() : nullptr,
                     in_.ConsumeBool() ? AVRational{1, 90000} : ff::kNanoseconds, in_.ConsumeBool());
  }
  void put() {
    const ff::PacketPtr packet = ff::make_packet();
    const auto bytes = in_.ConsumeBytes<uint8_t>(in_.ConsumeIntegralInRange<size_t>(0, 600));
    if (av_new_packet(packet.get(), static_cast<int>(bytes.size())) < 0) return;
    std::copy(bytes.begin(), bytes.end(), packet->data);
    packet->pts = time();
    packet->dts = in_.ConsumeBool() ? packet->pts : time();
    packet->duration = in_.ConsumeIntegralInRange<int64_t>(-10, 4000);
    audio->put(*packet);
  }
  int64_t time() {
    switch (in_.ConsumeIntegralInRange(0, 9)) {
      case 0:
        return AV_NOPTS_VALUE;
      case 1:
        return in_.ConsumeIntegral<int64_t>();
      default:
        return time_ += in_.ConsumeIntegralInRange<int64_t>(-500, 4000);
    }
  }

  std::shared_ptr<LiveAudio> audio = std::make_shared<LiveAudio>(0);

 private:
  FuzzedDataProvider& in_;
  int64_t time_ = 100000;
};

void record(FuzzedDataProvider& in, Stream& stream, const Picture1& picture) {
  AudioSource source;
  source.live = stream.audio;
  std::atomic<bool> stop{true};  // no waits
  const auto audio = AudioCopy::open(source, &stop);
  Output output(in.PickValueInArray(kContainers), picture.format, audio.get());
  if (audio && in.ConsumeBool())
    audio->add_jump({.position_ns = in.ConsumeIntegralInRange<int64_t>(0, 4'000'000'000), .connection = 1});
  ff::Options none;
  if (output.muxer().write_header(none) < 0) return;
  output.muxer().start_at(0);
  const ff::PacketPtr packet = ff::make_packet();
  for (int64_t ticks = 0; in.remaining_bytes() > 0;) {
    switch (in.ConsumeIntegralInRange(0, 5)) {
      case 0:
        stream.connect();
        break;
      case 1:
        if (audio)
          audio->add_jump({.recording_ns = ticks * 40'000'000,
                           .position_ns = in.ConsumeIntegralInRange<int64_t>(-1'000'000'000, 9'000'000'000),
                           .seek = in.ConsumeBool(),
                           .moved = in.ConsumeBool(),
                           .connection = in.ConsumeIntegralInRange<uint32_t>(0, 5)});
        break;
      case 2:
        av_packet_unref(packet.get());
        ff::check_memory(av_packet_ref(packet.get(), picture.packet.get()));
        packet->pts = packet->dts = ticks++;
        if (output.muxer().write(*packet) < 0) return;
        break;
      default:
        stream.put();
    }
  }
  output.muxer().complete_audio(1000, in.ConsumeBool() ? AudioEnd::source : AudioEnd::video, &stop);
}

}  // namespace
}  // namespace lensd

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace lensd;
  static const Picture1 picture = [] {
    ff::initialize();
    log::set_level("off");
    av_log_set_level(AV_LOG_QUIET);
    return Picture1();
  }();
  FuzzedDataProvider in(data, size);
  try {
    Stream stream(in);
    stream.connect();
    for (int i = in.ConsumeIntegralInRange(0, 3); i > 0; --i) stream.put();
    record(in, stream, picture);
  } catch (const Error&) {
    // such as a refused container
  }
  return 0;
}
