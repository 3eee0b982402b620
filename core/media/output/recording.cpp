#include "core/media/recording.hpp"

#include <fmt/format.h>

#include <cmath>
#include <exception>
#include <filesystem>

#include "core/media/ffmpeg/picture_info.hpp"
#include "core/media/live/live_audio.hpp"
#include "core/media/output/encoders/container_support.hpp"
#include "core/media/output/encoders/encoder_choice.hpp"
#include "core/media/output/encoders/video_encoder.hpp"
#include "core/media/output/files/file_names.hpp"
#include "core/media/output/files/segment_writer.hpp"
#include "core/media/output/packet_ring.hpp"

namespace lensd {
namespace {

constexpr double kKeySeconds = 2, kPrerollKeySeconds = 1;
/// Audio of a live source is kept for this long while the disk is busy, as pictures are.
constexpr int64_t kSlowDiskNs = 60'000'000'000;

/// Throws Error if the container or its encoder is missing, or if they do not fit.
void check_encoder(const RecordSettings& settings) {
  const std::string muxer = recording_muxer(settings.name);
  encoders_for(output_format_of(muxer, muxer), settings.encoder, settings.name);
}

}  // namespace

std::string FileRules::full_path(const std::string& path) const {
  return beneath.empty() ? path : (std::filesystem::path(beneath) / path).string();
}

std::string recording_muxer(const std::string& path) {
  const std::string muxer = muxer_of(path);
  if (muxer.empty())
    throw Error(ExitCode::usage, path, "unknown video file type", "use .mkv, .mp4, .mov, .webm or .avi");
  return muxer;
}

std::string recording_folder(const std::string& path) {
  return fixed_folder(path);
}

void check_record_name(const std::string& path) {
  check_name_template(path);
  recording_muxer(path);
}

void check_record_settings(const RecordSettings& settings) {
  check_name_template(settings.name);
  check_encoder(settings);
}

void check_record_codec(const std::string& codec) {
  check_encoder_name(codec, "record.codec");
}

void check_record_request(const RecordSettings& settings) {
  check_name(settings.name);
  check_encoder(settings);
}

/// The encoder, its audio and the pre-roll. They are created with the first encoded frame, and again after
/// close().
struct Recording::Encoding {
  RecordSettings settings;
  double fps;
  AudioSource audio_from;
  const std::atomic<bool>* stop;
  AudioChange audio_change;
  std::unique_ptr<VideoEncoder> encoder;
  std::shared_ptr<const EncodedStream> stream;  ///< describes the packets of the encoder
  std::unique_ptr<PacketRing> preroll;
  Notice notice;
  std::string reported;  ///< the last notice, so that the next file does not repeat it
  AudioEnd audio_end = AudioEnd::video;
  bool failed = false;  ///< the encoder did not start: no pre-roll until the next start()

  Encoding(const RecordSettings& s, double rate, const AudioSource& from, const std::atomic<bool>* stop_flag)
      : settings(s), fps(rate), audio_from(from), stop(stop_flag), audio_change(from.live) {
    settings.encoder.max_delay_s = kRecordingDelay;
    settings.encoder.key_interval_s = has_preroll() ? kPrerollKeySeconds : kKeySeconds;
    if (!from.live) return;
    audio_from.history_ns += std::llround(settings.preroll_seconds * 1e9);
    if (has_preroll()) from.live->keep(std::llround(settings.preroll_seconds * 1e9));
    if (settings.own_writer) from.live->keep(kSlowDiskNs);
  }

  bool has_preroll() const { return settings.preroll_seconds > 0; }
  double age_s(const AVPacket& p) const {
    return static_cast<double>(encoder->next_ticks() - p.pts) * av_q2d(encoder->context().time_base);
  }

  /// Returns true if the container `muxer` supports the encoder's stream.
  bool fits(const std::string& muxer) const {
    const AVOutputFormat& format = output_format_of(muxer, muxer);
    const bool global = (encoder->context().flags & AV_CODEC_FLAG_GLOBAL_HEADER) != 0;
    return global == ((format.flags & AVFMT_GLOBALHEADER) != 0) &&
           supports_video(format, encoder->context().codec_id);
  }

  void open(const std::string& muxer, const PixelsFormat& format, FieldOrder fields, uint32_t connection) {
    failed = true;
    encoder = std::make_unique<VideoEncoder>(output_format_of(muxer, muxer), format, fps, settings.encoder,
                                             "recorder", fields);
    report(format.orientation != Orientation{} && muxer != "mp4" && muxer != "mov");
    failed = false;
    audio_change.opened(connection);
    audio_from.connection = connection;
    stream = std::make_shared<const EncodedStream>(
        EncodedStream{EncodedFormat(*encoder), AudioCopy::open(audio_from, stop)});
    if (!has_preroll()) return;
    const double per_tick = av_q2d(encoder->context().time_base);
    preroll = std::make_unique<PacketRing>(std::llround(settings.preroll_seconds / per_tick),
                                           static_cast<int64_t>(settings.preroll_megabytes * 1e6));
  }

