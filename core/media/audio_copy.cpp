#include "core/media/audio_copy.hpp"

#include "core/base/log.hpp"

namespace lensd {
namespace {

constexpr AVRational kNanoseconds = {1, 1'000'000'000};

/// Source time of the first picture; the audio's times are on the same clock.
int64_t picture_start_ns(const AVFormatContext& input) {
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    const AVStream& s = *input.streams[i];
    if (s.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && s.start_time != AV_NOPTS_VALUE &&
        !(s.disposition & AV_DISPOSITION_ATTACHED_PIC))
      return av_rescale_q(s.start_time, s.time_base, kNanoseconds);
  }
  return input.start_time == AV_NOPTS_VALUE ? 0
                                            : av_rescale_q(input.start_time, AV_TIME_BASE_Q, kNanoseconds);
}

}  // namespace

AudioCopy::AudioCopy(const std::string& source) : input_(source, StreamKind::audio, stop_) {}

std::unique_ptr<AudioCopy> AudioCopy::open(const std::string& source, AVFormatContext& output) {
  std::unique_ptr<AudioCopy> copy;
  try {
    copy.reset(new AudioCopy(source));
  } catch (const Error& error) {
    log::info("no audio is copied: {}", error.what());
    return nullptr;
  }
  const AVCodecParameters& codec = *copy->input_.stream()->codecpar;
  if (avformat_query_codec(output.oformat, codec.codec_id, FF_COMPLIANCE_NORMAL) != 1) {
    log::info("no audio is copied: {} does not fit into {}", avcodec_get_name(codec.codec_id),
              output.oformat->name);
    return nullptr;
  }
  copy->output_ = &output;
  copy->stream_ = ff::allocated(avformat_new_stream(&output, nullptr));
  if (avcodec_parameters_copy(copy->stream_->codecpar, &codec) < 0)
    throw Error(ExitCode::runtime_failure, source, "out of memory");
  copy->stream_->codecpar->codec_tag = 0;  // containers number codecs differently
  copy->stream_->time_base = copy->input_.stream()->time_base;
  return copy;
}

void AudioCopy::start_at(int64_t position_ns) {
  origin_ns_ = picture_start_ns(*input_.context()) + position_ns;
  if (position_ns > 0)
    av_seek_frame(input_.context(), input_.stream()->index,
                  av_rescale_q(origin_ns_, kNanoseconds, input_.stream()->time_base), AVSEEK_FLAG_BACKWARD);
}

int64_t AudioCopy::recording_time_ns() const {
  const int64_t stamp = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
  return stamp == AV_NOPTS_VALUE ? -1
                                 : av_rescale_q(stamp, input_.stream()->time_base, kNanoseconds) - origin_ns_;
}

int AudioCopy::copy_until(int64_t time_ns) {
  while (!ended_) {
    if (!pending_ && input_.read(*packet_) < 0) {
      ended_ = true;
      break;
    }
    pending_ = true;
    const int64_t at = recording_time_ns();
    if (at >= time_ns) break;
    pending_ = false;
    if (at < 0) continue;
    const int64_t duration = packet_->duration;
    packet_->pts = packet_->dts = av_rescale_q(at, kNanoseconds, stream_->time_base);
    packet_->duration = av_rescale_q(duration, input_.stream()->time_base, stream_->time_base);
    packet_->stream_index = stream_->index;
    packet_->pos = -1;
    if (const int error = av_interleaved_write_frame(output_, packet_.get()); error < 0) return error;
  }
  return 0;
}

}  // namespace lensd
