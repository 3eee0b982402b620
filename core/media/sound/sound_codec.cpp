#include "core/media/sound/sound_codec.hpp"

extern "C" {
#include <libswresample/swresample.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.hpp"
#include "core/media/ffmpeg/frame_memory.hpp"
#include "core/media/sound/sound_format.hpp"

namespace lensd {
namespace {

/// Frames with more samples per channel are damaged.
constexpr int kMaxFrameSamples = 1 << 20;
constexpr int kFinishFrames = 4096;
/// Supported samples per second. At lower rates, a small packet would become a large block.
constexpr int kLowestRate = 1000, kHighestRate = 768000;
/// Maximum number of channels of swr_set_matrix(), which does not check it.
constexpr int kMaxMixed = 64;

/// Returns the positions of the channels as a mask; 0 if they have none, or are not in the usual order.
uint64_t speakers_of(const AVChannelLayout& layout) noexcept {
  return layout.order == AV_CHANNEL_ORDER_NATIVE ? layout.u.mask : 0;
}

/// Returns a converter for frames like this one with the layout `in`; null if FFmpeg cannot convert them.
/// With `mixes`, FFmpeg mixes the channels by their positions. Otherwise the first two channels are heard, or
/// of ambisonic sound the first one, which has the sound of all directions.
SwrContext* make_converter(const AVFrame& frame, AVChannelLayout in, bool mixes) {
  AVChannelLayout out{};
  av_channel_layout_default(&out, kSoundChannels);
  SwrContext* swr = nullptr;
  int error = swr_alloc_set_opts2(&swr, &out, AV_SAMPLE_FMT_FLT, kSoundRate, &in,
                                  static_cast<AVSampleFormat>(frame.format), frame.sample_rate, 0, nullptr);
  if (error >= 0 && !mixes) {
    const auto channels = static_cast<size_t>(in.nb_channels);
    const size_t right = in.order == AV_CHANNEL_ORDER_AMBISONIC ? 0 : std::min<size_t>(channels - 1, 1);
    std::vector<double> shares(channels * kSoundChannels);  // a row of shares for each output channel
    shares[0] = shares[channels + right] = 1;
    error = swr_set_matrix(swr, shares.data(), in.nb_channels);
  }
  if (error < 0 || swr_init(swr) < 0) swr_free(&swr);
  return swr;
}

}  // namespace

ff::CodecPtr open_sound_codec(const AVCodecParameters& parameters, AVRational time_base,
                              const std::string& where) {
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  const auto fail = [&](const std::string& what) { throw Error(ExitCode::bad_source, where, what); };
  if (!codec) fail(fmt::format("this FFmpeg has no decoder for {}", avcodec_get_name(parameters.codec_id)));
  ff::CodecPtr context(ff::allocated(avcodec_alloc_context3(codec)));
  if (avcodec_parameters_to_context(context.get(), &parameters) < 0) fail("invalid audio parameters");
  context->pkt_timebase = time_base;
  context->thread_count = 1;
  if (const int error = avcodec_open2(context.get(), codec, nullptr); error < 0)
    fail(fmt::format("cannot start the {} decoder: {}", codec->name, ff::error_text(error)));
  return context;
}

bool is_usable_sound(const AVFrame& frame) noexcept {
  return frame.nb_samples > 0 && frame.nb_samples <= kMaxFrameSamples && frame.sample_rate > 0 &&
         has_all_samples(frame);
}

void SoundResampler::Free::operator()(SwrContext* swr) const noexcept {
  swr_free(&swr);
}

bool SoundResampler::fits(const AVFrame& frame) const noexcept {
  return swr_ && frame.format == format_ && frame.sample_rate == rate_ &&
         frame.ch_layout.nb_channels == channels_ && speakers_of(frame.ch_layout) == speakers_;
}

void SoundResampler::configure(const AVFrame& frame, const std::string& where) {
  swr_.reset();
  if (frame.sample_rate < kLowestRate || frame.sample_rate > kHighestRate)
    throw Error(ExitCode::bad_source, where,
                fmt::format("audio with {} samples per second is not supported", frame.sample_rate));
  AVChannelLayout in = frame.ch_layout;
  if (in.order == AV_CHANNEL_ORDER_UNSPEC) av_channel_layout_default(&in, frame.ch_layout.nb_channels);
  swr_.reset(make_converter(frame, in, true));
  if (!swr_ && in.nb_channels > 0 && in.nb_channels <= kMaxMixed)
    swr_.reset(make_converter(frame, in, false));
  if (!swr_) {
    throw Error(ExitCode::bad_source, where,
                fmt::format("audio with {} channels at {} Hz cannot be converted", in.nb_channels,
                            frame.sample_rate));
  }
  format_ = frame.format, rate_ = frame.sample_rate, channels_ = in.nb_channels;
  speakers_ = speakers_of(frame.ch_layout);
}

bool SoundResampler::convert(const AVFrame& frame, std::vector<float>& samples) {
  const int64_t room = swr_get_out_samples(swr_.get(), frame.nb_samples);
  samples.clear();
  if (room <= 0 || room > kMaxFrameSamples) return room == 0;
  samples.resize(static_cast<size_t>(room) * kSoundChannels);
  auto* to = reinterpret_cast<uint8_t*>(samples.data());
  const int made = swr_convert(swr_.get(), &to, static_cast<int>(room),
                               const_cast<const uint8_t**>(frame.extended_data), frame.nb_samples);
  samples.resize(static_cast<size_t>(std::max(made, 0)) * kSoundChannels);
  return made >= 0;
}

std::vector<float> SoundResampler::finish() {
  std::vector<float> samples(size_t{kFinishFrames} * kSoundChannels);
  auto* to = reinterpret_cast<uint8_t*>(samples.data());
  const int made = swr_convert(swr_.get(), &to, kFinishFrames, nullptr, 0);
  samples.resize(static_cast<size_t>(std::max(made, 0)) * kSoundChannels);
  return samples;
}

int64_t SoundResampler::delay_ns() const noexcept {
  return swr_ ? swr_get_delay(swr_.get(), 1'000'000'000) : 0;
}

void SoundResampler::stretch(double share, int frames) noexcept {
  if (swr_) swr_set_compensation(swr_.get(), static_cast<int>(std::lround(share * frames)), frames);
}

}  // namespace lensd