  /// Sets the notice about the new encoder and the file.
  void report(bool rotation_lost) {
    Notice now = encoder->notice();
    if (rotation_lost)
      now.text +=
          fmt::format("{}the source is recorded as stored, without its rotation; .mp4 and .mov keep it",
                      now.text.empty() ? "" : "; ");
    if (std::exchange(reported, now.text) != now.text) notice = std::move(now);
  }

  void add_jump(const SourceJump& jump, SegmentWriter* writer) const {
    if (writer)
      writer->add_jump(jump, stream);
    else if (stream->audio)
      stream->audio->add_jump(jump);
  }

  void close() noexcept {
    preroll.reset();
    encoder.reset();
    stream.reset();
  }
};

Recording::Recording(const RecordSettings& settings, double fps, const AudioSource& audio_from,
                     const std::atomic<bool>* stop)
    : encoding_(std::make_unique<Encoding>(settings, fps, audio_from, stop)) {
  ff::initialize();
}

void Recording::set_rate(double fps) noexcept {
  encoding_->fps = fps;
}

Recording::~Recording() {
  try {
    stop();
  } catch (const std::exception&) {
    // Callers that need the error call stop().
  }
}

template <class Step>
void Recording::guarded(Step&& step) {
  try {
    step();
  } catch (...) {
    finish_files();
    encoding_->close();
    throw;
  }
}

/// Ends the writing of files after an error; ignores further errors.
void Recording::finish_files() noexcept {
  try {
    if (writer_) writer_->finish();
  } catch (const std::exception&) {
    // the first error is thrown
  }
  last_ = report();
  writer_.reset();
}

bool Recording::encodes() const noexcept {
  return writer_ || (encoding_->has_preroll() && !encoding_->failed);
}

void Recording::start(const RecordTarget& target) {
  stop();
  last_ = {};
  Encoding& e = *encoding_;
  if (!target.resumed) e.reported.clear();
  if (e.encoder && !e.fits(recording_muxer(target.path))) end_encoder();
  const bool own_thread = e.settings.own_writer && e.audio_from.address.empty();
  writer_ = std::make_unique<SegmentWriter>(e.settings, target, own_thread, e.stop);
  if (!e.encoder || !e.preroll) return;
  // The pre-roll has only video packets. AudioCopy reads the audio of the same time from the source.
  guarded([&] {
    for (const ff::PacketPtr& packet : e.preroll->packets())
      writer_->write(*packet, e.stream, e.age_s(*packet));
  });
  e.preroll->clear();
}

void Recording::stop() {
  if (!writer_) return;
  guarded([&] {
    end_encoder();
    writer_->finish();
  });
  last_ = report();
  writer_.reset();
}

void Recording::source_ended() {
  encoding_->audio_end = AudioEnd::source;
}

/// Closes the encoder. If a recording is active, writes the encoder's last packets and ends the file first.
void Recording::end_encoder() {
  Encoding& e = *encoding_;
  if (!e.encoder) return;
  if (writer_) {
    e.encoder->send_end();
    write_packets();
    writer_->end_stream(e.encoder->end_ticks(), e.audio_end);
  }
  e.close();
}

void Recording::write(ConstImageRef image, const FrameInfo& info, PixelAspect aspect) {
  encode(pixels_format(image.format, aspect, info.tags), pixels(image), info, FieldOrder::progressive);
}

void Recording::write(const PictureRef& picture, const FrameInfo& info, PixelAspect aspect) {
  const auto format = pixels_format(picture.info, aspect);
  if (!format) throw Error(ExitCode::runtime_failure, "recorder", "cannot encode the source's pixel format");
  const PictureInfo& stored = picture.info;
  encode(*format, pixels(picture), info,
         flipped_fields(info.fields, stored.orientation, stored.extent.height));
}

void Recording::encode(const PixelsFormat& format, const Pixels& picture, const FrameInfo& info,
                       FieldOrder fields) {
  if (!encodes()) return;
  Encoding& e = *encoding_;
  guarded([&] {
    if (e.encoder && (!e.encoder->adapt(format) || e.audio_change.detect(info))) end_encoder();
    if (!e.encoder) {
      e.open(writer_ ? writer_->muxer() : recording_muxer(e.settings.name), format, fields, info.connection);
    }
    const AVRational time_base = e.encoder->context().time_base;
    const auto [ticks, jump] = e.encoder->next_time(info);
    if (jump) e.add_jump(*jump, writer_.get());
    e.encoder->send(picture, ticks, writer_ && writer_->take_key_request(ticks, time_base), fields);
    write_packets();
  });
}

void Recording::write_packets() {
  Encoding& e = *encoding_;
  while (const AVPacket* packet = e.encoder->receive()) {
    if (writer_)
      writer_->write(*packet, e.stream, e.age_s(*packet));
    else if (e.preroll)
      e.preroll->push(*packet);
  }
}

Recording::Report Recording::report() const {
  if (!writer_) return last_;
  return writer_->report();
}

Notice Recording::take_notice() {
  return std::exchange(encoding_->notice, {});
}

}  // namespace lensd
