#include "core/media/output/audio_copy.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/clock.hpp"
#include "core/base/log.hpp"
#include "core/media/ffmpeg/aac_rates.hpp"

namespace lensd {
namespace {

constexpr auto kLatePollInterval = std::chrono::milliseconds(5);
/// Maximum waits for the first packet of a live source, and for those that arrive later than the last
/// picture.
constexpr int64_t kFirstPacketNs = 300'000'000, kLatePacketsNs = 700'000'000;
/// Timestamps that jump back by more than this start another part of the file, as in TimestampNormalizer.
constexpr int64_t kPartJumpNs = 1'000'000'000;
/// If the audio's timestamps jump back, the video's jump may follow up to this much later.
constexpr int64_t kJumpPatienceNs = 10'000'000'000;
/// Number of packets in which read_first() looks for an intact one.
constexpr int kFirstPackets = 100;

bool is_mp4(const AVOutputFormat& format) {
  const std::string_view name = format.name;
  return name == "mp4" || name == "mov";
}

/// Returns true for codecs whose MP4 track description needs the data of a packet.
bool needs_packet(AVCodecID codec) {
  return codec == AV_CODEC_ID_AC3 || codec == AV_CODEC_ID_EAC3 || codec == AV_CODEC_ID_TRUEHD;
}

/// Returns true if a container for which FFmpeg has no list of codecs supports the codec. With other codecs,
/// some of these muxers write a stream that no player reads, and the RTSP muxer fails.
bool is_listed(std::string_view container, AVCodecID codec) {
  switch (codec) {
    case AV_CODEC_ID_AAC:
    case AV_CODEC_ID_MP2:
    case AV_CODEC_ID_MP3:
      return true;
    case AV_CODEC_ID_AC3:
    case AV_CODEC_ID_EAC3:
      return container != "rtsp";
    case AV_CODEC_ID_OPUS:
      return container != "hls";
    case AV_CODEC_ID_DTS:
      return container == "mpegts" || container == "rtp_mpegts";
    case AV_CODEC_ID_PCM_ALAW:
    case AV_CODEC_ID_PCM_MULAW:
    case AV_CODEC_ID_ADPCM_G722:
      return container == "rtsp";
    default:
      return false;
  }
}

/// Returns true if the container supports the codec. Matroska can hold all codecs of WAV files.
bool supports(const AVOutputFormat& format, AVCodecID codec) {
  const int fits = avformat_query_codec(&format, codec, FF_COMPLIANCE_NORMAL);
  if (format.audio_codec == AV_CODEC_ID_NONE) return false;  // such as video devices
  if (fits == 1 || (fits < 0 && is_listed(format.name, codec))) return true;
  const AVCodecTag* const wav_tags[] = {avformat_get_riff_audio_tags(), nullptr};
  return std::string_view(format.name) == "matroska" && av_codec_get_tag(wav_tags, codec) != 0;
}

/// Returns true if the container has no times for the codec's packets, so that the sound after a lost one
/// would be early.
bool fills_no_gaps(const AVOutputFormat& format, AVCodecID codec) {
  return std::string_view(format.name) == "avi" && av_get_bits_per_sample(codec) > 0;
}

/// Sets the rate and channels of AAC from its configuration if the stream was not probed long enough.
void complete_format(AVCodecParameters& codec) {
  if (codec.sample_rate > 0 || codec.extradata_size < 2) return;
  const size_t index = (codec.extradata[0] & 7u) << 1 | codec.extradata[1] >> 7;
  if (index >= std::size(kAacRates)) return;
  codec.sample_rate = kAacRates[index];
  av_channel_layout_default(&codec.ch_layout, aac_channels(codec.extradata[1] >> 3 & 15));
}

/// Removes a new configuration, with which muxers would overwrite the one in the header.
void remove_new_config(AVPacket& packet) {
  for (int i = packet.side_data_elems; i-- > 0;) {
    AVPacketSideData& side = packet.side_data[i];
    if (side.type != AV_PKT_DATA_NEW_EXTRADATA) continue;
    av_freep(&side.data);
    side = packet.side_data[--packet.side_data_elems];
  }
}

/// Returns the hint for a container that does not support the codec.
const char* refusal_hint(const AVOutputFormat& container, AVCodecID codec) {
  const std::string_view name = container.name;
  const AVOutputFormat* matroska = av_guess_format("matroska", nullptr, nullptr);
  const bool file = is_mp4(container) || name == "webm" || name == "avi";
  return file && matroska && supports(*matroska, codec) ? " (.mkv does)" : "";
}

/// Returns the filter that removes the ADTS headers that AAC packets have in transport streams. Muxers of
/// formats with ADTS add the headers again. Returns null for other audio.
ff::FilterPtr adts_filter(const AVCodecParameters& codec, AVRational time_base) {
  const AVBitStreamFilter* type = av_bsf_get_by_name("aac_adtstoasc");
  AVBSFContext* context = nullptr;
  if (!type || codec.codec_id != AV_CODEC_ID_AAC || codec.extradata_size > 0) return nullptr;
  ff::check_memory(av_bsf_alloc(type, &context));
  ff::FilterPtr filter(context);
  ff::check_memory(avcodec_parameters_copy(context->par_in, &codec));
  context->time_base_in = time_base;
  return av_bsf_init(context) < 0 ? nullptr : std::move(filter);
}

}  // namespace

AudioCopy::AudioCopy(std::unique_ptr<AudioPackets> packets, int64_t start_ns, bool waits)
    : packets_(std::move(packets)),
      first_wait_ns_(waits ? kFirstPacketNs : 0),
      start_ns_(start_ns),
      codec_(ff::copy_of(&packets_->codec())),
      filter_(adts_filter(*codec_, packets_->time_base())) {}

AudioCopy::~AudioCopy() {
  if (skipped_ > 0) log::warn("{} damaged or overlapping packets of the audio were not copied", skipped_);
}

std::unique_ptr<AudioCopy> AudioCopy::open(const AudioSource& source, const std::atomic<bool>* stop) {
  if (source.none()) return nullptr;
  auto packets = source.live ? open_live_audio(source) : open_audio_file(source, stop);
  if (!packets) return nullptr;
  return std::unique_ptr<AudioCopy>(new AudioCopy(std::move(packets), source.start_ns, !(stop && *stop)));
}

/// Reads the first intact packet: its header describes the stream. For a live source, waits up to
/// first_wait_ns_ for it.
void AudioCopy::read_first() {
  const int64_t deadline = now_ns() + first_wait_ns_;
  for (int i = 0; i < kFirstPackets && !pending_; ++i) {
    Outcome outcome = read();
    for (; outcome == Outcome::none_yet && now_ns() < deadline; outcome = read())
      std::this_thread::sleep_for(kLatePollInterval);
    if (outcome != Outcome::packet) return;
    size_t bytes = 0;
    const uint8_t* config = av_packet_get_side_data(packet_.get(), AV_PKT_DATA_NEW_EXTRADATA, &bytes);
    pending_ = !filter_ || config;
    if (!pending_ || !filter_) continue;
    codec_->extradata =
        static_cast<uint8_t*>(ff::allocated(av_mallocz(bytes + AV_INPUT_BUFFER_PADDING_SIZE)));
    std::copy_n(config, bytes, codec_->extradata);
    codec_->extradata_size = static_cast<int>(bytes);
    complete_format(*codec_);
    av_packet_free_side_data(packet_.get());
  }
  if (pending_ && needs_packet(codec_->codec_id))
    ff::check_memory(av_packet_ref(sample_.get(), packet_.get()));
}

/// Reads the next packet into packet_, without an ADTS header. Skips packets with a damaged header. Returns
/// `end` also after an error and after an interruption.
AudioCopy::Outcome AudioCopy::read() {
  for (;;) {
    const Outcome outcome = packets_->read(*packet_);
    if (outcome != Outcome::packet || !filter_) return outcome;
    // An empty packet would end the filter.
    if (packet_->size > 0 && av_bsf_send_packet(filter_.get(), packet_.get()) >= 0 &&
        av_bsf_receive_packet(filter_.get(), packet_.get()) >= 0)
      return outcome;
    ++skipped_;
  }
}

/// Returns true if the container can describe the audio. Reads the first packet if it is needed for that.
bool AudioCopy::describe(const AVOutputFormat& container) {
  const bool from_packet = needs_packet(codec_->codec_id);
  if (filter_ ? codec_->extradata_size == 0 : from_packet && !sample_->data) read_first();
  if (filter_ && codec_->extradata_size == 0) return false;
  return !(packets_->lossy() && is_mp4(container) && from_packet && !sample_->data);
}

bool AudioCopy::add_stream(AVFormatContext& output) {
  const AVOutputFormat& container = *output.oformat;
  if (!describe(container)) {
    detach();
    log::warn("the audio is not copied: no packet that describes its format has arrived");
    return false;
  }
  const bool loses_sync = packets_->lossy() && fills_no_gaps(container, codec_->codec_id);
  if (loses_sync || !supports(container, codec_->codec_id)) {
    detach_unsupported(container);
    return false;
  }
  stream_ = ff::allocated(avformat_new_stream(&output, nullptr));
  ff::check_memory(avcodec_parameters_copy(stream_->codecpar, codec_.get()));
  stream_->codecpar->codec_tag = 0;  // each container has its own tags
  stream_->time_base = packets_->time_base();
  // FFmpeg 5 treats FLAC in MP4 as experimental.
  if (is_mp4(container) && codec_->codec_id == AV_CODEC_ID_FLAC)
    output.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL;
  output_ = &output;
  last_ticks_.reset();
  return true;
}

void AudioCopy::detach_unsupported(const AVOutputFormat& container) {
  detach();
  if (std::exchange(refusal_logged_, true)) return;
  log::warn("the audio is not copied: {} does not support this {}{}", container.name,
            avcodec_get_name(codec_->codec_id), refusal_hint(container, codec_->codec_id));
}

void AudioCopy::add_jump(const SourceJump& jump) {
  constexpr size_t kMaxJumps = 256;  // limits memory if a loop plays for days while nothing is written
  jumps_.push_back(jump);
  if (jumps_.size() > kMaxJumps) drop_jump();
}

/// Drops the first of at least two jumps. The second one is a seek if either was.
void AudioCopy::drop_jump() {
  const bool seek = jumps_.front().seek;
  jumps_.pop_front();
  jumps_.front().seek |= seek;
}

void AudioCopy::begin_at(int64_t start_ns) {
  output_start_ns_ = start_ns;
  while (jumps_.size() > 1 && jumps_[1].recording_ns <= start_ns) drop_jump();
  if (jumps_.empty() || jumps_.front().recording_ns >= start_ns) return;
  jumps_.front().position_ns += start_ns - jumps_.front().recording_ns;
  jumps_.front().recording_ns = start_ns;
}

void AudioCopy::take_jump() {
  const SourceJump jump = jumps_.front();
  jumps_.pop_front();
  const int64_t origin_ns = start_ns_ + jump.position_ns - jump.recording_ns;
  const bool reconnected = std::exchange(connection_, jump.connection) != jump.connection;
  if (started_ && !jump.seek && !reconnected) {
    if (jump.moved)
      origin_ns_ = origin_ns, next_origin_ns_.reset();
    else
      next_origin_ns_ = origin_ns;
    return;
  }
  if (jump.connection != 0) {
    older_than_jump_ = jump.connection == newest_connection_ && newest_source_ns_ &&
                       jump.position_ns + kPartJumpNs < *newest_source_ns_;
    if (older_than_jump_) source_before_jump_ns_ = *newest_source_ns_, jumped_ns_ = now_ns();
    newest_connection_ = jump.connection, newest_source_ns_.reset();
  }
  origin_ns_ = origin_ns, begin_ns_ = jump.recording_ns;
  next_origin_ns_.reset(), last_source_ns_.reset();
  const bool seek = std::exchange(started_, true) || jump.position_ns > 0 || reconnected;
  if (seek && packets_->seek(jump, origin_ns_ + begin_ns_)) pending_ = ended_ = false;
}

/// Returns true if the audio's timestamps have jumped back and the video's may still do so.
bool AudioCopy::waits_for_jump(int64_t source_ns, int64_t time_ns) const {
  return last_source_ns_ && !next_origin_ns_ && source_ns + kPartJumpNs < *last_source_ns_ &&
         time_ns < *last_source_ns_ - origin_ns_ + kJumpPatienceNs;
}

/// Returns true if the timestamps of a live source have jumped back while it had no pictures, and this audio
/// packet is from before the jump.
bool AudioCopy::is_older_than_jump(int64_t source_ns) {
  if (!older_than_jump_ || now_ns() - jumped_ns_ > kJumpPatienceNs) return false;
  older_than_jump_ = source_ns + kPartJumpNs > source_before_jump_ns_;
  source_before_jump_ns_ = source_ns;
  return older_than_jump_;
}

/// Converts the source time of the next packet to recording time. After the video's timestamps have jumped,
/// audio packets from before the audio's own jump may still follow. Therefore switches to the new origin only
/// if the audio jumps back, too, or if the new origin brings the packet closer to the previous one.
int64_t AudioCopy::recording_time_ns(int64_t source_ns) {
  if (next_origin_ns_) {
    const int64_t step = source_ns - last_source_ns_.value_or(INT64_MAX / 2);
    const bool closer = std::abs(step + origin_ns_ - *next_origin_ns_) < std::abs(step);
    if (step < -kPartJumpNs || closer) origin_ns_ = *std::exchange(next_origin_ns_, std::nullopt);
  }
  return source_ns - origin_ns_;
}

int AudioCopy::copy_until(int64_t time_ns) {
  while (!jumps_.empty() && jumps_.front().recording_ns <= time_ns) {
    const SourceJump& jump = jumps_.front();
    const int64_t source_end_ns = jump.moved ? start_ns_ + jump.position_ns : INT64_MAX;
    if (const int error = copy_segment(jump.recording_ns, source_end_ns); error < 0) return error;
    take_jump();
  }
  return copy_segment(time_ns, INT64_MAX);
}

/// Writes the packets before recording time `time_ns` and source time `source_end_ns`.
int AudioCopy::copy_segment(int64_t time_ns, int64_t source_end_ns) {
  while (started_ && !ended_) {
    if (!pending_) {
      const Outcome outcome = read();
      ended_ = outcome == Outcome::end;
      if (outcome != Outcome::packet) break;
    }
    pending_ = true;
    const int64_t stamp = packet_->pts != AV_NOPTS_VALUE ? packet_->pts : packet_->dts;
    const int64_t source_ns = ff::to_ns(stamp, packets_->time_base());
    if (stamp != AV_NOPTS_VALUE && is_older_than_jump(source_ns)) {
      pending_ = false;
      continue;
    }
    if (stamp != AV_NOPTS_VALUE && waits_for_jump(source_ns, time_ns)) break;
    const int64_t at = stamp == AV_NOPTS_VALUE ? INT64_MIN : recording_time_ns(source_ns);
    if (at >= time_ns || (stamp != AV_NOPTS_VALUE && source_ns >= source_end_ns)) break;
    pending_ = false;
    if (stamp != AV_NOPTS_VALUE) last_source_ns_ = newest_source_ns_ = source_ns;
    if (at < begin_ns_ || !output_ || at < output_start_ns_) continue;
    if (const int error = write(*packet_, at); error < 0) return error;
  }
  return 0;
}

/// Writes a packet of the source, unless it overlaps the previous one or the muxer refuses its content.
int AudioCopy::write(AVPacket& packet, int64_t recording_ns) {
  const int64_t ticks = ff::to_ticks(recording_ns - output_start_ns_, stream_->time_base);
  const int64_t step = output_->oformat->flags & AVFMT_TS_NONSTRICT ? 0 : 1;
  if (last_ticks_ && ticks < *last_ticks_ + step) return ++skipped_, 0;
  packet.pts = packet.dts = ticks;
  packet.duration = av_rescale_q(packet.duration, packets_->time_base(), stream_->time_base);
  packet.stream_index = stream_->index;
  packet.pos = -1;
  remove_new_config(packet);
  const int error = av_write_frame(output_, &packet);
  av_packet_unref(&packet);
  if (error >= 0) return last_ticks_ = ticks, 0;
  if (output_->pb && output_->pb->error < 0) return output_->pb->error;
  if (error != AVERROR(EINVAL) && error != AVERROR_INVALIDDATA) return error;
  return ++skipped_, 0;
}

int AudioCopy::complete(int64_t time_ns, AudioEnd end, const std::atomic<bool>* stop) {
  int error = copy_until(end == AudioEnd::source ? INT64_MAX : time_ns);
  const int64_t deadline = now_ns() + kLatePacketsNs;
  while (error >= 0 && started_ && !pending_ && packets_->late() && now_ns() < deadline && !(stop && *stop)) {
    std::this_thread::sleep_for(kLatePollInterval);
    error = copy_until(time_ns);
  }
  return error < 0 ? error : write_needed_packet(time_ns);
}

bool AudioCopy::may_be_silent() const noexcept {
  return packets_->lossy() && !needs_packet(codec_->codec_id);
}

/// Writes one packet at recording time `time_ns` if there was none and the container cannot describe the
/// track without one. Returns 0 or the muxer's AVERROR.
int AudioCopy::write_needed_packet(int64_t time_ns) {
  if (!output_ || last_ticks_ || !sample_->data || !is_mp4(*output_->oformat)) return 0;
  const ff::PacketPtr packet(ff::allocated(av_packet_clone(sample_.get())));
  return write(*packet, time_ns);
}

}  // namespace lensd
