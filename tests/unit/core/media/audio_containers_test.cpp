// Which codecs of a network stream's sound are copied to which kinds of streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/log.hpp"
#include "core/media/ffmpeg/ffmpeg.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/output/audio_copy.hpp"
#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/muxer.hpp"

namespace lensd {
namespace {

std::unique_ptr<AudioCopy> packets_of(AVCodecID id) {
  ff::initialize();
  AudioSource source;
  source.live = std::make_shared<LiveAudio>(0);
  const ff::ParametersPtr codec(avcodec_parameters_alloc());
  codec->codec_type = AVMEDIA_TYPE_AUDIO, codec->codec_id = id, codec->sample_rate = 48000;
  av_channel_layout_default(&codec->ch_layout, 2);
  codec->extradata = static_cast<uint8_t*>(av_mallocz(2 + AV_INPUT_BUFFER_PADDING_SIZE));
  codec->extradata_size = 2;  // AAC is not ADTS
  source.live->connected(codec.get(), ff::kNanoseconds, false);
  const std::atomic<bool> stop{true};  // no wait for a packet
  return AudioCopy::open(source, &stop);
}

bool is_copied(AVCodecID id, const char* container) {
  const auto audio = packets_of(id);
  AVFormatContext* context = nullptr;
  avformat_alloc_output_context2(&context, &output_format_of(container, container), nullptr, "x");
  const std::unique_ptr<AVFormatContext, ff::Release<avformat_free_context>> output(context);
  return audio->add_stream(*context) && context->nb_streams == 1;
}

struct Copied {
  AVCodecID codec;
  bool transport, hls, rtsp, flv;
};

TEST(AudioContainers, StreamsTakeTheCodecsThatTheirReceiversKnow) {
  constexpr Copied kTable[] = {
      {AV_CODEC_ID_AAC, true, true, true, true},         {AV_CODEC_ID_MP2, true, true, true, false},
      {AV_CODEC_ID_MP3, true, true, true, true},         {AV_CODEC_ID_AC3, true, true, false, false},
      {AV_CODEC_ID_EAC3, true, true, false, false},      {AV_CODEC_ID_OPUS, true, false, true, false},
      {AV_CODEC_ID_DTS, true, false, false, false},      {AV_CODEC_ID_PCM_ALAW, false, false, true, true},
      {AV_CODEC_ID_PCM_MULAW, false, false, true, true}, {AV_CODEC_ID_PCM_S24LE, false, false, false, false}};
  for (const Copied& row : kTable) {
    const char* const name = avcodec_get_name(row.codec);
    EXPECT_EQ(is_copied(row.codec, "mpegts"), row.transport) << name;
    EXPECT_EQ(is_copied(row.codec, "rtp_mpegts"), row.transport) << name;
    EXPECT_EQ(is_copied(row.codec, "hls"), row.hls) << name;
    EXPECT_EQ(is_copied(row.codec, "rtsp"), row.rtsp) << name;
    EXPECT_EQ(is_copied(row.codec, "flv"), row.flv) << name;
  }
}

// AVI has no times for the packets of uncompressed sound: after a lost one, the rest would be early.
TEST(AudioContainers, AviTakesTheCompressedSoundOfLiveSources) {
  EXPECT_TRUE(is_copied(AV_CODEC_ID_MP3, "avi"));
  EXPECT_TRUE(is_copied(AV_CODEC_ID_AC3, "avi"));
  EXPECT_FALSE(is_copied(AV_CODEC_ID_PCM_S16LE, "avi"));
}

TEST(AudioContainers, OnlyAudioThatIsRefusedIsTheReason) {
  struct {
    const char *muxer, *url;
    AVCodecID audio;
    bool opens, blames_audio;
  } constexpr kCases[] = {{"mpegts", "tcp://127.0.0.1", AV_CODEC_ID_AAC, false, false},  // EINVAL: no port
                          {"mov", "/dev/null", AV_CODEC_ID_AAC, false, false},           // refuses VP8
                          {"mpegts", "/dev/null", AV_CODEC_ID_AAC, true, true}};         // its description
  constexpr const char* kMark = "a header is written";
  const auto contains = [](std::string text) {
    return [text = std::move(text)](const std::string& line) { return line.find(text) != std::string::npos; };
  };
  log::init("error", "");
  const VideoEncoder encoder(output_format_of("matroska", "x"), pixels_format({PixelFormat::rgba8, {64, 48}}),
                             25, {.codec = "libvpx"}, "x");
  for (const auto& c : kCases) {
    const auto audio = packets_of(c.audio);
    Muxer muxer(output_format_of(c.muxer, "x"), c.url, EncodedFormat(encoder), audio.get());
    ff::Options options;
    log::error("{}", kMark);
    const int error = muxer.write_header(options);
    const std::vector<std::string> lines = log::recent();
    const auto mark = std::find_if(lines.rbegin(), lines.rend(), contains(kMark));
    EXPECT_EQ(error >= 0, c.opens) << c.muxer;
    EXPECT_EQ(std::any_of(lines.rbegin(), mark, contains("the audio is not copied")), c.blames_audio)
        << c.muxer;
  }
}

}  // namespace
}  // namespace lensd
