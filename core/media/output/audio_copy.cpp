#include "core/media/output/audio_copy.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/log.hpp"
#include "core/base/owned_thread.hpp"

namespace lensd {
namespace {

constexpr auto kSoundPollInterval = std::chrono::milliseconds(5);

/// Returns the source time of the first picture. The audio's times are on the same clock.
int64_t picture_start_ns(const AVFormatContext& input) {
  for (unsigned i = 0; i < input.nb_streams; ++i) {
    const AVStream& s = *input.streams[i];
    if (s.codecpar->codec_type == AVMEDIA_TYPE_VIDEO && s.start_time != AV_NOPTS_VALUE &&
        !(s.disposition & AV_DISPOSITION_ATTACHED_PIC))
      return ff::to_ns(s.start_time, s.time_base);
  }
  return input.start_time == AV_NOPTS_VALUE ? 0 : ff::to_ns(input.start_time, AV_TIME_BASE_Q);
}

/// Returns true if the container supports the codec. FFmpeg has no list of codecs for some containers, such
/// as transport streams; common codecs are accepted there.
bool supports(const AVOutputFormat& format, AVCodecID codec) {
  const int fits = avformat_query_codec(&format, codec, FF_COMPLIANCE_NORMAL);
  const bool usual = codec == AV_CODEC_ID_AAC || codec == AV_CODEC_ID_MP3 || codec == AV_CODEC_ID_MP2 ||
                     codec == AV_CODEC_ID_AC3;
  return fits == 1 || (fits < 0 && usual);
}

}  // namespace

/// The input, with the flags that it refers to.
struct AudioCopy::Opening {
  StopFlags stop;
  std::unique_ptr<Input> input;
  std::string problem = "opening was interrupted";

  void open(const std::string& source) noexcept {
    try {
      input = std::make_unique<Input>(source, StreamKind::audio, stop);
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }
};

AudioCopy::AudioCopy(std::shared_ptr<Opening> opening)
    : opening_(std::move(opening)), input_(*opening_->input) {}

std::unique_ptr<AudioCopy> AudioCopy::open(const std::string& source, const std::atomic<bool>* stop) {
  if (source.empty()) return nullptr;
  const auto opening = std::make_shared<Opening>();
  std::error_code ignored;
  if (std::filesystem::is_regular_file(source, ignored)) {
    opening->open(source);
  } else {
    // A name lookup cannot be interrupted. The thread owns what it uses, so that it may end later.
    OwnedThread thread([opening, source] { opening->open(source); });
    while (!thread.join_if_ended()) {
      if (stop && *stop) {
        opening->stop.interrupted = true;
        log::info("audio is not copied: opening was interrupted");
        return nullptr;
      }
      std::this_thread::sleep_for(kSoundPollInterval);
    }
    opening->stop.cancelled = stop;
  }
  if (opening->input) return std::unique_ptr<AudioCopy>(new AudioCopy(opening));
  log::info("audio is not copied: {}", opening->problem);
  return nullptr;
}

bool AudioCopy::add_stream(AVFormatContext& output) {
  const AVCodecParameters& codec = *input_.stream()->codecpar;
  if (!supports(*output.oformat, codec.codec_id)) {
    log::info("audio is not copied: {} does not support {}", output.oformat->name,
              avcodec_get_name(codec.codec_id));
    return false;
  }
  stream_ = ff::allocated(avformat_new_stream(&output, nullptr));
  ff::check_memory(avcodec_parameters_copy(stream_->codecpar, &codec));
  stream_->codecpar->codec_tag = 0;  // each container has its own tags
  stream_->time_base = input_.stream()->time_base;
  output_ = &output;
  return true;
}

void AudioCopy::add_jump(int64_t recording_ns, int64_t position_ns) {
  constexpr size_t kMaxJumps = 256;  // limits memory if a loop plays for days while nothing is written
  if (jumps_.size() >= kMaxJumps) jumps_.pop_front();
  jumps_.push_back({recording_ns, position_ns});
}

void AudioCopy::begin_at(int64_t start_ns) {
  output_start_ns_ = start_ns;
  while (jumps_.size() > 1 && jumps_[1].recording_ns <= start_ns) jumps_.pop_front();
  if (jumps_.empty() || jumps_.front().recording_ns >= start_ns) return;
  jumps_.front().position_ns += start_ns - jumps_.front().recording_ns;
  jumps_.front().recording_ns = start_ns;
}

void AudioCopy::take_jump() {
  const Jump jump = jumps_.front();
  jumps_.pop_front();
  origin_ns_ = picture_start_ns(*input_.context()) + jump.position_ns - jump.recording_ns;
  begin_ns_ = jump.recording_ns;
  if (jump.position_ns > 0 || started_)
    input_.seek(ff::to_ticks(origin_ns_ + begin_ns_, input_.stream()->time_base));
  started_ = true;
  pending_ = ended_ = false;
}

int64_t AudioCopy::recording_time_ns() const {
  const int64_t stamp = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
  return stamp == AV_NOPTS_VALUE ? INT64_MIN : ff::to_ns(stamp, input_.stream()->time_base) - origin_ns_;
}

int AudioCopy::copy_until(int64_t time_ns) {
  while (!jumps_.empty() && jumps_.front().recording_ns <= time_ns) {
    if (const int error = copy_segment(jumps_.front().recording_ns); error < 0) return error;
    take_jump();
  }
  return copy_segment(time_ns);
}

int AudioCopy::copy_segment(int64_t time_ns) {
  while (started_ && !ended_) {
    if (!pending_ && input_.read(*packet_) < 0) {
      ended_ = true;
      break;
    }
    pending_ = true;
    const int64_t at = recording_time_ns();
    if (at >= time_ns) break;
    pending_ = false;
    if (at < begin_ns_ || !output_ || at < output_start_ns_) continue;
    const int64_t duration = packet_->duration;
    packet_->pts = packet_->dts = ff::to_ticks(at - output_start_ns_, stream_->time_base);
    packet_->duration = av_rescale_q(duration, input_.stream()->time_base, stream_->time_base);
    packet_->stream_index = stream_->index;
    packet_->pos = -1;
    const int error = av_write_frame(output_, packet_.get());
    av_packet_unref(packet_.get());
    if (error < 0) return error;
  }
  return 0;
}

}  // namespace lensd
