// Reads the audio of a live source for recordings and outputs.
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/log.hpp"
#include "core/image/frame.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/live/mpegts/low_delay_parser.hpp"
#include "core/media/output/audio_packets.hpp"
#include "core/media/output/latm_to_adts.hpp"

namespace lensd {
namespace {

/// Returns true if packets of both can be in one track. A rate of 0 is not known yet, and the configuration
/// of LATM may be unknown.
bool same_codec(const AVCodecParameters& a, const AVCodecParameters& b) {
  const bool unknown = a.codec_id == AV_CODEC_ID_AAC_LATM && (a.extradata_size == 0 || b.extradata_size == 0);
  return a.codec_id == b.codec_id &&
         (a.sample_rate == b.sample_rate || a.sample_rate == 0 || b.sample_rate == 0) &&
         (a.ch_layout.nb_channels == b.ch_layout.nb_channels || a.sample_rate == 0 || b.sample_rate == 0) &&
         (unknown || std::equal(a.extradata, a.extradata + a.extradata_size, b.extradata,
                                b.extradata + b.extradata_size));
}

class LiveAudioPackets final : public AudioPackets {
 public:
  LiveAudioPackets(std::shared_ptr<LiveAudio> audio, LiveAudio::Connection connection, uint64_t place)
      : audio_(std::move(audio)),
        received_(std::move(connection.codec)),
        latm_(LatmToAdts::converts(*received_) ? std::optional<LatmToAdts>(*received_) : std::nullopt),
        codec_(latm_ ? LatmToAdts::codec(*received_) : ff::copy_of(received_.get())),
        time_base_(connection.time_base),
        place_(place) {
    connection_.number = connection.number;
    begin(connection.time_base, connection.unparsed);
  }

  const AVCodecParameters& codec() const override { return *codec_; }
  AVRational time_base() const override { return time_base_; }

  Outcome read(AVPacket& out) override {
    for (;;) {
      if (parser_ && parser_->next(out)) {
        if (complete(out)) return Outcome::packet;
        continue;
      }
      if (connection_.number == 0 || !audio_->next(out, connection_.number, place_)) return Outcome::none_yet;
      if (!fits_) continue;
      av_packet_rescale_ts(&out, connection_.time_base, time_base_);
      if (parser_)
        parser_->put(out);
      else if (complete(out))
        return Outcome::packet;
    }
  }

  bool seek(const SourceJump& jump, int64_t) override {
    if (jump.connection == connection_.number) return false;
    const LiveAudio::Connection next = audio_->connection(jump.connection);
    connection_.number = jump.connection;
    fits_ = next.codec && same_codec(*next.codec, *received_);
    if (next.codec && !fits_ && !std::exchange(warned_, true)) warn(*next.codec);
    begin(next.time_base, next.unparsed);
    return true;
  }

  bool lossy() const override { return true; }
  bool late() const override { return fits_ && audio_->flows(connection_.number); }

 private:
  void begin(AVRational time_base, bool unparsed) {
    connection_.time_base = time_base;
    next_ticks_ = AV_NOPTS_VALUE;
    parser_.reset();
    if (unparsed) parser_.emplace(*received_);
  }

  void warn(const AVCodecParameters& next) const {
    if (next.codec_id == received_->codec_id)
      log::warn("the audio is no longer copied: its rate, channels or settings have changed");
    else
      log::warn("the audio is no longer copied: it is {} now, the file has {}",
                avcodec_get_name(next.codec_id), avcodec_get_name(received_->codec_id));
  }

  /// Returns false if the packet is damaged, or if its time is not known.
  bool complete(AVPacket& packet) {
    const bool intact = !latm_ || latm_->convert(packet);
    return complete_times(packet) && intact;
  }

  /// Adds the time and duration of a frame that follows others in one packet of the stream. FFmpeg does not
  /// set them until the codec's frame size is known. Returns false if no time is known yet.
  bool complete_times(AVPacket& packet) {
    if (packet.pts == AV_NOPTS_VALUE) packet.pts = packet.dts != AV_NOPTS_VALUE ? packet.dts : next_ticks_;
    if (packet.pts == AV_NOPTS_VALUE) return false;
    packet.dts = packet.pts;
    if (packet.duration <= 0) packet.duration = duration_of(packet);
    next_ticks_ = packet.duration > 0 ? av_sat_add64(packet.pts, packet.duration) : AV_NOPTS_VALUE;
    return true;
  }

  /// Returns the duration in time_base_; 0 if it is not known.
  int64_t duration_of(const AVPacket& packet) const {
    const AVRational seconds = latm_ ? latm_->duration() : parser_ ? parser_->duration() : AVRational{0, 1};
    if (seconds.num > 0) return av_rescale_q(seconds.num, {1, seconds.den}, time_base_);
    const int samples = av_get_audio_frame_duration2(codec_.get(), packet.size);
    if (samples <= 0 || codec_->sample_rate <= 0) return 0;
    return av_rescale_q(samples, {1, codec_->sample_rate}, time_base_);
  }

  const std::shared_ptr<LiveAudio> audio_;
  const ff::ParametersPtr received_;  ///< codec of the connection
  std::optional<LatmToAdts> latm_;
  const ff::ParametersPtr codec_;  ///< codec of the packets that read() returns
  const AVRational time_base_;
  uint64_t place_;  ///< argument of LiveAudio::next()
  struct {
    uint32_t number = 0;
    AVRational time_base{0, 1};
  } connection_;
  bool fits_ = true;  ///< the connection's audio can be in the track
  bool warned_ = false;
  std::optional<LowDelayParser> parser_;
  int64_t next_ticks_ = AV_NOPTS_VALUE;  ///< time of a parsed frame that has none
};

}  // namespace

std::unique_ptr<AudioPackets> open_live_audio(const AudioSource& source) {
  LiveAudio& audio = *source.live;
  LiveAudio::Connection connection =
      source.connection ? audio.connection(source.connection) : audio.connection();
  if (!connection.codec && audio.track() > 0)
    log::warn("the audio is not copied: the stream has no audio track {}", audio.track());
  if (!connection.codec) return nullptr;
  return std::make_unique<LiveAudioPackets>(source.live, std::move(connection),
                                            audio.place_since(source.history_ns));
}

void AudioChange::opened(uint32_t number) {
  if (!audio_) return;
  LiveAudio::Connection connection = number ? audio_->connection(number) : audio_->connection();
  number_ = connection.number;
  codec_ = std::move(connection.codec);
}

bool AudioChange::detect(const FrameInfo& frame) {
  if (!audio_ || frame.connection == 0 || frame.connection == number_) return false;
  number_ = frame.connection;
  const LiveAudio::Connection connection = audio_->connection(number_);
  return connection.codec && !(codec_ && same_codec(*codec_, *connection.codec));
}

}  // namespace lensd
