#include "core/media/sound/sound_decoder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/clock.hpp"
#include "core/media/input/times/timestamps.hpp"

namespace lensd {
namespace {

/// Distances before the target at which decoding starts, tried one after another. Codecs need some packets
/// before their output is correct, and demuxers may continue after the requested time.
constexpr std::array<int64_t, 3> kBefore = {250'000'000, 2'000'000'000, 15'000'000'000};
constexpr size_t kSoundFromStart = kBefore.size();
/// Two frames count as successive if their starts are closer than this.
constexpr int64_t kLongestFrameNs = 1'000'000'000;
/// Minimum length of a block, except before a gap and at the end. Avoids many small blocks from short
/// packets.
constexpr size_t kBlockFrames = kSoundRate / 50;

}  // namespace

SoundDecoder::SoundDecoder(const SoundSource& source, const StopFlags& stop) : source_(source), stop_(stop) {
  open();
}

void SoundDecoder::open() {
  codec_.reset();
  input_ = std::make_unique<Input>(source_.url, StreamKind::audio, stop_, source_.live, source_.track);
  const AVStream& stream = *input_->stream();
  codec_ = open_sound_codec(*stream.codecpar, stream.time_base, display_url(source_.url));
}

int64_t SoundDecoder::media_ns(int64_t ticks) const noexcept {
  return ff::to_ns(ticks, input_->stream()->time_base) - source_.origin_ns + shift_ns_;
}

void SoundDecoder::seek(int64_t position_ns, double speed) {
  target_ns_ = position_ns, errors_ = 0;
  speed_ = speed;
  move_to(input_->seeks_by_time() && position_ns < first_jump_ns_ ? 0 : kSoundFromStart);
}

void SoundDecoder::move_to(size_t attempt) {
  for (; attempt < kSoundFromStart; ++attempt) {
    const int64_t raw_ns = target_ns_ - kBefore[attempt] + source_.origin_ns;
    if (input_->seek(ff::to_ticks(raw_ns, input_->stream()->time_base)) >= 0) break;
    if (input_->seek_timed_out()) attempt = kSoundFromStart - 1;
  }
  attempt_ = attempt;
  if (attempt >= kSoundFromStart)
    open();
  else
    avcodec_flush_buffers(codec_.get());
  first_ = true, known_ = draining_ = ended_ = false;
  shift_ns_ = 0, jump_.reset();
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
      if (is_usable_sound(*frame_)) return true;
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

/// Converts frame_ and appends its samples to `out`, except samples before the target. Returns false if
/// frame_ does not continue `out`, and keeps frame_ for the next block. If the first frame after a seek
/// starts after the target, discards it and seeks to an earlier position.
bool SoundDecoder::convert(SoundBlock& out) {
  const int64_t stamp = frame_->best_effort_timestamp;
  const bool stamped = stamp != AV_NOPTS_VALUE && plausible(media_ns(stamp));
  const int64_t expected = base_ns_ + sound_ns(static_cast<double>(resampled_));
  int64_t start = stamped ? media_ns(stamp) : known_ ? expected : target_ns_;
  if (known_) start = after_jump(start, expected);
  if (std::exchange(first_, false) && start > target_ns_ && attempt_ < kSoundFromStart) {
    // The demuxer continued after the target, unless the audio starts there.
    const int64_t begin = input_->stream()->start_time;
    if (begin == AV_NOPTS_VALUE || start > media_ns(begin) + kStampGapNs) {
      av_frame_unref(frame_.get());
      move_to(attempt_ + 1);
      return true;
    }
  }
  const bool changed = !resampler_.fits(*frame_);
  const bool gap = !known_ || std::abs(start - expected) > kStampGapNs;
  if ((gap || changed) && out.frames() > 0) return false;
  if (changed || (gap && known_)) {
    resampler_.configure(*frame_, display_url(source_.url));
    known_ = false;
  }
  if (!known_) {
    base_ns_ = start, resampled_ = 0, known_ = true;
    tempo_.reset();
  }
  std::vector<float> samples;
  const bool converted = resampler_.convert(*frame_, samples);
  av_frame_unref(frame_.get());
  if (!converted) return ++errors_, true;
  append(std::move(samples), out);
  return true;
}

/// Returns the time of a frame that starts at `start`, after sound that ends at `end`. If a second frame
/// follows the first one after a jump, the jump is real: shifts this frame and all later ones, so that the
/// sound continues. A single frame after a jump is damaged.
int64_t SoundDecoder::after_jump(int64_t start, int64_t end) {
  const auto jump = std::exchange(jump_, std::nullopt);
  if (is_jump(start, end)) {
    jump_ = Jump{start, end};
  } else if (jump && start > jump->start_ns && start - jump->start_ns < kLongestFrameNs) {
    first_jump_ns_ = std::min(first_jump_ns_, jump->end_ns);
    shift_ns_ += jump->end_ns - jump->start_ns;
    return start + jump->end_ns - jump->start_ns;
  }
  return start;
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

/// Appends the samples that the resampler and the tempo filter still buffer.
void SoundDecoder::finish(SoundBlock& out) {
  if (!resampler_) return;
  append(resampler_.finish(), out);
  if (!tempo_) return;
  if (out.samples.empty()) out.media_ns = tempo_ns_ + sound_ns(static_cast<double>(tempo_out_) * speed_);
  tempo_->run({}, out.samples);
}

}  // namespace lensd
