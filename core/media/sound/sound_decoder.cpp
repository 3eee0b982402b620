#include "core/media/sound/sound_decoder.hpp"

extern "C" {
#include <libswresample/swresample.h>
}

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace lensd {
namespace {

/// Distances before the target at which decoding starts, tried in turn: codecs need some packets before their
/// output is right, and demuxers may land after the requested time.
constexpr std::array<int64_t, 3> kBefore = {250'000'000, 2'000'000'000, 15'000'000'000};
constexpr size_t kSoundFromStart = kBefore.size();
/// Larger differences between timestamps and decoded samples are gaps; smaller ones are rounding.
constexpr int64_t kGapNs = 30'000'000;
/// Minimum length of a block, except before a gap and at the end. Avoids many small blocks from short
/// packets.
constexpr size_t kBlockFrames = kSoundRate / 50;
constexpr int kMostSamples = 1 << 20;

}  // namespace

void SoundDecoder::FreeResampler::operator()(SwrContext* swr) const noexcept {
  swr_free(&swr);
}

SoundDecoder::SoundDecoder(const SoundSource& source, const StopFlags& stop) : source_(source), stop_(stop) {
  open();
}

void SoundDecoder::open() {
  codec_.reset();
  input_ = std::make_unique<Input>(source_.url, StreamKind::audio, stop_, source_.live, source_.track);
  const AVCodecParameters& parameters = *input_->stream()->codecpar;
  const AVCodec* codec = avcodec_find_decoder(parameters.codec_id);
  const auto fail = [&](const std::string& what) {
    throw Error(ExitCode::bad_source, display_url(source_.url), what);
  };
  if (!codec) fail(fmt::format("this FFmpeg has no decoder for {}", avcodec_get_name(parameters.codec_id)));
  codec_.reset(ff::allocated(avcodec_alloc_context3(codec)));
  if (avcodec_parameters_to_context(codec_.get(), &parameters) < 0) fail("invalid audio parameters");
  codec_->pkt_timebase = input_->stream()->time_base;
  codec_->thread_count = 1;
  if (const int error = avcodec_open2(codec_.get(), codec, nullptr); error < 0)
    fail(fmt::format("cannot start the {} decoder: {}", codec->name, ff::error_text(error)));
}

int64_t SoundDecoder::media_ns(int64_t ticks) const noexcept {
  return ff::to_ns(ticks, input_->stream()->time_base) - source_.origin_ns;
}

void SoundDecoder::seek(int64_t position_ns, double speed) {
  target_ns_ = position_ns, errors_ = 0;
  speed_ = speed;
  move_to(input_->seeks_by_time() ? 0 : kSoundFromStart);
}

void SoundDecoder::move_to(size_t attempt) {
  for (; attempt < kSoundFromStart; ++attempt) {
    const int64_t raw_ns = target_ns_ - kBefore[attempt] + source_.origin_ns;
    if (input_->seek(ff::to_ticks(raw_ns, input_->stream()->time_base)) >= 0) break;
  }
  attempt_ = attempt;
  if (attempt >= kSoundFromStart)
    open();
  else
    avcodec_flush_buffers(codec_.get());
  first_ = true, known_ = draining_ = ended_ = false;
  resampler_.reset(), tempo_.reset();
}

bool SoundDecoder::read(SoundBlock& out) {
  out.samples.clear();
  while (!ended_ && out.frames() < kBlockFrames) {
    const size_t before = out.frames();
    if (!decode()) {
      if (!draining_ || stop_.raised()) return false;
      finish(out);
      ended_ = true;
      break;
    }
    // A gap or a change of format ends the block: a block has one timestamp.
    if (!convert(out) && before > 0) break;
  }
  return out.frames() > 0;
}

/// Decodes the next frame into frame_. Returns false at the end and after an interruption.
bool SoundDecoder::decode() {
  for (;;) {
    if (stop_.raised()) return false;
    if (frame_->nb_samples > 0) return true;  // convert() has kept it for the next block
    const int result = avcodec_receive_frame(codec_.get(), frame_.get());
    if (result == 0) {
      if (frame_->nb_samples > 0 && frame_->nb_samples <= kMostSamples && frame_->sample_rate > 0)
        return true;
      av_frame_unref(frame_.get());
      continue;
    }
    if (result == AVERROR(ENOMEM)) ff::check_memory(result);
    if (draining_) return false;
    if (result != AVERROR(EAGAIN)) ++errors_;
    const int error = input_->read(*packet_);
    if (error == AVERROR_EXIT) return false;
    if (error < 0) {
      draining_ = true;
      avcodec_send_packet(codec_.get(), nullptr);
      continue;
    }
    if (avcodec_send_packet(codec_.get(), packet_.get()) < 0) ++errors_;
    av_packet_unref(packet_.get());
  }
}

void SoundDecoder::configure_resampler() {
  AVChannelLayout in = frame_->ch_layout, out{};
  if (in.order == AV_CHANNEL_ORDER_UNSPEC) av_channel_layout_default(&in, frame_->ch_layout.nb_channels);
  av_channel_layout_default(&out, kSoundChannels);
  SwrContext* swr = nullptr;
  const int error =
      swr_alloc_set_opts2(&swr, &out, AV_SAMPLE_FMT_FLT, kSoundRate, &in,
                          static_cast<AVSampleFormat>(frame_->format), frame_->sample_rate, 0, nullptr);
  resampler_.reset(swr);
  if (error < 0 || swr_init(swr) < 0)
    throw Error(ExitCode::bad_source, display_url(source_.url),
                fmt::format("audio with {} channels at {} Hz cannot be converted", in.nb_channels,
                            frame_->sample_rate));
  input_format_ = frame_->format, input_rate_ = frame_->sample_rate, input_channels_ = in.nb_channels;
}

/// Converts frame_ and appends its samples to `out`, except samples before the target. Returns false if
/// frame_ does not continue `out`, and keeps frame_ for the next block. If the first frame after a seek
/// starts after the target, discards it and seeks to an earlier position.
bool SoundDecoder::convert(SoundBlock& out) {
  const bool stamped = frame_->best_effort_timestamp != AV_NOPTS_VALUE;
  const int64_t expected = base_ns_ + sound_ns(static_cast<double>(resampled_));
  const int64_t start = stamped ? media_ns(frame_->best_effort_timestamp) : known_ ? expected : target_ns_;
  if (std::exchange(first_, false) && start > target_ns_ && attempt_ < kSoundFromStart) {
    // The demuxer landed after the target, unless the audio starts there.
    const int64_t begin = input_->stream()->start_time;
    if (begin == AV_NOPTS_VALUE || start > media_ns(begin) + kGapNs) {
      av_frame_unref(frame_.get());
      move_to(attempt_ + 1);
      return true;
    }
  }
  const bool changed = !resampler_ || frame_->format != input_format_ || frame_->sample_rate != input_rate_ ||
                       frame_->ch_layout.nb_channels != input_channels_;
  const bool gap = !known_ || std::abs(start - expected) > kGapNs;
  if ((gap || changed) && out.frames() > 0) return false;
  if (changed || (gap && known_)) {
    configure_resampler();
    known_ = false;
  }
  if (!known_) {
    base_ns_ = start, resampled_ = 0, known_ = true;
    tempo_.reset();
  }
  const int64_t room = swr_get_out_samples(resampler_.get(), frame_->nb_samples);
  std::vector<float> samples(static_cast<size_t>(std::max<int64_t>(room, 0)) * kSoundChannels);
  auto* to = reinterpret_cast<uint8_t*>(samples.data());
  const int made = swr_convert(resampler_.get(), &to, static_cast<int>(room),
                               const_cast<const uint8_t**>(frame_->extended_data), frame_->nb_samples);
  av_frame_unref(frame_.get());
  if (made < 0) return ++errors_, true;
  samples.resize(static_cast<size_t>(made) * kSoundChannels);
  append(std::move(samples), out);
  return true;
}

/// Removes frames before the target. Changes the tempo of the rest and appends it to `out`.
void SoundDecoder::append(std::vector<float> samples, SoundBlock& out) {
  int64_t start = base_ns_ + sound_ns(static_cast<double>(resampled_));
  const auto count = static_cast<int64_t>(samples.size() / kSoundChannels);
  resampled_ += count;
  const int64_t skip = std::clamp<int64_t>(sound_frames(target_ns_ - start), 0, count);
  if (skip == count) return;
  samples.erase(samples.begin(), samples.begin() + skip * kSoundChannels);
  start += sound_ns(static_cast<double>(skip));
  if (speed_ == 1) {
    if (out.samples.empty()) out.media_ns = start;
    out.samples.insert(out.samples.end(), samples.begin(), samples.end());
    return;
  }
  if (!tempo_)
    tempo_ = std::make_unique<TempoFilter>(speed_), tempo_ns_ = start + tempo_ahead_ns(speed_),
    tempo_out_ = 0;
  if (out.samples.empty()) out.media_ns = tempo_ns_ + sound_ns(static_cast<double>(tempo_out_) * speed_);
  const size_t before = out.frames();
  tempo_->run(samples, out.samples);
  tempo_out_ += static_cast<int64_t>(out.frames() - before);
}

/// Appends what the resampler and the tempo filter still hold.
void SoundDecoder::finish(SoundBlock& out) {
  if (!resampler_) return;
  std::vector<float> samples(size_t{4096} * kSoundChannels);
  auto* to = reinterpret_cast<uint8_t*>(samples.data());
  const int made = swr_convert(resampler_.get(), &to, 4096, nullptr, 0);
  samples.resize(static_cast<size_t>(std::max(made, 0)) * kSoundChannels);
  append(std::move(samples), out);
  if (!tempo_) return;
  if (out.samples.empty()) out.media_ns = tempo_ns_ + sound_ns(static_cast<double>(tempo_out_) * speed_);
  tempo_->run({}, out.samples);
}

}  // namespace lensd
