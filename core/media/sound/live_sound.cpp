#include "core/media/sound/live_sound.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/owned_thread.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/live/mpegts/low_delay_parser.hpp"
#include "core/media/sound/sound_codec.hpp"
#include "core/media/sound/sound_loop.hpp"

namespace lensd {
namespace {

/// Sound starts this long after the first packet, so that the first delays are measured.
constexpr int64_t kMeasureNs = 100'000'000;
/// Time from queueing a sample until it is heard: the output's buffer of 100 ms, and its step of 20 ms.
constexpr int64_t kOutputNs = 120'000'000;
/// Deviations from the target up to kFineNs are ignored; deviations above kCoarseNs are corrected at once. In
/// between, sound is stretched by at most kMaxStretch, so that the deviation is gone after kStretchNs.
constexpr int64_t kFineNs = 10'000'000, kCoarseNs = 200'000'000, kStretchNs = 10'000'000'000;
constexpr double kMaxStretch = 0.005;
/// If more frames are queued, the output has stopped playing them, and the queue is cleared.
constexpr size_t kMaxQueued = 2 * kSoundRate;
constexpr int64_t kWaitNs = 50'000'000;
/// Sound counts as undecodable if more than kMaxFailed packets in a row decode to nothing, or if no packet
/// decodes for kUndecodableNs. The time limit is for parsers that make a few large packets of another codec's
/// data.
constexpr int kMaxFailed = 50;
constexpr int64_t kUndecodableNs = 3'000'000'000;
/// Pictures stop waiting for sound after kQuietNs without packets. After kNoAudioNs the source has no audio.
constexpr int64_t kQuietNs = 1'000'000'000, kNoAudioNs = 5'000'000'000;

/// Decodes the packets of one connection.
class LiveDecoder {
 public:
  LiveDecoder(const LiveAudio::Connection& connection, std::string where)
      : where_(std::move(where)),
        time_base_(connection.time_base),
        codec_(open_sound_codec(*connection.codec, connection.time_base, where_)) {
    if (connection.unparsed) parser_.emplace(*connection.codec);
  }

  /// Returns the number of packets without a frame since the last frame.
  int failed() const noexcept { return failed_; }
  /// Returns true if a frame was decoded.
  bool has_decoded() const noexcept { return decoded_; }

  /// Decodes a packet and passes the resulting blocks to `push`. Skips damaged packets.
  template <class Push>
  void decode(AVPacket& packet, double stretch, const Push& push) {
    if (!parser_) return decode_frame(packet, stretch, push);
    parser_->put(packet);
    while (parser_->next(*parsed_)) decode_frame(*parsed_, stretch, push);
  }

 private:
  template <class Push>
  void decode_frame(AVPacket& packet, double stretch, const Push& push) {
    ++failed_;
    avcodec_send_packet(codec_.get(), &packet);
    av_packet_unref(&packet);
    while (avcodec_receive_frame(codec_.get(), frame_.get()) == 0) {
      SoundBlock block;
      failed_ = 0, decoded_ = true;
      if (convert(stretch, block)) push(std::move(block));
      av_frame_unref(frame_.get());
    }
  }

