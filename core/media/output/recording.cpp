#include "core/media/recording.hpp"

#include <algorithm>
#include <cmath>

#include "core/media/output/encoders/encoder_choice.hpp"
#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/files/file_names.hpp"
#include "core/media/output/files/segments.hpp"
#include "core/media/output/packet_ring.hpp"
#include "core/media/output/recording_clock.hpp"

namespace lensd {
namespace {

constexpr AVRational kNanoseconds = {1, 1'000'000'000};
constexpr double kKeySeconds = 2, kPrerollKeySeconds = 1;

}  // namespace

std::string recording_muxer(const std::string& path) {
  const std::string muxer = muxer_of(path);
  if (muxer.empty())
    throw Error(ExitCode::usage, path, "no video file type is known by this ending",
                "use .mkv, .mp4, .mov, .webm or .avi");
  return muxer;
}

void check_record_settings(const RecordSettings& settings) {
  check_name_template(settings.name);
  const std::string muxer = recording_muxer(settings.name);
  encoders_for(output_format_of(muxer, muxer), settings.encoder, settings.name);
}

/// All that lives with the encoder; it is made with the first frame.
struct Recording::Machine {
  RecordSettings settings;
  double fps;
  std::string audio_from;
  std::unique_ptr<AudioCopy> audio;
  std::unique_ptr<VideoEncoder> encoder;
  std::unique_ptr<PacketRing> ring;
  RecordingClock clock;
  ff::PacketPtr packet = ff::make_packet();
  int64_t end = 0;  ///< of the last frame, in the encoder's time base
  std::string notice;
  bool broken = false;  ///< no encoder starts: the pre-roll is off until somebody asks again

  Machine(const RecordSettings& s, double rate, const std::string& from)
      : settings(s), fps(rate), audio_from(from) {
    settings.encoder.max_delay_s = kRecordingDelay;
    settings.encoder.key_interval_s = settings.preroll_seconds > 0 ? kPrerollKeySeconds : kKeySeconds;
  }

  bool armed() const { return settings.preroll_seconds > 0; }
  double age_s(const AVPacket& p) const {
    return static_cast<double>(end - p.pts) * av_q2d(encoder->context().time_base);
  }

  /// The encoder at hand gives what a file of `wanted` needs.
  bool suits(const std::string& wanted) const {
    const AVOutputFormat& format = output_format_of(wanted, wanted);
    const bool global = (encoder->context().flags & AV_CODEC_FLAG_GLOBAL_HEADER) != 0;
    return global == ((format.flags & AVFMT_GLOBALHEADER) != 0) &&
           avformat_query_codec(&format, encoder->context().codec_id, FF_COMPLIANCE_NORMAL) != 0;
  }

  void open_encoder(const std::string& muxer, const PixelsFormat& format) {
    broken = true;
    encoder = std::make_unique<VideoEncoder>(output_format_of(muxer, muxer), format, fps, settings.encoder,
                                             "recorder");
    if (!encoder->notice().empty()) notice = encoder->notice();
    broken = false;
    clock = {};
    if (!audio_from.empty()) audio = AudioCopy::open(audio_from);
    if (!armed()) return;
    const double per_tick = av_q2d(encoder->context().time_base);
    ring = std::make_unique<PacketRing>(std::llround(settings.preroll_seconds / per_tick),
                                        static_cast<int64_t>(settings.preroll_megabytes * 1e6));
  }
};

Recording::Recording(const RecordSettings& settings, double fps, const std::string& audio_from)
    : machine_(std::make_unique<Machine>(settings, fps, audio_from)) {
  ff::capture_log();
}

Recording::~Recording() {
  try {
    stop();
  } catch (const Error&) {
    // Told to nobody: whoever dropped the recording has no use for it.
  }
}

bool Recording::wanted() const noexcept {
  return segments_ || (machine_->armed() && !machine_->broken);
}

void Recording::start(const RecordTarget& target) {
  stop();
  last_ = {};
  Machine& m = *machine_;
  if (m.encoder && !m.suits(recording_muxer(target.path))) end_encoder();
  segments_ = std::make_unique<Segments>(m.settings, target);
  if (!m.encoder || !m.ring) return;
  // The audio of the pre-roll is read from the source again, from where the pre-roll begins.
  segments_->set_audio(m.audio.get());
  try {
    for (const ff::PacketPtr& packet : m.ring->packets())
      segments_->write(*packet, m.encoder->context(), m.age_s(*packet));
  } catch (...) {
    abandon();
    throw;
  }
  m.ring->clear();
}

void Recording::stop() {
  if (!segments_) return;
  try {
    end_encoder();
  } catch (...) {
    abandon();
    throw;
  }
  last_ = report();
  segments_.reset();
}

/// Takes the last packets out of the encoder, ends the file and gives the encoder up.
void Recording::end_encoder() {
  Machine& m = *machine_;
  if (!m.encoder) return;
  if (segments_) {
    m.encoder->send_end();
    drain();
    segments_->end_stream(m.end);
  }
  m.ring.reset();
  m.encoder.reset();
  m.audio.reset();
}

/// After a failure: the files are as complete as they can be.
void Recording::abandon() noexcept {
  last_ = report();
  segments_.reset();
  machine_->ring.reset();
  machine_->encoder.reset();
  machine_->audio.reset();
}

void Recording::write(ConstImageRef image, const FrameInfo& info) {
  feed(pixels_format(image.format), pixels(image), info);
}

void Recording::write(const PictureRef& picture, const FrameInfo& info) {
  const auto format = pixels_format(picture.info);
  if (!format) throw Error(ExitCode::runtime_failure, "recorder", "the source's pixel format is not encoded");
  feed(*format, pixels(picture), info);
}

void Recording::feed(const PixelsFormat& format, const Pixels& picture, const FrameInfo& info) {
  if (!wanted()) return;
  Machine& m = *machine_;
  try {
    if (m.encoder && !m.encoder->adapt(format)) end_encoder();
    if (!m.encoder) {
      m.open_encoder(segments_ ? segments_->muxer() : recording_muxer(m.settings.name), format);
      if (segments_) segments_->set_audio(m.audio.get());
    }
    const AVRational time_base = m.encoder->context().time_base;
    const auto [ticks, jump] = m.clock.place(info, time_base, m.encoder->frame_ticks());
    if (jump && m.audio) m.audio->follow(av_rescale_q(ticks, time_base, kNanoseconds), info.pts_ns);
    const bool key = segments_ && segments_->wants_key(ticks, time_base);
    m.encoder->send(picture, ticks, key);
    m.end = ticks + m.encoder->frame_ticks();
    drain();
  } catch (...) {
    abandon();
    throw;
  }
}

void Recording::drain() {
  Machine& m = *machine_;
  while (m.encoder->receive(*m.packet)) {
    if (segments_)
      segments_->write(*m.packet, m.encoder->context(), m.age_s(*m.packet));
    else if (m.ring)
      m.ring->push(*m.packet);
  }
}

Recording::Report Recording::report() const {
  if (!segments_) return last_;
  return {segments_->path(), segments_->frames(), segments_->bytes(), segments_->files()};
}

std::string Recording::take_notice() {
  return std::exchange(machine_->notice, {});
}

}  // namespace lensd