  bool convert(double stretch, SoundBlock& block) {
    if (!is_usable_sound(*frame_)) return false;
    const int64_t stamp = frame_->best_effort_timestamp;
    const int64_t start = stamp != AV_NOPTS_VALUE ? ff::to_ns(stamp, time_base_) : next_ns_;
    if (!plausible(start)) return false;  // also while no time is known
    const bool gap = next_ns_ != kUnknown && std::abs(start - next_ns_) > kStampGapNs;
    if (!resampler_.fits(*frame_) || gap) resampler_.configure(*frame_, where_);
    next_ns_ = start + frame_->nb_samples * int64_t{1'000'000'000} / frame_->sample_rate;
    block.media_ns = start - resampler_.delay_ns();
    resampler_.stretch(stretch, kSoundRate);
    return resampler_.convert(*frame_, block.samples);
  }

  static constexpr int64_t kUnknown = INT64_MIN;
  const std::string where_;
  const AVRational time_base_;
  ff::CodecPtr codec_;
  std::optional<LowDelayParser> parser_;
  SoundResampler resampler_;
  ff::FramePtr frame_ = ff::make_frame();
  ff::PacketPtr parsed_ = ff::make_packet();
  int failed_ = 0;
  bool decoded_ = false;
  int64_t next_ns_ = kUnknown;  ///< timestamp at which the next frame should start
};

class LiveLoop {
 public:
  LiveLoop(SoundShared& shared, LiveAudio& audio, std::string where, const std::atomic<bool>& paused)
      : s_(shared), audio_(audio), where_(std::move(where)), paused_(paused) {}

  void run() {
    s_.obstacle = SoundState::unknown;  // until the first connection
    while (!s_.stopping) step();
    audio_.publish(0, 0);
  }

 private:
  void step() {
    const uint32_t number = audio_.number();
    if (number != number_) connect();
    follow_pause();
    if (audio_.take(*packet_, number_, kWaitNs) && decoder_) decode();
    if (now_ns() - packet_ns_ > kQuietNs)
      wait_for_audio();
    else
      control();
  }

  void connect() {
    const LiveAudio::Connection connection = audio_.connection();
    number_ = connection.number;
    decoder_.reset();
    silence();
    s_.obstacle = connection.codec ? SoundState::playing : SoundState::no_track;
    packet_ns_ = frame_ns_ = now_ns();
    if (!connection.codec) return;
    try {
      decoder_.emplace(connection, where_);
    } catch (const Error& e) {
      give_up(e.problem());
    } catch (const std::exception& e) {
      give_up(e.what());
    }
  }

  /// Reports, once, why this connection has no sound. The next connection may have sound.
  void give_up(const std::string& why) {
    decoder_.reset();
    silence();
    s_.obstacle = SoundState::broken;
    if (std::exchange(reported_, why) != why) s_.fail(why);
    s_.output_wake.set();
  }

  /// Call while no audio arrives. Stops the sound, so that pictures do not wait for it. control() starts it
  /// again.
  void wait_for_audio() {
    if (cue_.playing) silence();
    if (decoder_ && now_ns() - packet_ns_ > kNoAudioNs) s_.obstacle = SoundState::no_track;
  }

  void decode() {
    packet_ns_ = now_ns();
    s_.obstacle = SoundState::playing;
    if (paused_) return av_packet_unref(packet_.get());
    const auto push = [this](SoundBlock block) {
      if (s_.queue.frames() > kMaxQueued) s_.queue.restart(cue_.seek, 1);
      s_.queue.push(std::move(block));
    };
    try {
      decoder_->decode(*packet_, stretch_, push);
    } catch (const Error& e) {
      give_up(e.problem());
    } catch (const std::exception& e) {
      give_up(e.what());
    }
    if (decoder_ && decoder_->failed() == 0) frame_ns_ = packet_ns_;
    if (decoder_ && undecodable()) {
      if (decoder_->has_decoded()) audio_.set_unreadable();
      give_up("the audio cannot be decoded");
    }
    s_.output_wake.set();
  }

  /// Returns true if packets arrive, but the decoder no longer produces sound.
  bool undecodable() const {
    const int failed = decoder_->failed();
    return failed > kMaxFailed || (failed > 1 && packet_ns_ - frame_ns_ > kUndecodableNs);
  }

  void follow_pause() {
    if (paused_ && cue_.playing) silence();
  }

  /// Ends the sound. control() starts it again.
  void silence() {
    ++cue_.seek, ++cue_.run;
    cue_.playing = false;
    s_.queue.restart(cue_.seek, 1);
    publish_cue();
    audio_.publish(0, 0);
  }

  /// Starts the sound, and keeps its delay at the target.
  void control() {
    const std::optional<int64_t> target = audio_.target_ns(kOutputNs);
    if (!decoder_ || paused_ || !target) return;
    if (!cue_.playing) {
      if (now_ns() - audio_.first_ns() >= kMeasureNs) start(*target);
      return;
    }
    const SoundClock heard = s_.clock.load();
    const bool plays = heard.valid && heard.run == cue_.run;
    if (plays) delay_ns_ = heard.wall_ns - heard.pts_ns;
    const int64_t early = *target - delay_ns_;  // how much too early the sound is heard
    const bool ran_dry = !plays && s_.queue.frames() == 0;
    if (std::abs(early) > kCoarseNs || (ran_dry && early > kFineNs)) return start(*target);
    stretch_ = std::abs(early) < kFineNs
                   ? 0
                   : std::clamp(static_cast<double>(early) / kStretchNs, -kMaxStretch, kMaxStretch);
    const SoundState state = s_.state;
    audio_.publish(state == SoundState::playing ? number_ : 0, delay_ns_);
  }

  void start(int64_t delay_ns) {
    ++cue_.run;
    cue_.playing = true;
    cue_.pts_ns = now_ns() - delay_ns, cue_.wall_ns = cue_.pts_ns + delay_ns;
    delay_ns_ = delay_ns, stretch_ = 0;
    publish_cue();
  }

  void publish_cue() {
    s_.cue.store(cue_);
    s_.output_wake.set();
  }

  SoundShared& s_;
  LiveAudio& audio_;
  const std::string where_;
  const std::atomic<bool>& paused_;
  std::optional<LiveDecoder> decoder_;
  ff::PacketPtr packet_ = ff::make_packet();
  SoundCue cue_;
  uint32_t number_ = 0;
  int64_t packet_ns_ = 0;  ///< arrival of the newest packet, or of the connection
  int64_t frame_ns_ = 0;   ///< arrival of the newest packet with sound, or of the connection
  int64_t delay_ns_ = 0;   ///< time from a timestamp until its sound is heard
  double stretch_ = 0;     ///< share by which sound is made longer
  std::string reported_;
};

class LiveSound final : public PlayingSound {
 public:
  LiveSound(std::shared_ptr<SoundShared> shared, std::shared_ptr<LiveAudio> audio, const std::string& where)
      : PlayingSound(std::move(shared)), audio_(std::move(audio)) {
    decode_thread_ = OwnedThread([s = shared_, audio = audio_, paused = paused_, where] {
      try {
        LiveLoop(*s, *audio, where, *paused).run();
      } catch (const std::exception& e) {
        audio->publish(0, 0);
        s->fail(e.what());
      }
    });
    output_thread_ = OwnedThread([s = shared_] { run_sound_output(*s); });
  }
  ~LiveSound() override {
    shared_->stopping = true;
    audio_->wake();
    shared_->output_wake.set();
    output_thread_.join_within(kSoundJoinTimeout);
    decode_thread_.join_within(kSoundJoinTimeout);
  }

  /// Uses only whether playback is paused: a live stream has no position, and plays at its own speed.
  void cue(const SoundCue& cue) noexcept override { *paused_ = !cue.playing && !cue.seeking; }
  int64_t lead_ns() const noexcept override { return 0; }

 private:
  const std::shared_ptr<LiveAudio> audio_;
  const std::shared_ptr<std::atomic<bool>> paused_ = std::make_shared<std::atomic<bool>>(false);
  OwnedThread decode_thread_, output_thread_;
};

}  // namespace

std::unique_ptr<PlaybackSound> make_live_sound(std::shared_ptr<LiveAudio> audio, const std::string& where,
                                               SoundOptions options) {
  return std::make_unique<LiveSound>(std::make_shared<SoundShared>(std::move(options)), std::move(audio),
                                     where);
}

}  // namespace lensd
